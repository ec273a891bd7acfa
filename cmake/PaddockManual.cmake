# The manual pages of the library, section 3, at build/<preset>/man/man3: made from the comments of the public headers, and from
# examples/manual.
# `./run docs` makes the same as HTML.
if(NOT Python3_Interpreter_FOUND)
    message(FATAL_ERROR "PDK_MANUAL needs python3; without it set PDK_MANUAL=OFF")
endif()
set(manual_folder "${PROJECT_BINARY_DIR}/man/man3")
set(manual_stamp "${PROJECT_BINARY_DIR}/man/stamp")
file(GLOB manual_scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/scripts/docs/*.py")
set(manual_examples "${PROJECT_SOURCE_DIR}/examples/manual")
file(GLOB manual_programs CONFIGURE_DEPENDS "${manual_examples}/*.c")
add_custom_command(OUTPUT "${manual_stamp}"
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/scripts/docs/manual" "${PROJECT_SOURCE_DIR}/include/paddock"
        "${manual_examples}" "${manual_folder}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${manual_stamp}"
    DEPENDS ${public_headers} ${manual_programs} ${manual_scripts} "${PROJECT_SOURCE_DIR}/scripts/docs/manual"
    COMMENT "Making the manual pages"
    VERBATIM)
add_custom_target(manual ALL DEPENDS "${manual_stamp}")
if(PDK_INSTALL)
    install(DIRECTORY "${manual_folder}" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT documentation
        FILES_MATCHING PATTERN "*.3")
endif()
