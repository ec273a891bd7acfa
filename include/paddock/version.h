/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the library, and the marks of public symbols. */
#ifndef PADDOCK_VERSION_H
#define PADDOCK_VERSION_H

/* Marks a symbol that the shared library exports. */
#if defined(__GNUC__)
#define PDK_API __attribute__((visibility("default")))
#else
#define PDK_API
#endif

/* Marks a function whose answer no program may ignore: it gives something that has to be given
 * back, or it refuses something that the program was about to do. The compiler warns. */
#if defined(__GNUC__)
#define PDK_MUST_USE __attribute__((warn_unused_result))
#else
#define PDK_MUST_USE
#endif

/* Around the declarations of each header: C linkage for C++ programs. */
#ifdef __cplusplus
#define PDK_BEGIN_DECLS extern "C" {
#define PDK_END_DECLS }
#else
#define PDK_BEGIN_DECLS
#define PDK_END_DECLS
#endif

/* The version of these headers. */
#define PDK_VERSION_MAJOR 0
#define PDK_VERSION_MINOR 1
#define PDK_VERSION_PATCH 0

PDK_BEGIN_DECLS

/* The version of the library that is loaded, as "major.minor.patch". The string is static. Any
 * thread may call it. */
PDK_API const char *pdk_version(void);
/* The three numbers of that version. */
PDK_API int pdk_version_major(void);
PDK_API int pdk_version_minor(void);
PDK_API int pdk_version_patch(void);

PDK_END_DECLS

#endif
