# What `cmake --install` installs: libraries, headers, find_package(paddock), pkg-config, the licence. PaddockManual installs the
# manual pages, and PaddockCommand the command. The installed tree can be moved.
#
# --component NAME installs a part: `library` and `fence`, what programs need to run; `development`, what they are built with; `testing`,
# servers for tests, beside development; `command`, beside library and fence; `documentation`.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/paddock")

install(TARGETS paddock EXPORT paddock-targets
    LIBRARY COMPONENT library NAMELINK_COMPONENT development FILE_SET HEADERS COMPONENT development)
install(TARGETS paddock_fence EXPORT paddock-targets LIBRARY COMPONENT fence NAMELINK_COMPONENT development)
install(TARGETS paddock_fence_static EXPORT paddock-targets ARCHIVE COMPONENT development)
install(EXPORT paddock-targets NAMESPACE paddock:: DESTINATION "${package_dir}" COMPONENT development)
# A separate export: only users of the static library need the libraries that it depends on.
install(TARGETS paddock_static EXPORT paddock-static-targets ARCHIVE COMPONENT development)
install(EXPORT paddock-static-targets NAMESPACE paddock:: DESTINATION "${package_dir}" COMPONENT development)
# Nor do all users need servers for tests, and GLib's own files.
install(TARGETS paddock_testing EXPORT paddock-testing-targets ARCHIVE COMPONENT testing)
install(EXPORT paddock-testing-targets NAMESPACE paddock:: DESTINATION "${package_dir}" COMPONENT testing)

configure_package_config_file(cmake/paddock-config.cmake.in paddock-config.cmake INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(paddock-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/paddock-config.cmake"
    "${PROJECT_BINARY_DIR}/paddock-config-version.cmake"
    cmake/FindZooKeeper.cmake
    DESTINATION "${package_dir}" COMPONENT development)

# The same in the Common Package Specification (CPS), for other build systems, where CMake can write it. Static libraries are not in
# it: the files of what they need are pkg-config's.
set(cps_default OFF)
if(CMAKE_VERSION VERSION_GREATER_EQUAL 4.3)
    set(cps_default ON)
endif()
option(PDK_CPS "Install paddock.cps, which takes CMake 4.3" ${cps_default})
if(PDK_CPS)
    install(PACKAGE_INFO paddock EXPORT paddock-targets VERSION "${PROJECT_VERSION}" LICENSE "Apache-2.0"
        DESCRIPTION "${PROJECT_DESCRIPTION}" COMPONENT development)
endif()

# pkg-config knows the path of its own file. The prefix is relative to that, and the other paths are relative to the prefix.
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR libdir_is_absolute)
if(libdir_is_absolute)
    set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(pc_libdir "${CMAKE_INSTALL_LIBDIR}")
else()
    file(RELATIVE_PATH up "/prefix/${pc_dir}" "/prefix")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
cmake_path(APPEND pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
foreach(library paddock paddock-fence paddock-testing)
    configure_file(cmake/${library}.pc.in ${library}.pc @ONLY)
    set(component development)
    if(library STREQUAL "paddock-testing")
        set(component testing)
    endif()
    install(FILES "${PROJECT_BINARY_DIR}/${library}.pc" DESTINATION "${pc_dir}" COMPONENT ${component})
endforeach()

install(FILES LICENSE LICENSES/Apache-2.0.txt DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documentation)
