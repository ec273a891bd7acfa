/* SPDX-License-Identifier: Apache-2.0 */
/* A session. It is closed in the background when the object is destroyed, unless recipes or holds
 * of it live on: close() ends it, and waits. */
#ifndef PADDOCK_CXX_SESSION_HPP
#define PADDOCK_CXX_SESSION_HPP

#include <functional>
#include <paddock/cxx/claim.hpp>
#include <string>

PADDOCK_BEGIN

/* The options of a session. `c` has the options of the C interface, with their defaults; the
 * members beside it take precedence. */
struct session_options {
    pdk_session_options c = PDK_SESSION_OPTIONS_INIT;
    std::chrono::milliseconds session_timeout{c.session_timeout_ms};
    std::chrono::milliseconds connect_timeout{c.connect_timeout_ms};
    std::chrono::milliseconds request_timeout{c.request_timeout_ms};
    bool open_in_background = false;
    bool manual_dispatch = false;
    /* The event, and how much of the lease remains. */
    std::function<void(pdk_session_event, std::chrono::milliseconds)> on_event;
    std::function<void(pdk_log_level, const char *)> on_log;
};

namespace detail {
/* The functions and the calls of a session. It goes when the library frees the session. */
struct session_state {
    decltype(session_options::on_event) on_event;
    decltype(session_options::on_log) on_log;
    pending_calls pending;
};

inline void told(pdk_session_event event, int64_t left, void *user) noexcept {
    auto &function = static_cast<session_state *>(user)->on_event;
    if (function)
        function(event, std::chrono::milliseconds(left));
}
inline void logged(pdk_log_level level, const char *text, void *user) noexcept {
    static_cast<session_state *>(user)->on_log(level, text);
}
/* An option of the C interface, which refuses the value of a time that does not fit. */
inline int32_t option_ms(std::chrono::milliseconds time) noexcept {
    return time.count() == static_cast<int32_t>(time.count()) ? static_cast<int32_t>(time.count())
                                                              : -1;
}
} // namespace detail

class session : public detail::handle<pdk_session, pdk_session_unref> {
  public:
    session() = default;
    /* pdk_session_open. Blocks, unless open_in_background. */
    static result<session> open(const std::string &hosts, session_options options = {}) {
        auto state = std::make_unique<detail::session_state>();
        state->on_event = std::move(options.on_event);
        state->on_log = std::move(options.on_log);
        pdk_session_options &c = options.c;
        c.session_timeout_ms = detail::option_ms(options.session_timeout);
        c.connect_timeout_ms = detail::option_ms(options.connect_timeout);
        c.request_timeout_ms = detail::option_ms(options.request_timeout);
        c.open_in_background = options.open_in_background;
        c.dispatch = options.manual_dispatch ? PDK_DISPATCH_MANUAL : PDK_DISPATCH_THREAD;
        c.on_event = detail::told;
        c.on_event_user = state.get();
        c.on_event_user_free = detail::freed<detail::session_state>;
        c.on_log = state->on_log ? detail::logged : nullptr;
        c.on_log_user = state.get();
        c.on_log_user_free = nullptr;
        session opened;
        opened.state_ = state.release(); /* the call may end with its thread, and frees it then */
        pdk_status status = pdk_session_open(hosts.c_str(), &c, &opened.raw_);
        if (status == PDK_INVALID || status == PDK_WRONG_THREAD) /* nothing else will free it */
            delete opened.state_;
        return detail::outcome(status, std::move(opened));
    }
    /* Ends it: pdk_session_close. Blocks, at most that long. PDK_TIMEOUT: the rest happens in the
     * background. */
    result<void> close(timeout time) { return detail::outcome(pdk_session_close(raw_, time.ms())); }
    /* Waits until every release is confirmed: pdk_session_flush. Blocks. */
    result<void> flush(timeout time) { return detail::outcome(pdk_session_flush(raw_, time.ms())); }
    /* Manual dispatch: the descriptor, and the number of callbacks that were run. */
    int fd() const noexcept { return pdk_session_fd(raw_); }
    result<int> dispatch() {
        int count = 0;
        pdk_status status = pdk_session_dispatch(raw_, &count);
        return detail::outcome(status, count);
    }
    int64_t id() const noexcept { return pdk_session_id(raw_); }
    const char *identity() const noexcept { return pdk_session_identity(raw_); }
    int64_t token_seen() const noexcept { return pdk_session_token_seen(raw_); }
    std::chrono::milliseconds negotiated_timeout() const noexcept {
        return std::chrono::milliseconds(pdk_session_timeout_ms(raw_));
    }

  private:
    template <class C, void (*Unref)(C *)> friend class recipe;
    detail::session_state *state_ = nullptr;
};

PADDOCK_END

#endif
