/* SPDX-License-Identifier: Apache-2.0 */
/* A claim, and the callbacks of claims that are pending. */
#ifndef PADDOCK_CXX_CLAIM_HPP
#define PADDOCK_CXX_CLAIM_HPP

#include <memory>
#include <mutex>
#include <paddock/claim.h>
#include <paddock/cxx/hold.hpp>
#include <set>

PADDOCK_BEGIN

/* A pending acquisition. Its destruction gives nothing up: see cancel(). */
class claim : public detail::handle<pdk_claim, pdk_claim_unref> {
  public:
    using handle::handle;
    /* Gives it up: its callback gets PDK_CANCELED. PDK_NOT_HELD: too late. */
    result<void> cancel() { return detail::outcome(pdk_claim_cancel(raw_)); }
    /* The number of claims ahead. */
    result<int32_t> position() {
        int32_t ahead = 0;
        pdk_status status = pdk_claim_position(raw_, &ahead);
        return detail::outcome(status, ahead);
    }
};

namespace detail {
class pending_calls;

/* The callback of one claim. */
struct pending_call {
    explicit pending_call(pending_calls *calls) : home(calls) {}
    virtual ~pending_call() = default;
    virtual void run(pdk_status status, hold granted) = 0;
    pending_calls *home;
};

template <class Function> struct pending_call_of final : pending_call {
    pending_call_of(pending_calls *calls, Function given)
        : pending_call(calls), function(std::move(given)) {}
    void run(pdk_status status, hold granted) override { function(status, std::move(granted)); }
    Function function;
};

/* The calls of a session that are pending. A close may drop callbacks; their captures go with the
 * session then. */
class pending_calls {
  public:
    template <class Function> pending_call *add(Function function) {
        auto call = std::make_unique<pending_call_of<Function>>(this, std::move(function));
        std::lock_guard<std::mutex> guard(lock_);
        pending_call *raw = call.get();
        calls_.insert(raw);
        static_cast<void>(call.release());
        return raw;
    }
    std::unique_ptr<pending_call> take(pending_call *call) {
        std::lock_guard<std::mutex> guard(lock_);
        calls_.erase(call);
        return std::unique_ptr<pending_call>(call);
    }
    pending_calls() = default;
    pending_calls(const pending_calls &) = delete;
    pending_calls &operator=(const pending_calls &) = delete;
    ~pending_calls() {
        for (pending_call *call : calls_)
            delete call;
    }

  private:
    std::mutex lock_;
    std::set<pending_call *> calls_;
};

inline void acquired(pdk_status status, pdk_hold *raw, void *user) noexcept {
    auto *call = static_cast<pending_call *>(user);
    std::unique_ptr<pending_call> owned = call->home->take(call);
    owned->run(status, hold(raw));
}
} // namespace detail

PADDOCK_END

#endif
