/* Statuses in words, and the thread's last failure. */
#include "base/text.h"

#define STRING(x) #x
#define DOTTED(a, b, c) STRING(a) "." STRING(b) "." STRING(c)

const char *pdk_version(void) { return DOTTED(PDK_VERSION_MAJOR, PDK_VERSION_MINOR, PDK_VERSION_PATCH); }

int pdk_version_major(void) { return PDK_VERSION_MAJOR; }
int pdk_version_minor(void) { return PDK_VERSION_MINOR; }
int pdk_version_patch(void) { return PDK_VERSION_PATCH; }

const char *pdk_status_name(pdk_status status) {
    switch (status) {
#define NAME(name, value, text)                                                                                        \
    case PDK_##name:                                                                                                   \
        return "PDK_" #name;
        PDK_STATUS_MAP(NAME)
#undef NAME
    }
    return "PDK_UNKNOWN";
}

const char *pdk_status_text(pdk_status status) {
    switch (status) {
#define TEXT(name, value, text)                                                                                        \
    case PDK_##name:                                                                                                   \
        return text;
        PDK_STATUS_MAP(TEXT)
#undef TEXT
    }
    return "not a status of this library";
}

bool pdk_status_is_retriable(pdk_status status) {
    return status == PDK_TIMEOUT || status == PDK_BUSY || status == PDK_UNAVAILABLE || status == PDK_RESOLVE ||
           status == PDK_SYSTEM;
}

bool pdk_status_is_lost(pdk_status status) { return status == PDK_LOST || status == PDK_CLOSED; }

bool pdk_status_is_usage(pdk_status status) {
    return status == PDK_NOT_HELD || status == PDK_DEADLOCK || status == PDK_WRONG_THREAD || status == PDK_INVALID ||
           status == PDK_FORKED || status == PDK_UPGRADE || status == PDK_MISMATCH;
}

static _Thread_local char error_text[PDK__TEXT_SIZE];

const char *pdk_last_error(void) { return error_text; }
