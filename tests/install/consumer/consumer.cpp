// A C++ program that uses the installed library: is the version that is loaded the one it was compiled against, and do
// the functions fill a struct as the macros do?
#include <paddock/paddock.h>

#include <iostream>
#include <string>

int main() {
    const pdk_session_options session = PDK_SESSION_OPTIONS_INIT;
    const pdk_lock_options lock = PDK_LOCK_OPTIONS_INIT;
    pdk_lock_options filled;
    const bool same = pdk_lock_options_init(&filled, sizeof filled) == PDK_OK && filled.size == lock.size &&
                      filled.max_handovers == lock.max_handovers;
    const std::string compiled = std::to_string(PDK_VERSION_MAJOR) + "." + std::to_string(PDK_VERSION_MINOR) + "." +
                                 std::to_string(PDK_VERSION_PATCH);
    std::cout << "compiled against " << compiled << ", running with " << pdk_version() << "\n";
    return compiled != pdk_version() || session.size != sizeof session || lock.size != sizeof lock || !same;
}
