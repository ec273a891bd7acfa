# Programs by folder. pdk_add_programs(<folder> [LINK <target>…]) makes from the .c files in a folder:
#   one executable from each file that defines main, at build/<preset>/<folder>/<name>, and
#   one library from the others, which the executables of that folder share.
# The targets are called <folder>_<name>, with _ for /; <folder>_programs builds all of a folder.
# It sets <folder>_names, with _ for /, to the names found.
function(pdk_add_programs folder)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
    string(REPLACE "/" "_" prefix "${folder}")
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.c")
    set(names "")
    set(others "")
    foreach(source IN LISTS sources)
        file(STRINGS "${source}" main REGEX "^int main\\(" LIMIT_COUNT 1)
        if(main)
            cmake_path(GET source STEM name)
            list(APPEND names ${name})
        else()
            list(APPEND others "${source}")
        endif()
    endforeach()

    add_custom_target(${prefix}_programs)
    if(others)
        add_library(${prefix}_common STATIC ${others})
        target_include_directories(${prefix}_common PUBLIC "${PROJECT_SOURCE_DIR}/${folder}")
        target_link_libraries(${prefix}_common PRIVATE pdk_build PUBLIC ${arg_LINK} Threads::Threads)
        list(PREPEND arg_LINK ${prefix}_common)
    endif()
    foreach(name IN LISTS names)
        add_executable(${prefix}_${name} "${PROJECT_SOURCE_DIR}/${folder}/${name}.c")
        set_target_properties(${prefix}_${name} PROPERTIES
            OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${folder}")
        target_link_libraries(${prefix}_${name} PRIVATE pdk_build ${arg_LINK} Threads::Threads)
        pdk_link_sqlite(${prefix}_${name} "${PROJECT_SOURCE_DIR}/${folder}/${name}.c")
        add_dependencies(${prefix}_programs ${prefix}_${name})
    endforeach()
    set(${prefix}_names "${names}" PARENT_SCOPE)
endfunction()

# Only one of the examples uses SQLite: it is the resource there.
function(pdk_link_sqlite target source)
    file(STRINGS "${source}" include REGEX "^#include <sqlite3.h>" LIMIT_COUNT 1)
    if(include)
        pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
        target_link_libraries(${target} PRIVATE PkgConfig::SQLITE)
    endif()
endfunction()
