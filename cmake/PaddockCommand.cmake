# The command `paddock`, at build/<preset>/command/paddock. It is a client of the public libraries, as any other program.
pdk_add_programs(command LINK paddock paddock_fence paddock_testing PkgConfig::GLIB)
target_link_libraries(command_common PUBLIC ${CMAKE_DL_LIBS})

# The modules have the same place beside the program in a build and in an installation. A packager that moves the program sets
# PDK_MODULES, which is their folder from the program's.
set(command_modules "${CMAKE_INSTALL_LIBDIR}/paddock")
if(NOT PDK_MODULES)
    set(PDK_MODULES "../${command_modules}")
endif()
target_compile_definitions(command_common PRIVATE
    "CMD_MODULES=\"${PDK_MODULES}\"" "CMD_MODULES_INSTALLED=\"${CMAKE_INSTALL_FULL_LIBDIR}/paddock\"")

# command_module(<name> <package> [<source>…]): the module command/<name>/<name>.c, which needs that package.
function(command_module name package)
    pkg_check_modules(COMMAND_${name} REQUIRED IMPORTED_TARGET ${package})
    add_library(command_${name} MODULE command/${name}/${name}.c ${ARGN})
    set_target_properties(command_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} C_VISIBILITY_PRESET default
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${command_modules}")
    target_include_directories(command_${name} PRIVATE "${PROJECT_SOURCE_DIR}/include")
    target_link_libraries(command_${name} PRIVATE pdk_build PkgConfig::GLIB PkgConfig::COMMAND_${name} Threads::Threads)
    add_dependencies(command_paddock command_${name})
    if(PDK_INSTALL)
        install(TARGETS command_${name} LIBRARY DESTINATION "${command_modules}" COMPONENT command)
    endif()
endfunction()
command_module(json json-glib-1.0)
option(PDK_HTTP "`paddock elect --listen`, which needs libmicrohttpd" ON)
if(PDK_HTTP)
    command_module(http libmicrohttpd command/clock.c)
endif()

if(PDK_INSTALL)
    set_target_properties(command_paddock PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS command_paddock RUNTIME COMPONENT command)
    install(FILES command/paddock.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT command)
    install(FILES command/paddock.7 DESTINATION "${CMAKE_INSTALL_MANDIR}/man7" COMPONENT command)
    install(FILES command/completion.bash DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
        RENAME paddock COMPONENT command)
    install(FILES command/completion.zsh DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions"
        RENAME _paddock COMPONENT command)
    install(FILES command/completion.fish DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
        RENAME paddock.fish COMPONENT command)
    # systemd looks below /lib and /usr/lib, whatever the architecture's own folder is called.
    install(FILES "command/paddock-run@.service" "command/paddock-elect@.service" DESTINATION lib/systemd/system
        COMPONENT command)
    install(DIRECTORY command/samples/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT command)
endif()
