/* SPDX-License-Identifier: Apache-2.0 */
/* How long a call may take: a std::chrono::duration, or forever. */
#ifndef PADDOCK_CXX_TIME_HPP
#define PADDOCK_CXX_TIME_HPP

#include <chrono>
#include <limits>
#include <paddock/cxx/result.hpp>
#include <paddock/session.h>

PADDOCK_BEGIN

/* Milliseconds as the C interface takes them. */
class timeout {
  public:
    template <class Rep, class Period>
    constexpr timeout(std::chrono::duration<Rep, Period> time) : ms_(rounded_up(time)) {}
    constexpr int64_t ms() const noexcept { return ms_; }
    static constexpr timeout never() noexcept { return timeout(); }

  private:
    constexpr timeout() noexcept : ms_(PDK_FOREVER) {}
    /* A negative duration must not become PDK_FOREVER, and a huge one must not wrap. */
    template <class Rep, class Period>
    static constexpr int64_t rounded_up(std::chrono::duration<Rep, Period> time) {
        constexpr std::chrono::duration<double, std::milli> most(9.0e18);
        if (!(time > std::chrono::duration<Rep, Period>::zero()))
            return 0;
        if (std::chrono::duration<double, std::milli>(time) >= most)
            return std::numeric_limits<int64_t>::max();
        return std::chrono::ceil<std::chrono::duration<int64_t, std::milli>>(time).count();
    }
    int64_t ms_;
};

/* A time that never passes. */
inline constexpr timeout forever = timeout::never();

PADDOCK_END

#endif
