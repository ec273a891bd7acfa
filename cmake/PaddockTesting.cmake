# Servers for tests: a library of its own, for test programs of any project. It needs GLib, and neither Paddock's library nor
# ZooKeeper's. It is an archive alone: a test program has the version that its tests were written against, and nothing has to be
# installed where it runs.
file(GLOB testing_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/testing/*.c")
add_library(paddock_testing STATIC ${testing_sources})
add_library(paddock::testing ALIAS paddock_testing)
set_target_properties(paddock_testing PROPERTIES OUTPUT_NAME paddock-testing EXPORT_NAME testing)
# Only this project's own tests may use the headers in testing/.
target_include_directories(paddock_testing
    PRIVATE "${PROJECT_SOURCE_DIR}/testing"
    PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(paddock_testing PRIVATE $<BUILD_INTERFACE:pdk_build> PUBLIC PkgConfig::GLIB Threads::Threads)
