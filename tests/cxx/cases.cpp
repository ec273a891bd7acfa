// The C++ interface on a real server: what objects own, when they give it back, and what a failure is. Compiled as C++17 and as
// C++20, with results and without exceptions, and with exceptions.
//
//     cases HOSTS
#include <paddock/paddock.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <pthread.h>
#include <string>
#include <thread>
#include <type_traits>

using namespace std::chrono_literals;

static void expect(bool good, const char *what, int line) {
    if (good)
        return;
    std::fprintf(stderr, "cases.cpp:%d: not so: %s (%s)\n", line, what, pdk_last_error());
    std::abort();
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

// The value of a call that must succeed, and the status of one that may not.
#ifdef PADDOCK_EXCEPTIONS
template <class T> static T value(T made) { return made; }
template <class Call> static pdk_status status_of(Call call) {
    try {
        static_cast<void>(call());
        return PDK_OK;
    } catch (const paddock::error &failed) {
        EXPECT(std::string(failed.what()).find(pdk_status_name(failed.status())) == 0);
        return failed.status();
    }
}
#define GOOD(call) (call)
#else
template <class T> static T value(paddock::result<T> made) {
    EXPECT(made && made.text().empty());
    return *std::move(made);
}
template <class Call> static pdk_status status_of(Call call) {
    auto result = call();
    EXPECT(static_cast<bool>(result) == (result.status() == PDK_OK));
    EXPECT(static_cast<bool>(result) == result.text().empty());
    return result.status();
}
#define GOOD(call) EXPECT(static_cast<bool>(call))
#endif

template <class T>
static constexpr bool move_only = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                                  !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(move_only<paddock::session> && move_only<paddock::lock> && move_only<paddock::rwlock> &&
              move_only<paddock::semaphore> && move_only<paddock::election> && move_only<paddock::hold> &&
              move_only<paddock::claim>);

static_assert(paddock::forever.ms() == PDK_FOREVER);
static_assert(paddock::timeout(1500us).ms() == 2 && paddock::timeout(2ms).ms() == 2 &&
              paddock::timeout(1h).ms() == 3600000);
static_assert(paddock::timeout(-1ms).ms() == 0 && paddock::timeout(0s).ms() == 0);
static_assert(paddock::timeout(std::chrono::hours::max()).ms() == INT64_MAX);
static_assert(paddock::timeout(std::chrono::duration<double>(0.0001)).ms() == 1);

static bool can_be_taken(paddock::lock &lock) {
    return status_of([&] { return lock.try_acquire(); }) == PDK_OK;
}

// Another session, since threads of one may hand a lock over.
static void a_hold_is_released_once(paddock::lock &mine, paddock::lock &other) {
    paddock::hold first = value(mine.acquire(10s));
    EXPECT(first && first.valid() && first.token() > 0 && first.remaining() > 0ms);
    pdk_hold *raw = pdk_hold_ref(first.get()); // tells later what happened to it
    paddock::hold second = std::move(first);
    EXPECT(!first && !first.valid() && first.token() == 0 && first.get() == nullptr);
    EXPECT(first.release() == PDK_INVALID); // nothing
    EXPECT(second.valid() && !can_be_taken(other));
    {
        paddock::hold gone = std::move(first);
    }
    EXPECT(second.valid());
    paddock::hold &same = second;
    second = std::move(same); // to itself: nothing
    EXPECT(second.valid());
    EXPECT(second.release() == PDK_OK && !second && second.release() == PDK_INVALID);
    EXPECT(!pdk_hold_is_valid(raw) && pdk_hold_release(raw) == PDK_NOT_HELD);

    { // the end of a scope releases, and so does an assignment
        paddock::hold third = value(other.acquire(10s));
        raw = pdk_hold_ref(third.get());
        third = paddock::hold();
        EXPECT(!pdk_hold_is_valid(raw));
        third = value(other.acquire(10s));
        pdk_hold_unref(raw);
        raw = pdk_hold_ref(third.get());
    }
    EXPECT(!pdk_hold_is_valid(raw) && pdk_hold_release(raw) == PDK_NOT_HELD);

    paddock::hold fourth = value(mine.acquire(10s)); // detach: now it is the caller's
    raw = fourth.detach();
    EXPECT(!fourth && pdk_hold_is_valid(raw) && pdk_hold_release(raw) == PDK_OK);
}

static void failures_are_told(paddock::session &session, paddock::lock &mine, paddock::lock &other) {
    paddock::lock empty;
    EXPECT(!empty && status_of([&] { return empty.acquire(1s); }) == PDK_INVALID);
    EXPECT(status_of([&] { return empty.acquire_async(1s, [](pdk_status, paddock::hold) {}); }) == PDK_INVALID);
    EXPECT(status_of([&] { return paddock::lock::open(session, "not/absolute"); }) == PDK_INVALID);
    EXPECT(status_of([&] { return paddock::session::open("no-port:x"); }) == PDK_INVALID);
    paddock::session_options options;
    options.session_timeout = std::chrono::hours(24 * 365);
    EXPECT(status_of([&] { return paddock::session::open("127.0.0.1:1", options); }) == PDK_INVALID);
    paddock::hold held = value(mine.acquire(10s));
    EXPECT(status_of([&] { return other.try_acquire(); }) == PDK_BUSY);
    EXPECT(status_of([&] { return other.acquire(300ms); }) == PDK_TIMEOUT);
    EXPECT(status_of([&] { return other.acquire(-1ms); }) == PDK_BUSY); // and not for ever
    EXPECT(status_of([&] { return mine.acquire(1s); }) == PDK_DEADLOCK);
}

template <class Source> static void a_stop_ends_a_wait(paddock::lock &mine, paddock::lock &other) {
    paddock::hold held = value(mine.acquire(10s));
    Source stop;
    std::atomic<pdk_status> first{PDK_OK}, second{PDK_OK};
    std::thread waiter([&] {
        first = status_of([&] { return other.acquire(paddock::forever, stop.get_token()); });
        second = status_of([&] { return other.acquire(paddock::forever, stop.get_token()); }); // stopped already
    });
    std::this_thread::sleep_for(50ms);
    EXPECT(first == PDK_OK);
    stop.request_stop();
    waiter.join();
    EXPECT(first == PDK_CANCELED && second == PDK_CANCELED && stop.get_token().stop_requested());
    held.release();
    Source unused; // a token that is not stopped changes nothing, nor does what was before
    EXPECT(value(other.acquire(10s, unused.get_token())).valid());
    pdk_interrupt *own = nullptr;
    EXPECT(pdk_interrupt_new(&own) == PDK_OK && pdk_interrupt_attach(own) == PDK_OK);
    EXPECT(status_of([&] { return other.acquire(10s, unused.get_token()); }) == PDK_INVALID);
    pdk_interrupt_detach();
    pdk_interrupt_unref(own);
}

// What a callback has captured is destroyed, whether it was called or not.
struct counted {
    static std::atomic<int> alive;
    counted() { alive++; }
    counted(const counted &) { alive++; }
    counted(counted &&) noexcept { alive++; }
    ~counted() { alive--; }
};
std::atomic<int> counted::alive{0};

// A thread that is cancelled while it opens: its session goes in the background, and what that has captured goes once. So this is the
// first case: the others give a second time the time to come.
static void a_cancelled_open() {
    std::atomic<bool> begun{false};
    std::thread opener([&] {
        paddock::session_options options;
        options.connect_timeout = 1min;
        options.on_event = [c = counted()](pdk_session_event, std::chrono::milliseconds) { static_cast<void>(c); };
        begun = true;
        static_cast<void>(status_of([&] { return paddock::session::open("127.0.0.1:1", std::move(options)); }));
        std::abort();
    });
    while (!begun)
        std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(50ms);
    EXPECT(counted::alive == 1);
    EXPECT(pthread_cancel(opener.native_handle()) == 0);
    opener.join();
    for (int i = 0; i < 1000 && counted::alive > 0; i++)
        std::this_thread::sleep_for(10ms);
    EXPECT(counted::alive == 0);
}

// One that nothing is opened for, at once and later.
static void failed_opens() {
    paddock::session_options options;
    options.on_event = [c = counted()](pdk_session_event, std::chrono::milliseconds) { static_cast<void>(c); };
    EXPECT(status_of([&] { return paddock::session::open("no-port:x", options); }) == PDK_INVALID);
    EXPECT(counted::alive == 1); // the one in the options
    options.connect_timeout = 50ms;
    EXPECT(status_of([&] { return paddock::session::open("127.0.0.1:1", options); }) == PDK_UNAVAILABLE);
    for (int i = 0; i < 1000 && counted::alive > 1; i++)
        std::this_thread::sleep_for(10ms);
    EXPECT(counted::alive == 1);
}

static void claims(paddock::lock &mine, paddock::lock &other) {
    paddock::hold held = value(mine.acquire(10s));
    std::promise<pdk_status> cancelled;
    paddock::claim claim =
        value(other.acquire_async(paddock::forever, [&, c = counted()](pdk_status status, paddock::hold hold) {
            EXPECT(!hold);
            static_cast<void>(c);
            cancelled.set_value(status);
        }));
    GOOD(claim.cancel());
    EXPECT(cancelled.get_future().get() == PDK_CANCELED);
    EXPECT(status_of([&] { return claim.cancel(); }) == PDK_NOT_HELD);
    std::promise<paddock::hold> granted; // only a move brings a hold out
    claim = value(other.acquire_async(10s, [&](pdk_status status, paddock::hold hold) {
        EXPECT(status == PDK_OK);
        granted.set_value(std::move(hold));
    }));
    EXPECT(held.release() == PDK_OK);
    EXPECT(granted.get_future().get().valid());
}

// The interrupt of the thread works in a call without a token, which attaches none.
static void an_interrupt_ends_a_wait(paddock::session &one, paddock::lock &mine) {
    auto election = value(paddock::election::open(one, "/cxx/interrupt"));
    GOOD(election.join());
    pdk_interrupt *own = nullptr;
    EXPECT(pdk_interrupt_new(&own) == PDK_OK && pdk_interrupt_attach(own) == PDK_OK);
    EXPECT(value(election.wait(10s)).valid());
    EXPECT(value(mine.acquire(10s)).valid());
    EXPECT(status_of([&] { return election.wait(10s, paddock::stop_token()); }) == PDK_INVALID);
    pdk_interrupt_raise(own);
    EXPECT(status_of([&] { return election.wait(10s); }) == PDK_CANCELED);
    EXPECT(status_of([&] { return mine.acquire(10s); }) == PDK_CANCELED);
    pdk_interrupt_detach();
    pdk_interrupt_unref(own);
    GOOD(election.leave());
}

static void recipes(paddock::session &one, paddock::session &two) {
    auto shared = value(paddock::rwlock::open(one, "/cxx/rwlock")),
         same = value(paddock::rwlock::open(two, "/cxx/rwlock"));
    paddock::hold writer = value(shared.acquire_write(10s));
    EXPECT(status_of([&] { return same.acquire_read(0s); }) == PDK_BUSY);
    GOOD(writer.downgrade());
    EXPECT(value(same.acquire_read(10s)).valid());
    EXPECT(status_of([&] { return same.acquire_write(0s, paddock::stop_token()); }) == PDK_BUSY);
    auto permits = value(paddock::semaphore::open(one, "/cxx/semaphore", 2));
    paddock::hold both = value(permits.acquire(2, 10s));
    EXPECT(status_of([&] { return permits.acquire(1, 0s, paddock::stop_token()); }) == PDK_BUSY);
    auto election = value(paddock::election::open(one, "/cxx/election"));
    std::promise<int64_t> elected;
    std::promise<pdk_reason> deposed;
    paddock::election_callbacks callbacks;
    callbacks.elected = [&](const paddock::hold_view &hold) { elected.set_value(hold.token()); };
    callbacks.deposed = [&](pdk_reason reason) { deposed.set_value(reason); };
    GOOD(election.join(callbacks));
    paddock::hold_view leading = value(election.wait(10s)), copy = leading;
    EXPECT(copy.valid() && elected.get_future().get() == copy.token());
    {
        paddock::hold_view gone = std::move(leading);
    }
    EXPECT(copy.valid()); // a view releases nothing
    GOOD(election.publish(copy, std::string("a\0b", 3), 5s));
    pdk_contenders *list = nullptr;
    size_t size = 0;
    EXPECT(pdk_election_leader(election.get(), 5000, &list) == PDK_OK);
    EXPECT(std::string(static_cast<const char *>(pdk_contenders_data(list, 0, &size)), 3) == std::string("a\0b", 3));
    pdk_contenders_free(list);
    GOOD(election.unpublish(copy, 5s));
    EXPECT(pdk_election_leader(election.get(), 5000, &list) == PDK_OK);
    EXPECT(pdk_contenders_data(list, 0, &size) == nullptr);
    pdk_contenders_free(list);
    GOOD(election.leave());
    EXPECT(deposed.get_future().get() == PDK_REASON_NONE && !copy.valid());
}

static void closing(const char *hosts) {
    std::atomic<int> closed{0};
    paddock::session_options options;
    options.manual_dispatch = true;
    options.on_event = [&, c = counted()](pdk_session_event event, std::chrono::milliseconds) {
        static_cast<void>(c);
        closed += event == PDK_SESSION_CLOSED;
    };
    std::atomic<int> lines{0};
    options.c.log_level = PDK_LOG_DEBUG;
    options.on_log = [&](pdk_log_level, const char *) { lines++; };
    paddock::session session = value(paddock::session::open(hosts, std::move(options)));
    options = {};
    EXPECT(counted::alive == 1);
    EXPECT(session.fd() >= 0 && session.id() != 0 && session.negotiated_timeout() > 0ms && session.identity()[0]);
    EXPECT(value(session.dispatch()) > 0 && lines > 0);
    paddock::lock lock = value(paddock::lock::open(session, "/cxx/closing"));
    paddock::hold hold = value(lock.acquire(10s));
    std::atomic<int> lost{0};
    GOOD(hold.on_lost([&, c = counted()](pdk_reason reason) {
        static_cast<void>(c);
        lost += reason == PDK_REASON_CLOSED;
    }));
    value(lock.acquire_async(paddock::forever, [c = counted()](pdk_status, paddock::hold) { static_cast<void>(c); }));
    EXPECT(counted::alive == 3);
    GOOD(session.close(10s));
    EXPECT(closed == 1 && lost == 1 && counted::alive == 1);
    EXPECT(hold.release() == PDK_LOST);
    EXPECT(status_of([&] { return lock.acquire(1s); }) == PDK_CLOSED);
    value(paddock::session::open(hosts)); // one that nobody closes
    lock = paddock::lock();
    session = paddock::session();
    EXPECT(counted::alive == 0);

    // A close without time drops the callback of a claim: what that has captured goes with the session.
    paddock::session_options manual;
    manual.manual_dispatch = true;
    session = value(paddock::session::open(hosts, std::move(manual)));
    lock = value(paddock::lock::open(session, "/cxx/closing"));
    value(lock.acquire_async(paddock::forever, [c = counted()](pdk_status, paddock::hold) { std::abort(); }));
    EXPECT(counted::alive == 1 && status_of([&] { return session.close(0s); }) == PDK_TIMEOUT);
    GOOD(session.close(paddock::forever));
    lock = paddock::lock();
    session = paddock::session();
    for (int i = 0; i < 1000 && counted::alive > 0; i++)
        std::this_thread::sleep_for(10ms);
    EXPECT(counted::alive == 0);
}

int main(int argc, char **argv) {
    const char *hosts = argv[argc - 1];
    a_cancelled_open();
    failed_opens();
    {
        paddock::session one = value(paddock::session::open(hosts)), two = value(paddock::session::open(hosts));
        paddock::lock mine = value(paddock::lock::open(one, "/cxx/lock")),
                      other = value(paddock::lock::open(two, "/cxx/lock"));
        a_hold_is_released_once(mine, other);
        failures_are_told(one, mine, other);
        a_stop_ends_a_wait<paddock::stop_source>(mine, other);
#ifdef __cpp_lib_jthread
        a_stop_ends_a_wait<std::stop_source>(mine, other);
#endif
        an_interrupt_ends_a_wait(one, mine);
        claims(mine, other);
        recipes(one, two);
        GOOD(one.flush(10s));
        GOOD(one.close(10s));
        GOOD(two.close(10s));
    }
    closing(hosts);
    EXPECT(counted::alive == 0);
    std::puts("all cases passed");
    return EXIT_SUCCESS;
}
