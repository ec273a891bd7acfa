#include "zk/answers.h"

#include "core/names.h"

#include <string.h>

/* 9999-12-31, in ms: sums and differences of such times stay far from the ends of 64 bits. */
#define LATEST_MS INT64_C(253402300799999)

/* A day. A server gives what is asked for, unless its minSessionTimeout is more. */
#define LONGEST_SESSION_MS 86400000

enum { SEQUENCE_LENGTH = 10, LONGEST_SEQUENCE = 11 };

/* Transactions are numbered from 0, which made the root; the upper half is an epoch, one more with each leader. A
 * generation of the servers (token_base) has room above them. */
static bool is_zxid(int64_t zxid) { return zxid >= 0 && zxid < INT64_C(1) << 62; }
static bool is_time(int64_t ms) { return ms >= 0 && ms <= LATEST_MS; }

/* The root's pzxid is -1 until it has a child. Versions wrap, so they may be any number. */
bool pdk__answer_is_stat(const struct Stat *stat) {
    return stat && is_zxid(stat->czxid) && is_zxid(stat->mzxid) && stat->mzxid >= stat->czxid &&
           stat->pzxid < INT64_C(1) << 62 && (stat->pzxid >= stat->czxid || (stat->czxid == 0 && stat->pzxid == -1)) &&
           is_time(stat->ctime) && is_time(stat->mtime) && stat->dataLength >= 0 && stat->numChildren >= 0;
}

/* The length stands in the answer twice. */
bool pdk__answer_is_data(const char *value, int length, const struct Stat *stat) {
    if (!pdk__answer_is_stat(stat))
        return false;
    return value ? length >= 0 && length == stat->dataLength : length <= 0 && length >= -1 && stat->dataLength == 0;
}

/* Is it a sequence, as "%010d" writes it? */
static bool is_sequence(const char *text) {
    size_t length = strnlen(text, LONGEST_SEQUENCE + 1), sign = text[0] == '-' ? 1 : 0;
    return length >= SEQUENCE_LENGTH && length <= SEQUENCE_LENGTH + sign &&
           strspn(text + sign, "0123456789") == length - sign;
}

bool pdk__answer_is_path(const struct pdk__request *request, const char *path) {
    return path && strcmp(path, request->path) == 0;
}

/* A new node has no history. */
static bool is_new(const struct Stat *stat, int64_t session) {
    return stat->czxid > 0 && stat->mzxid == stat->czxid && stat->pzxid == stat->czxid &&
           stat->ephemeralOwner == session && stat->numChildren == 0;
}

bool pdk__answer_is_created(const struct pdk__request *create, int64_t session, const char *path,
                            const struct Stat *stat, const char **name) {
    size_t asked = strlen(create->path);
    if (!path || !pdk__answer_is_stat(stat) || !is_new(stat, session) || strncmp(path, create->path, asked) != 0 ||
        (create->named ? path[asked] != '\0' : !is_sequence(path + asked)))
        return false;
    *name = strrchr(path, '/') + 1; /* the path that was asked for has one */
    return (*name)[0] != '\0' && strlen(*name) < PDK__NAME_SIZE;
}

static bool is_name(const char *name) {
    return name && name[0] != '\0' && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

bool pdk__answer_is_list(const struct String_vector *names) {
    if (!names || names->count < 0 || (names->count > 0 && !names->data))
        return false;
    for (int32_t i = 0; i < names->count; i++)
        if (!is_name(names->data[i]))
            return false;
    return true;
}

bool pdk__answer_is_acl(const struct ACL_vector *acl) {
    if (!acl || acl->count < 0 || (acl->count > 0 && !acl->data))
        return false;
    for (int32_t i = 0; i < acl->count; i++)
        if (!acl->data[i].id.scheme || !acl->data[i].id.id)
            return false;
    return true;
}

bool pdk__answer_is_event(int type, const char *path) {
    bool known =
        type == ZOO_CREATED_EVENT || type == ZOO_DELETED_EVENT || type == ZOO_CHANGED_EVENT || type == ZOO_CHILD_EVENT;
    return known && path && path[0] == '/';
}

bool pdk__answer_is_session(int64_t id, int timeout_ms) {
    return id != 0 && timeout_ms > 0 && timeout_ms <= LONGEST_SESSION_MS;
}
