# FindZooKeeper: the multithreaded ZooKeeper C client, which many distributions ship without a pkg-config or CMake file.
#
#   ZooKeeper::zookeeper_mt   the library; its headers are <zookeeper/zookeeper.h>
#   ZooKeeper_VERSION
find_path(ZooKeeper_INCLUDE_DIR NAMES zookeeper/zookeeper.h)
find_library(ZooKeeper_LIBRARY NAMES zookeeper_mt)
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY)

set(_zookeeper_version_header "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h")
if(EXISTS "${_zookeeper_version_header}")
    file(STRINGS "${_zookeeper_version_header}" _zookeeper_version REGEX "#define ZOO_VERSION \"[0-9.]+")
    string(REGEX MATCH "[0-9.]+" ZooKeeper_VERSION "${_zookeeper_version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper
    REQUIRED_VARS ZooKeeper_LIBRARY ZooKeeper_INCLUDE_DIR
    VERSION_VAR ZooKeeper_VERSION)

if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::zookeeper_mt)
    add_library(ZooKeeper::zookeeper_mt UNKNOWN IMPORTED)
    # THREADED selects the declarations of the multithreaded library.
    set_target_properties(ZooKeeper::zookeeper_mt PROPERTIES
        IMPORTED_LOCATION "${ZooKeeper_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}"
        INTERFACE_COMPILE_DEFINITIONS THREADED)
endif()
