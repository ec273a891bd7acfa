# FindZooKeeper: the multithreaded ZooKeeper C client, which many distributions ship without a pkg-config or CMake file.
#
#   ZooKeeper::zookeeper_mt   the library; its headers are <zookeeper/zookeeper.h>
#   ZooKeeper_VERSION
find_path(ZooKeeper_INCLUDE_DIR NAMES zookeeper/zookeeper.h)
find_library(ZooKeeper_LIBRARY NAMES zookeeper_mt)
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY)

# Headers up to 3.4 give the parts of the version, later ones the text.
set(_zookeeper_version_header "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h")
if(EXISTS "${_zookeeper_version_header}")
    file(STRINGS "${_zookeeper_version_header}" _zookeeper_version
        REGEX "#define ZOO_(VERSION \"|(MAJOR|MINOR|PATCH)_VERSION )[0-9.]+")
    string(REGEX MATCHALL "[0-9.]+" _zookeeper_version "${_zookeeper_version}")
    list(JOIN _zookeeper_version "." ZooKeeper_VERSION)
endif()

# The version is required: a client of unknown age may lack functions that are used.
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper
    REQUIRED_VARS ZooKeeper_LIBRARY ZooKeeper_INCLUDE_DIR ZooKeeper_VERSION
    VERSION_VAR ZooKeeper_VERSION)

if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::zookeeper_mt)
    add_library(ZooKeeper::zookeeper_mt UNKNOWN IMPORTED)
    # THREADED selects the declarations of the multithreaded library.
    set_target_properties(ZooKeeper::zookeeper_mt PROPERTIES
        IMPORTED_LOCATION "${ZooKeeper_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}"
        INTERFACE_COMPILE_DEFINITIONS THREADED)
endif()
