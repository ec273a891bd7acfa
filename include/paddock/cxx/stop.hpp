/* SPDX-License-Identifier: Apache-2.0 */
/* Stop tokens: they end a call that blocks for a hold, by the interrupt of its thread. */
#ifndef PADDOCK_CXX_STOP_HPP
#define PADDOCK_CXX_STOP_HPP

#include <algorithm>
#include <memory>
#include <mutex>
#include <paddock/cxx/result.hpp>
#include <paddock/interrupt.h>
#include <vector>
#if defined(__has_include) && __cplusplus >= 202002L
#if __has_include(<stop_token>)
#include <stop_token>
#endif
#endif

PADDOCK_BEGIN

namespace detail {
struct stop_state {
    std::mutex lock;
    bool requested = false;
    std::vector<pdk_interrupt *> waiting; /* of calls that block now */
};
} // namespace detail

/* As std::stop_token. A default one is never stopped. Any thread may make every call. */
class stop_token {
  public:
    stop_token() = default;
    bool stop_requested() const {
        if (!state_)
            return false;
        std::lock_guard<std::mutex> guard(state_->lock);
        return state_->requested;
    }

  private:
    friend class stop_source;
    friend class stop_watch;
    explicit stop_token(std::shared_ptr<detail::stop_state> state) : state_(std::move(state)) {}
    std::shared_ptr<detail::stop_state> state_;
};

/* As std::stop_source. */
class stop_source {
  public:
    stop_token get_token() const { return stop_token(state_); }
    bool stop_requested() const { return get_token().stop_requested(); }
    /* Ends all calls that have a token of this source, and all later ones. */
    void request_stop() {
        std::lock_guard<std::mutex> guard(state_->lock);
        state_->requested = true;
        for (pdk_interrupt *interrupt : state_->waiting)
            pdk_interrupt_raise(interrupt);
    }

  private:
    std::shared_ptr<detail::stop_state> state_ = std::make_shared<detail::stop_state>();
};

/* Raises an interrupt when the token is stopped, as long as it lives. */
class stop_watch {
  public:
    stop_watch(const stop_token &token, pdk_interrupt *interrupt)
        : state_(token.state_), interrupt_(interrupt) {
        if (!state_)
            return;
        std::lock_guard<std::mutex> guard(state_->lock);
        state_->waiting.push_back(interrupt_);
        if (state_->requested)
            pdk_interrupt_raise(interrupt_);
    }
    ~stop_watch() {
        if (!state_)
            return;
        std::lock_guard<std::mutex> guard(state_->lock);
        auto &waiting = state_->waiting;
        waiting.erase(std::find(waiting.begin(), waiting.end(), interrupt_));
    }
    stop_watch(const stop_watch &) = delete;
    stop_watch &operator=(const stop_watch &) = delete;

  private:
    std::shared_ptr<detail::stop_state> state_;
    pdk_interrupt *interrupt_;
};

namespace detail {
struct raise {
    pdk_interrupt *interrupt;
    void operator()() const noexcept { pdk_interrupt_raise(interrupt); }
};
template <class Token> struct watch_of {
    using type = stop_watch;
};
#ifdef __cpp_lib_jthread
struct std_watch {
    std_watch(const std::stop_token &token, pdk_interrupt *interrupt)
        : callback(token, raise{interrupt}) {}
    std::stop_callback<raise> callback;
};
template <> struct watch_of<std::stop_token> {
    using type = std_watch;
};
#endif

/* The interrupt of this thread, as long as it lives. */
class attached {
  public:
    attached() {
        status_ = pdk_interrupt_new(&interrupt_);
        if (status_ == PDK_OK)
            status_ = pdk_interrupt_attach(interrupt_);
    }
    ~attached() {
        if (status_ == PDK_OK)
            pdk_interrupt_detach();
        pdk_interrupt_unref(interrupt_);
    }
    attached(const attached &) = delete;
    attached &operator=(const attached &) = delete;
    pdk_status status() const noexcept { return status_; }
    pdk_interrupt *get() const noexcept { return interrupt_; }

  private:
    pdk_interrupt *interrupt_ = nullptr;
    pdk_status status_;
};

/* Makes the call, which a stop of the token ends with PDK_CANCELED. PDK_INVALID when the thread has
 * an interrupt of its own. */
template <class Token, class Call> pdk_status stoppable(const Token &token, Call call) {
    attached interrupt;
    if (interrupt.status() != PDK_OK)
        return interrupt.status();
    typename watch_of<Token>::type watch(token, interrupt.get());
    return call();
}
} // namespace detail

PADDOCK_END

#endif
