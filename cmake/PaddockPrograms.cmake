# Programs by folder. pdk_add_programs(<folder> [LINK <target>…]) makes from the .c files in a folder, and from the .cpp
# files where there is a C++ compiler:
#   one executable from each file that defines main, at build/<preset>/<folder>/<name>, and
#   one library from the others, which the executables of that folder share.
# The targets are called <folder>_<name>, with _ for /; <folder>_programs builds all of a folder.
# It sets <folder>_names, with _ for /, to the names found. A program whose package is not installed is left out.
function(pdk_add_programs folder)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
    string(REPLACE "/" "_" prefix "${folder}")
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.c")
    if(CMAKE_CXX_COMPILER_LOADED)
        file(GLOB more CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
        list(APPEND sources ${more})
    endif()
    set(names "")
    set(others "")
    foreach(source IN LISTS sources)
        file(STRINGS "${source}" main REGEX "^int main\\(" LIMIT_COUNT 1)
        if(main)
            cmake_path(GET source STEM name)
            set(source_${name} "${source}")
            pdk_packages_of("${source}" packages_${name} missing)
            if(missing)
                message(STATUS "${folder}/${name} is left out: ${missing} is not installed")
            else()
                list(APPEND names ${name})
            endif()
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
        add_executable(${prefix}_${name} "${source_${name}}")
        set_target_properties(${prefix}_${name} PROPERTIES
            OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${folder}")
        target_link_libraries(${prefix}_${name} PRIVATE pdk_build ${arg_LINK} ${packages_${name}} Threads::Threads)
        add_dependencies(${prefix}_programs ${prefix}_${name})
    endforeach()
    set(${prefix}_names "${names}" PARENT_SCOPE)
endfunction()

# What a program includes that needs a package of its own, and that package as pkg-config knows it, or its target.
set(pdk_packages
    "sqlite3.h sqlite3" "json-glib/json-glib.h json-glib-1.0" "paddock/adapters/glib.h glib-2.0" "paddock/adapters/libuv.h libuv"
    "paddock/adapters/libevent.h libevent_core" "paddock/adapters/sd-event.h libsystemd"
    "zookeeper/zookeeper.h ZooKeeper::zookeeper_mt")

# pdk_packages_of(<source> <needed> <missing>): sets <needed> to the targets of the packages that the source needs, and <missing>
# to the names of those that are not installed.
function(pdk_packages_of source needed missing)
    file(STRINGS "${source}" includes REGEX "^#include <.*>")
    set(targets "")
    set(absent "")
    foreach(line IN LISTS pdk_packages)
        separate_arguments(words UNIX_COMMAND "${line}")
        list(POP_FRONT words header)
        if("#include <${header}>" IN_LIST includes)
            foreach(package IN LISTS words)
                if(TARGET ${package}) # the library's own dependency
                    list(APPEND targets ${package})
                    continue()
                endif()
                string(MAKE_C_IDENTIFIER "PDK_PACKAGE_${package}" found)
                pkg_check_modules(${found} QUIET IMPORTED_TARGET ${package})
                if(${found}_FOUND)
                    list(APPEND targets PkgConfig::${found})
                else()
                    list(APPEND absent ${package})
                endif()
            endforeach()
        endif()
    endforeach()
    set(${needed} "${targets}" PARENT_SCOPE)
    set(${missing} "${absent}" PARENT_SCOPE)
endfunction()
