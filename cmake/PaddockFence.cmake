# The fence, for a resource: a library of its own that needs the C library alone. It has the objects of src/fence, and those of
# the rooms before it that need nothing else either, so both archives can stand in one program.
file(GLOB fence_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/fence/*.c")
add_library(paddock_fence_objects OBJECT ${fence_sources})
target_include_directories(paddock_fence_objects PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(paddock_fence_objects PRIVATE pdk_build Threads::Threads)
# Sixteen bytes are exchanged at once by every 64-bit x86 processor but the very first.
check_c_compiler_flag(-mcx16 PDK_HAVE_cx16)
if(PDK_HAVE_cx16)
    target_compile_options(paddock_fence_objects PRIVATE -mcx16)
endif()
target_compile_options(paddock_fence_objects PRIVATE ${counted})
set(fence_objects $<TARGET_OBJECTS:paddock_fence_objects>
    "$<FILTER:$<TARGET_OBJECTS:paddock_objects>,INCLUDE,/src/(base/(cancel|fail|fork|standard|status)|core/(names|paths|sequencer))[.]c>")
set(fence_headers "${PROJECT_SOURCE_DIR}/include/paddock/fence.h")

# Both shared libraries export the words of base/status, under one version: whichever is loaded first speaks for both.
add_library(paddock_fence SHARED ${fence_objects})
add_library(paddock::fence ALIAS paddock_fence)
set_target_properties(paddock_fence PROPERTIES
    OUTPUT_NAME paddock-fence EXPORT_NAME fence
    VERSION ${PROJECT_VERSION} SOVERSION ${series} LINKER_LANGUAGE C
    LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/paddock.map")
target_include_directories(paddock_fence INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_options(paddock_fence PRIVATE
    "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/paddock.map" -Wl,-z,defs)
target_link_libraries(paddock_fence PRIVATE $<BUILD_INTERFACE:pdk_hardening> $<BUILD_INTERFACE:Threads::Threads>)

add_library(paddock_fence_static STATIC ${fence_objects})
add_library(paddock::fence_static ALIAS paddock_fence_static)
set_target_properties(paddock_fence_static PROPERTIES
    OUTPUT_NAME paddock-fence EXPORT_NAME fence_static LINKER_LANGUAGE C)
target_include_directories(paddock_fence_static INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include;${PROJECT_SOURCE_DIR}/src>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
