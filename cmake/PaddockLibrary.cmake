# The library is compiled once, and linked twice. The shared library exports pdk_* alone. With the static one, only the tests
# may use the internal headers.
file(GLOB public_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/paddock/*.h")
file(GLOB adapter_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/paddock/adapters/*.h") # nothing of ours includes them
file(GLOB cxx_headers CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/include/paddock/*.hpp" "${PROJECT_SOURCE_DIR}/include/paddock/cxx/*.hpp")
file(GLOB_RECURSE library_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.c")
list(FILTER library_sources EXCLUDE REGEX "/src/fence/") # PaddockFence
file(GLOB recipe_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/recipes/*.c")
set(library_dependencies ZooKeeper::zookeeper_mt PkgConfig::GLIB Threads::Threads)

add_library(paddock_objects OBJECT ${library_sources} ${recipe_sources})
target_include_directories(paddock_objects PRIVATE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/recipes")
target_link_libraries(paddock_objects PRIVATE pdk_build ${library_dependencies})
include(CheckIncludeFile)
check_include_file(sys/sdt.h PDK_HAVE_SDT)
if(PDK_PROBES AND PDK_HAVE_SDT)
    target_compile_definitions(paddock_objects PRIVATE PDK_PROBES)
endif()
target_compile_options(paddock_objects PRIVATE ${counted})

# Until 1.0 each minor release has a SONAME of its own, and so has its version node (paddock.map).
set(series ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(series 0.${PROJECT_VERSION_MINOR})
endif()
add_library(paddock SHARED $<TARGET_OBJECTS:paddock_objects>)
add_library(paddock::paddock ALIAS paddock)
set_target_properties(paddock PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${series} LINKER_LANGUAGE C
    LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/paddock.map")
target_sources(paddock PUBLIC
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${public_headers} ${adapter_headers} ${cxx_headers})
# nodelete: a thread that ends after its session's close has answered still runs code of the library.
# initfirst: before GLib begins with an allocator whose locks do not survive a fork (base/slices.h). Later versions have none.
target_link_options(paddock PRIVATE -Wl,-z,nodelete $<$<VERSION_LESS:${GLIB_VERSION},2.76>:-Wl,-z,initfirst>
    "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/paddock.map" -Wl,-z,defs)
target_link_libraries(paddock PRIVATE $<BUILD_INTERFACE:pdk_hardening> ${library_dependencies})

add_library(paddock_static STATIC $<TARGET_OBJECTS:paddock_objects>)
add_library(paddock::paddock_static ALIAS paddock_static)
set_target_properties(paddock_static PROPERTIES OUTPUT_NAME paddock LINKER_LANGUAGE C)
target_include_directories(paddock_static INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include;${PROJECT_SOURCE_DIR}/src;${PROJECT_SOURCE_DIR}/recipes>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(paddock_static PRIVATE ${library_dependencies})
