/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a call: the value, or the status and the text of the failure. */
#ifndef PADDOCK_CXX_RESULT_HPP
#define PADDOCK_CXX_RESULT_HPP

#include <paddock/status.h>
#include <string>
#include <utility>
#ifdef PADDOCK_EXCEPTIONS
#include <stdexcept>
#endif

/* The names differ, so that a program may have both. */
#ifdef PADDOCK_EXCEPTIONS
#define PADDOCK_BEGIN                                                                              \
    namespace paddock {                                                                            \
    inline namespace throwing {
#else
#define PADDOCK_BEGIN                                                                              \
    namespace paddock {                                                                            \
    inline namespace returning {
#endif
#define PADDOCK_END                                                                                \
    }                                                                                              \
    }

PADDOCK_BEGIN

#ifdef PADDOCK_EXCEPTIONS

/* A call that failed. */
class error : public std::runtime_error {
  public:
    error(pdk_status status, const std::string &text) : std::runtime_error(text), status_(status) {}
    pdk_status status() const noexcept { return status_; }

  private:
    pdk_status status_;
};

template <class T> using result = T;

namespace detail {
inline void outcome(pdk_status status) {
    if (status != PDK_OK)
        throw error(status, std::string(pdk_status_name(status)) + ": " + pdk_last_error());
}
template <class T> T outcome(pdk_status status, T value) {
    outcome(status);
    return value;
}
} // namespace detail

#else

/* The value of a call, or its failure. On a failure the value is an empty object. */
template <class T> class [[nodiscard]] result {
  public:
    explicit result(T value) : value_(std::move(value)) {}
    result(pdk_status status, std::string text) : status_(status), text_(std::move(text)) {}
    explicit operator bool() const noexcept { return status_ == PDK_OK; }
    pdk_status status() const noexcept { return status_; }
    /* The failure in words; "" without one. */
    const std::string &text() const noexcept { return text_; }
    T &operator*() & noexcept { return value_; }
    T &&operator*() && noexcept { return std::move(value_); }
    T *operator->() noexcept { return &value_; }

  private:
    pdk_status status_ = PDK_OK;
    std::string text_;
    T value_{};
};

template <> class [[nodiscard]] result<void> {
  public:
    result() = default;
    result(pdk_status status, std::string text) : status_(status), text_(std::move(text)) {}
    explicit operator bool() const noexcept { return status_ == PDK_OK; }
    pdk_status status() const noexcept { return status_; }
    const std::string &text() const noexcept { return text_; }

  private:
    pdk_status status_ = PDK_OK;
    std::string text_;
};

namespace detail {
inline result<void> outcome(pdk_status status) {
    return status == PDK_OK ? result<void>() : result<void>(status, pdk_last_error());
}
template <class T> result<T> outcome(pdk_status status, T value) {
    return status == PDK_OK ? result<T>(std::move(value)) : result<T>(status, pdk_last_error());
}
} // namespace detail

#endif

namespace detail {
/* A reference to an object of the C library. */
template <class C, void (*Unref)(C *)> class handle {
  public:
    handle() = default;
    explicit handle(C *raw) noexcept : raw_(raw) {}
    handle(handle &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    handle &operator=(handle &&other) noexcept {
        if (this != &other) {
            if (raw_)
                Unref(raw_);
            raw_ = std::exchange(other.raw_, nullptr);
        }
        return *this;
    }
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;
    ~handle() {
        if (raw_)
            Unref(raw_);
    }
    explicit operator bool() const noexcept { return raw_ != nullptr; }
    /* The C handle. It stays this object's. */
    C *get() const noexcept { return raw_; }

  protected:
    C *raw_ = nullptr;
};
} // namespace detail

PADDOCK_END

#endif
