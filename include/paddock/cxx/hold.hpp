/* SPDX-License-Identifier: Apache-2.0 */
/* A hold, which is released when it is destroyed; and a view of one that belongs to somebody
 * else. */
#ifndef PADDOCK_CXX_HOLD_HPP
#define PADDOCK_CXX_HOLD_HPP

#include <memory>
#include <paddock/cxx/time.hpp>
#include <paddock/hold.h>

PADDOCK_BEGIN

namespace detail {
/* The questions to a hold. Each is the C function of the same name. */
class hold_reader {
  public:
    explicit operator bool() const noexcept { return raw_ != nullptr; }
    pdk_hold *get() const noexcept { return raw_; }
    int64_t token() const noexcept { return pdk_hold_token(raw_); }
    uint32_t handover() const noexcept { return pdk_hold_handover(raw_); }
    const char *token_text() const noexcept { return pdk_hold_token_text(raw_); }
    bool valid() const noexcept { return pdk_hold_is_valid(raw_); }
    std::chrono::milliseconds remaining() const noexcept {
        return std::chrono::milliseconds(pdk_hold_remaining_ms(raw_));
    }
    /* Makes sure that so much time remains. Blocks. */
    result<void> ensure(timeout time) const { return outcome(pdk_hold_ensure(raw_, time.ms())); }
    int fd() const noexcept { return pdk_hold_fd(raw_); }
    pdk_reason reason() const noexcept { return pdk_hold_reason(raw_); }
    const char *sequencer() const noexcept { return pdk_hold_sequencer(raw_); }
    const char *node() const noexcept { return pdk_hold_node(raw_); }
    bool mixed() const noexcept { return pdk_hold_is_mixed(raw_); }

  protected:
    pdk_hold *raw_ = nullptr;
};

template <class Function> void lost(pdk_hold *, pdk_reason reason, void *user) noexcept {
    (*static_cast<Function *>(user))(reason);
}
template <class Function> void freed(void *user) noexcept { delete static_cast<Function *>(user); }
} // namespace detail

/* A view of a hold, with a reference that keeps its memory. It releases nothing. */
class hold_view : public detail::hold_reader {
  public:
    hold_view() = default;
    explicit hold_view(pdk_hold *raw) noexcept { raw_ = pdk_hold_ref(raw); }
    hold_view(const hold_view &other) noexcept : detail::hold_reader() {
        raw_ = pdk_hold_ref(other.raw_);
    }
    hold_view(hold_view &&other) noexcept { raw_ = std::exchange(other.raw_, nullptr); }
    hold_view &operator=(hold_view other) noexcept {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~hold_view() { pdk_hold_unref(raw_); }
};

/* A hold. Move-only: one object releases it, once. */
class hold : public detail::hold_reader {
  public:
    hold() = default;
    /* Takes the reference that a C call has returned. */
    explicit hold(pdk_hold *raw) noexcept { raw_ = raw; }
    hold(hold &&other) noexcept { raw_ = std::exchange(other.raw_, nullptr); }
    hold &operator=(hold &&other) noexcept {
        if (this != &other) {
            release();
            raw_ = std::exchange(other.raw_, nullptr);
        }
        return *this;
    }
    hold(const hold &) = delete;
    hold &operator=(const hold &) = delete;
    ~hold() { release(); }

    /* Releases it now; the object is empty then. Does not wait, and never throws.
     *   PDK_OK       it was valid until now
     *   PDK_LOST     it was lost before
     *   PDK_INVALID  the object is empty
     * and the further statuses of pdk_hold_release. */
    pdk_status release() noexcept {
        return raw_ ? pdk_hold_release(std::exchange(raw_, nullptr)) : PDK_INVALID;
    }
    /* Gives the reference to the caller, who releases it by pdk_hold_release. */
    [[nodiscard]] pdk_hold *detach() noexcept { return std::exchange(raw_, nullptr); }
    /* For a hold that goes to another thread: pdk_hold_detach_thread. */
    void detach_thread() noexcept { pdk_hold_detach_thread(raw_); }
    /* Makes a writer's hold of a read/write lock a reader's: pdk_hold_downgrade. */
    result<void> downgrade() { return detail::outcome(pdk_hold_downgrade(raw_)); }
    /* Calls function(pdk_reason) when the hold is lost. One function for each hold. Its captures
     * are destroyed when it can run no more. */
    template <class Function> result<void> on_lost(Function function) {
        auto owned = std::make_unique<Function>(std::move(function));
        pdk_status status =
            pdk_hold_on_lost(raw_, detail::lost<Function>, owned.get(), detail::freed<Function>);
        if (status == PDK_OK)
            static_cast<void>(owned.release());
        return detail::outcome(status);
    }
};

PADDOCK_END

#endif
