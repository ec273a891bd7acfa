/* SPDX-License-Identifier: Apache-2.0 */
/* The recipes. `open` makes an object on a path of a session: it waits for nothing. `options` are
 * as in the C interface, or nullptr for the defaults.
 *
 * An acquisition blocks until it has a hold, or its time is over; with a stop token also until that
 * is stopped (PDK_CANCELED). …_async does not block: function(pdk_status, paddock::hold) is called
 * once, on the thread of the session's callbacks. Its captures should not own objects of the
 * session: when a close drops the callback, the captures go with the session, and such objects
 * would keep the session alive. */
#ifndef PADDOCK_CXX_RECIPES_HPP
#define PADDOCK_CXX_RECIPES_HPP

#include <paddock/cxx/session.hpp>
#include <paddock/cxx/stop.hpp>
#include <paddock/leader.h>
#include <paddock/lock.h>
#include <paddock/rwlock.h>
#include <paddock/semaphore.h>

PADDOCK_BEGIN

/* The part that the recipes share. */
template <class C, void (*Unref)(C *)> class recipe : public detail::handle<C, Unref> {
  protected:
    template <class Made, class New> static result<Made> make(const session &from, New call) {
        Made made;
        pdk_status status = call(from.get(), &made.raw_);
        made.state_ = from.state_;
        return detail::outcome(status, std::move(made));
    }
    template <class Acquire> static result<hold> acquire_by(Acquire call) {
        pdk_hold *raw = nullptr;
        pdk_status status = call(&raw);
        return detail::outcome(status, hold(raw));
    }
    template <class Token, class Acquire>
    static result<hold> acquire_by(const Token &token, Acquire call) {
        return acquire_by(
            [&](pdk_hold **raw) { return detail::stoppable(token, [&] { return call(raw); }); });
    }
    template <class Function, class Acquire>
    result<claim> acquire_async_by(Function function, Acquire call) {
        pdk_claim *raw = nullptr;
        detail::pending_call *pending =
            this->raw_ ? state_->pending.add(std::move(function)) : nullptr;
        pdk_status status = call(detail::acquired, pending, &raw);
        if (status != PDK_OK && pending)
            state_->pending.take(pending);
        return detail::outcome(status, claim(raw));
    }

  private:
    detail::session_state *state_ = nullptr; /* lives as long as raw_ */
};

class lock : public recipe<pdk_lock, pdk_lock_unref> {
  public:
    static result<lock> open(const session &session, const std::string &path,
                             const pdk_lock_options *options = nullptr) {
        return make<lock>(session, [&](pdk_session *from, pdk_lock **out) {
            return pdk_lock_new(from, path.c_str(), options, out);
        });
    }
    result<hold> acquire(timeout time = forever) {
        return acquire_by([&](pdk_hold **out) { return pdk_lock_acquire(raw_, time.ms(), out); });
    }
    template <class Token> result<hold> acquire(timeout time, const Token &token) {
        return acquire_by(token,
                          [&](pdk_hold **out) { return pdk_lock_acquire(raw_, time.ms(), out); });
    }
    result<hold> try_acquire() { return acquire(std::chrono::milliseconds(0)); }
    template <class Function> result<claim> acquire_async(timeout time, Function function) {
        return acquire_async_by(std::move(function),
                                [&](pdk_acquired_fn fn, void *user, pdk_claim **out) {
                                    return pdk_lock_acquire_async(raw_, time.ms(), fn, user, out);
                                });
    }
};

class rwlock : public recipe<pdk_rwlock, pdk_rwlock_unref> {
  public:
    static result<rwlock> open(const session &session, const std::string &path,
                               const pdk_rwlock_options *options = nullptr) {
        return make<rwlock>(session, [&](pdk_session *from, pdk_rwlock **out) {
            return pdk_rwlock_new(from, path.c_str(), options, out);
        });
    }
    result<hold> acquire_read(timeout time = forever) {
        return acquire_by(
            [&](pdk_hold **out) { return pdk_rwlock_acquire_read(raw_, time.ms(), out); });
    }
    result<hold> acquire_write(timeout time = forever) {
        return acquire_by(
            [&](pdk_hold **out) { return pdk_rwlock_acquire_write(raw_, time.ms(), out); });
    }
    template <class Token> result<hold> acquire_read(timeout time, const Token &token) {
        return acquire_by(
            token, [&](pdk_hold **out) { return pdk_rwlock_acquire_read(raw_, time.ms(), out); });
    }
    template <class Token> result<hold> acquire_write(timeout time, const Token &token) {
        return acquire_by(
            token, [&](pdk_hold **out) { return pdk_rwlock_acquire_write(raw_, time.ms(), out); });
    }
    template <class Function> result<claim> acquire_read_async(timeout time, Function function) {
        return acquire_async_by(
            std::move(function), [&](pdk_acquired_fn fn, void *user, pdk_claim **out) {
                return pdk_rwlock_acquire_read_async(raw_, time.ms(), fn, user, out);
            });
    }
    template <class Function> result<claim> acquire_write_async(timeout time, Function function) {
        return acquire_async_by(
            std::move(function), [&](pdk_acquired_fn fn, void *user, pdk_claim **out) {
                return pdk_rwlock_acquire_write_async(raw_, time.ms(), fn, user, out);
            });
    }
};

class semaphore : public recipe<pdk_semaphore, pdk_semaphore_unref> {
  public:
    static result<semaphore> open(const session &session, const std::string &path, int32_t permits,
                                  const pdk_semaphore_options *options = nullptr) {
        return make<semaphore>(session, [&](pdk_session *from, pdk_semaphore **out) {
            return pdk_semaphore_new(from, path.c_str(), permits, options, out);
        });
    }
    result<hold> acquire(int32_t count = 1, timeout time = forever) {
        return acquire_by(
            [&](pdk_hold **out) { return pdk_semaphore_acquire(raw_, count, time.ms(), out); });
    }
    template <class Token> result<hold> acquire(int32_t count, timeout time, const Token &token) {
        return acquire_by(token, [&](pdk_hold **out) {
            return pdk_semaphore_acquire(raw_, count, time.ms(), out);
        });
    }
    template <class Function>
    result<claim> acquire_async(int32_t count, timeout time, Function function) {
        return acquire_async_by(
            std::move(function), [&](pdk_acquired_fn fn, void *user, pdk_claim **out) {
                return pdk_semaphore_acquire_async(raw_, count, time.ms(), fn, user, out);
            });
    }
};

/* The callbacks of a candidate, as in pdk_election_callbacks. Each may be empty. The hold that
 * `elected` gets belongs to the election; a copy of the view keeps it readable. */
struct election_callbacks {
    std::function<void(const hold_view &)> elected;
    std::function<void(pdk_reason)> deposed;
    std::function<void(const char *, int64_t)> leader;
    std::function<void(pdk_status)> failed;
};

namespace detail {
inline void elected(pdk_hold *raw, void *user) noexcept {
    if (auto &function = static_cast<election_callbacks *>(user)->elected)
        function(hold_view(raw));
}
inline void deposed(pdk_reason reason, void *user) noexcept {
    if (auto &function = static_cast<election_callbacks *>(user)->deposed)
        function(reason);
}
inline void leads(const char *identity, int64_t token, void *user) noexcept {
    static_cast<election_callbacks *>(user)->leader(identity, token);
}
inline void failed(pdk_status status, void *user) noexcept {
    if (auto &function = static_cast<election_callbacks *>(user)->failed)
        function(status);
}
} // namespace detail

/* An election. An observer and a service use the C interface by get(). */
class election : public recipe<pdk_election, pdk_election_unref> {
  public:
    static result<election> open(const session &session, const std::string &path,
                                 const pdk_election_options *options = nullptr) {
        return make<election>(session, [&](pdk_session *from, pdk_election **out) {
            return pdk_election_new(from, path.c_str(), options, out);
        });
    }
    /* Is a candidate from now on: pdk_election_join. */
    result<void> join(election_callbacks given = {}) {
        auto owned = std::make_unique<election_callbacks>(std::move(given));
        pdk_election_callbacks callbacks = PDK_ELECTION_CALLBACKS_INIT;
        callbacks.elected = detail::elected;
        callbacks.deposed = detail::deposed;
        callbacks.leader = owned->leader ? detail::leads : nullptr;
        callbacks.failed = detail::failed;
        callbacks.user = owned.get();
        callbacks.user_free = detail::freed<election_callbacks>;
        pdk_status status = pdk_election_join(raw_, &callbacks);
        if (status == PDK_OK)
            static_cast<void>(owned.release());
        return detail::outcome(status);
    }
    /* Waits until we lead: pdk_election_wait. The hold is the election's: resign() and leave() end
     * it. */
    result<hold_view> wait(timeout time = forever) {
        return wait_by([&](pdk_hold **out) { return pdk_election_wait(raw_, time.ms(), out); });
    }
    template <class Token> result<hold_view> wait(timeout time, const Token &token) {
        return wait_by([&](pdk_hold **out) {
            return detail::stoppable(token,
                                     [&] { return pdk_election_wait(raw_, time.ms(), out); });
        });
    }
    /* Gives data to our term, whose hold that is: pdk_election_publish. Blocks. Any bytes. */
    result<void> publish(const hold_view &term, const std::string &data, timeout time = forever) {
        return detail::outcome(
            pdk_election_publish(raw_, term.get(), data.data(), data.size(), time.ms()));
    }
    /* Takes it away. */
    result<void> unpublish(const hold_view &term, timeout time = forever) {
        return detail::outcome(pdk_election_publish(raw_, term.get(), nullptr, 0, time.ms()));
    }
    result<void> leave() { return detail::outcome(pdk_election_leave(raw_)); }
    result<void> resign() { return detail::outcome(pdk_election_resign(raw_)); }

  private:
    template <class Wait> static result<hold_view> wait_by(Wait call) {
        pdk_hold *raw = nullptr;
        pdk_status status = call(&raw);
        hold_view leading(raw);
        pdk_hold_unref(raw);
        return detail::outcome(status, std::move(leading));
    }
};

PADDOCK_END

#endif
