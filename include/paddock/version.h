/* The version of the library, and what marks a symbol as public. */
#ifndef PADDOCK_VERSION_H
#define PADDOCK_VERSION_H

#if defined(__GNUC__)
#define PDK_API __attribute__((visibility("default")))
#else
#define PDK_API
#endif

#ifdef __cplusplus
#define PDK_BEGIN_DECLS extern "C" {
#define PDK_END_DECLS }
#else
#define PDK_BEGIN_DECLS
#define PDK_END_DECLS
#endif

#define PDK_VERSION_MAJOR 0
#define PDK_VERSION_MINOR 1
#define PDK_VERSION_PATCH 0

PDK_BEGIN_DECLS

/* The version of the library that is loaded, "major.minor.patch"; static. */
PDK_API const char *pdk_version(void);

PDK_END_DECLS

#endif
