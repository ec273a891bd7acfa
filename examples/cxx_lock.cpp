// A lock in C++: a hold that is released when its scope ends, a loss that is told, and a wait that somebody stops.
//
//     cxx_lock HOSTS      such as 127.0.0.1:2181; then delete the znode below /examples/cxx with any client
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <paddock/paddock.hpp>
#include <thread>

using namespace std::chrono_literals;

template <class T> static T take(const char *what, paddock::result<T> result) {
    if (!result) {
        std::fprintf(stderr, "cxx_lock: %s: %s\n", what, result.text().c_str());
        std::exit(EXIT_FAILURE);
    }
    return *std::move(result);
}

int main(int argc, char **argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    paddock::session_options options;
    options.session_timeout = 10s;
    paddock::session session =
        take("open", paddock::session::open(argc > 1 ? argv[1] : "127.0.0.1:2181", std::move(options)));
    paddock::lock lock = take("lock", paddock::lock::open(session, "/examples/cxx"));
    {
        paddock::hold hold = take("acquire", lock.acquire(5s));
        std::printf("held: token %lld\n", static_cast<long long>(hold.token()));
        paddock::stop_source stop; // somebody else waits, and is stopped
        std::thread waiter([&] {
            auto refused = lock.acquire(paddock::forever, stop.get_token());
            std::printf("the other: %s\n", pdk_status_name(refused.status()));
        });
        std::this_thread::sleep_for(100ms);
        stop.request_stop();
        waiter.join();
    } // released here
    paddock::hold hold = take("acquire", lock.acquire(5s));
    std::promise<pdk_reason> lost;
    if (!hold.on_lost([&](pdk_reason reason) { lost.set_value(reason); }))
        return EXIT_FAILURE;
    std::printf("held again\n");
    std::printf("LOST (%s)\n", pdk_reason_name(lost.get_future().get()));
    std::printf("release: %s\n", pdk_status_name(hold.release()));
    lock = paddock::lock();
    if (auto closed = session.close(2s); !closed)
        std::printf("close: %s\n", closed.text().c_str());
    std::printf("done\n");
    return EXIT_SUCCESS;
}
