// A holder in C++, for tests/command/test_names.py: it holds a lock until a line comes on standard input, and says whether it still does.
//
//     holder HOSTS PATH
#include <paddock/paddock.hpp>

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    paddock::session_options options;
    options.session_timeout = std::chrono::seconds(12);
    paddock::session session = paddock::session::open(argv[1], options);
    paddock::lock lock = paddock::lock::open(session, argv[2]);
    paddock::hold hold = lock.acquire(paddock::forever);
    const long long id = session.id();
    char line[16];
    std::puts("ready");
    std::fflush(stdout);
    if (!std::fgets(line, sizeof line, stdin))
        return EXIT_FAILURE;
    std::puts(hold.valid() && session.id() == id ? "held" : "lost");
    hold.release();
    session.close(std::chrono::seconds(5));
    return EXIT_SUCCESS;
}
