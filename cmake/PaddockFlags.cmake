# How our own sources are compiled: pdk_warnings, pdk_hardening, and pdk_build, which has both and further options.
# None of these reach the users of the installed library. Sanitizers apply to everything that is built here.
include(CheckCCompilerFlag)
include(CheckPIESupported)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
check_pie_supported(LANGUAGES C)
# The length of a run path is in a program, also when the installation has changed the path.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

if(PDK_SANITIZE)
    add_compile_options(-fsanitize=${PDK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${PDK_SANITIZE})
    if(PDK_SANITIZE MATCHES "thread.*undefined") # its look at an object's type writes to a pipe, which is a race for the other
        add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
    endif()
endif()
set(counted "") # how the library is compiled for coverage, and only the library
if(PDK_COVERAGE)
    add_link_options(--coverage)
    # Not optimised, so that a branch of the source is a branch of the code. gcov infers some counts from others: so none may be
    # lost between threads.
    set(counted --coverage -fprofile-update=atomic -O0)
    if(PDK_SANITIZE MATCHES "undefined") # branches before the branches are counted: the build for threads has these checks
        list(APPEND counted -fno-sanitize=shift,integer-divide-by-zero,signed-integer-overflow,bool,enum,vla-bound
            -fno-sanitize=nonnull-attribute,returns-nonnull-attribute,return,unreachable,builtin)
    endif()
endif()

add_library(pdk_warnings INTERFACE)
target_compile_options(pdk_warnings INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wvla $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes> -Wformat=2 -Wundef
    -Wpointer-arith -Wwrite-strings $<$<BOOL:${PDK_WERROR}>:-Werror>)

add_library(pdk_hardening INTERFACE)
target_compile_options(pdk_hardening INTERFACE -fstack-protector-strong)
foreach(flag stack-clash-protection cf-protection) # not on every architecture
    check_c_compiler_flag(-f${flag} PDK_HAVE_${flag})
    if(PDK_HAVE_${flag})
        target_compile_options(pdk_hardening INTERFACE -f${flag})
    endif()
endforeach()
# Fortified functions need optimisation, and sanitizers cannot intercept them.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
if("${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}" MATCHES "-O([1-9sgz]|fast)"
    AND NOT PDK_SANITIZE AND NOT PDK_COVERAGE)
    target_compile_options(pdk_hardening INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()
target_link_options(pdk_hardening INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed)

add_library(pdk_build INTERFACE)
target_link_libraries(pdk_build INTERFACE pdk_warnings pdk_hardening)
target_compile_definitions(pdk_build INTERFACE _GNU_SOURCE $<$<BOOL:${PDK_COVERAGE}>:PDK_COVERAGE>)
# Assertions stay in every build, a release as well: they cost nothing that the benchmark sees, and tests need theirs.
target_compile_options(pdk_build INTERFACE -UNDEBUG)
# Paths relative to the project, in __FILE__ and in debug information, so that a build does not depend on where it is made. gcov
# looks for the sources at the paths that it is told, so those stay when branches are counted.
if(PDK_COVERAGE)
    target_compile_options(pdk_build INTERFACE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
else()
    target_compile_options(pdk_build INTERFACE
        "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=" "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")
endif()
