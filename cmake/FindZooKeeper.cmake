# FindZooKeeper: the multithreaded ZooKeeper C client, which comes in three forms.
#
#   zookeeper_mt              of the autotools build, as distributions ship it: shared or static, mostly without a CMake file
#   unofficial-zookeeper      vcpkg's package, with its feature `sync`
#   zookeeper and hashtable   static, of upstream's CMake build, and of Conan's package
#
#   ZooKeeper::zookeeper_mt   whichever it is; its headers are <zookeeper/zookeeper.h>
#   ZooKeeper_VERSION
#   ZooKeeper_PC_LIBS         the same for pkg-config, for a static libpaddock
if(NOT ZooKeeper_LIBRARY)
    find_package(unofficial-zookeeper CONFIG QUIET)
    if(TARGET unofficial::zookeeper::zookeeper)
        get_target_property(_zookeeper_place unofficial::zookeeper::zookeeper LOCATION)
        set(ZooKeeper_LIBRARY "${_zookeeper_place}" CACHE FILEPATH "The ZooKeeper C client")
    endif()
endif()
find_library(ZooKeeper_LIBRARY NAMES zookeeper_mt zookeeper NAMES_PER_DIR)
# Its headers are beside it. Those of another one elsewhere would be of another version.
cmake_path(GET ZooKeeper_LIBRARY PARENT_PATH _zookeeper_place)
find_path(ZooKeeper_INCLUDE_DIR NAMES zookeeper/zookeeper.h HINTS "${_zookeeper_place}/../include" "${_zookeeper_place}/../../include")
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY)

# Headers up to 3.4 give the parts of the version, later ones the text.
set(_zookeeper_version_header "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h")
if(EXISTS "${_zookeeper_version_header}")
    file(STRINGS "${_zookeeper_version_header}" _zookeeper_version
        REGEX "#define ZOO_(VERSION \"|(MAJOR|MINOR|PATCH)_VERSION )[0-9.]+")
    string(REGEX MATCHALL "[0-9.]+" _zookeeper_version "${_zookeeper_version}")
    list(JOIN _zookeeper_version "." ZooKeeper_VERSION)
endif()

# _zookeeper_names(<function> <variable>): does the library have it, or need it?
function(_zookeeper_names function variable)
    set(found "")
    if(EXISTS "${ZooKeeper_LIBRARY}")
        file(STRINGS "${ZooKeeper_LIBRARY}" found REGEX "^${function}$" LIMIT_COUNT 1)
    endif()
    set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# An archive needs what it was made of. The one that is called zookeeper may also be the single-threaded one, which has no synchronous calls.
set(_zookeeper_needs "")
set(_zookeeper_missing "")
cmake_path(GET ZooKeeper_LIBRARY STEM _zookeeper_stem)
string(REGEX REPLACE "^lib" "-l" ZooKeeper_PC_LIBS "${_zookeeper_stem}")
if(ZooKeeper_LIBRARY MATCHES "[.]a$")
    _zookeeper_names(zoo_wexists _zookeeper_is_threaded)
    if(NOT _zookeeper_is_threaded)
        set(_zookeeper_missing "${ZooKeeper_LIBRARY} is the single-threaded client (of vcpkg take zookeeper with its feature sync)")
    elseif(_zookeeper_stem STREQUAL "libzookeeper")
        find_library(ZooKeeper_HASHTABLE_LIBRARY NAMES hashtable HINTS "${_zookeeper_place}" NO_DEFAULT_PATH)
        mark_as_advanced(ZooKeeper_HASHTABLE_LIBRARY)
        if(ZooKeeper_HASHTABLE_LIBRARY)
            list(APPEND _zookeeper_needs "${ZooKeeper_HASHTABLE_LIBRARY}")
            string(APPEND ZooKeeper_PC_LIBS " -lhashtable")
        else()
            set(_zookeeper_missing "libhashtable.a is not beside ${ZooKeeper_LIBRARY}")
        endif()
    endif()
    _zookeeper_names(SSL_new _zookeeper_has_tls)
    if(_zookeeper_has_tls)
        find_package(OpenSSL QUIET)
        list(APPEND _zookeeper_needs OpenSSL::SSL OpenSSL::Crypto)
        string(APPEND ZooKeeper_PC_LIBS " -lssl -lcrypto")
        if(NOT OpenSSL_FOUND)
            set(_zookeeper_missing "${ZooKeeper_LIBRARY} needs OpenSSL")
        endif()
    endif()
    _zookeeper_names(sasl_client_new _zookeeper_has_sasl)
    if(_zookeeper_has_sasl)
        list(APPEND _zookeeper_needs sasl2)
        string(APPEND ZooKeeper_PC_LIBS " -lsasl2")
    endif()
    find_package(Threads QUIET)
    list(APPEND _zookeeper_needs Threads::Threads m)
    string(APPEND ZooKeeper_PC_LIBS " -lm")
endif()

# The version is required: a client of unknown age may lack functions that are used.
include(FindPackageHandleStandardArgs)
if(_zookeeper_missing)
    set(ZooKeeper_LIBRARY_USABLE "")
else()
    set(ZooKeeper_LIBRARY_USABLE "${ZooKeeper_LIBRARY}")
endif()
find_package_handle_standard_args(ZooKeeper
    REQUIRED_VARS ZooKeeper_LIBRARY ZooKeeper_INCLUDE_DIR ZooKeeper_VERSION ZooKeeper_LIBRARY_USABLE
    VERSION_VAR ZooKeeper_VERSION
    REASON_FAILURE_MESSAGE "${_zookeeper_missing}")

if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::zookeeper_mt)
    add_library(ZooKeeper::zookeeper_mt UNKNOWN IMPORTED)
    # THREADED selects the declarations of the multithreaded library.
    set_target_properties(ZooKeeper::zookeeper_mt PROPERTIES
        IMPORTED_LOCATION "${ZooKeeper_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}"
        INTERFACE_COMPILE_DEFINITIONS THREADED
        INTERFACE_LINK_LIBRARIES "${_zookeeper_needs}")
endif()
