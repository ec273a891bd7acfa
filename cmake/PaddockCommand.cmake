# The command `paddock`, at build/<preset>/command/paddock. It is a client of the public libraries, as any other program.
pkg_check_modules(JSON_GLIB REQUIRED IMPORTED_TARGET json-glib-1.0)
pdk_add_programs(command LINK paddock paddock_fence paddock_testing PkgConfig::GLIB PkgConfig::JSON_GLIB)

option(PDK_HTTP "`paddock elect --listen`, which needs libmicrohttpd" ON)
if(PDK_HTTP)
    pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
    target_link_libraries(command_common PUBLIC PkgConfig::MICROHTTPD)
    target_compile_definitions(command_common PRIVATE CMD_WITH_HTTP)
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
endif()
