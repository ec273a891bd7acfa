#include "core/revocation.h"

#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 15 };

static bool is_control(char c) { return (unsigned char)c < 0x20 || c == 0x7f; }

/* The digits at `at`, and a space behind them. 0: there are none, too many, or a zero ahead of others. */
static size_t read_number(const char *at, size_t size, int64_t *number) {
    size_t n = 0;
    *number = 0;
    while (n < size && at[n] >= '0' && at[n] <= '9') {
        if (n == DIGITS_MAX || (n == 1 && at[0] == '0'))
            return 0;
        *number = *number * 10 + (at[n] - '0');
        n++;
    }
    return n < size && at[n] == ' ' ? n : 0;
}

static bool read_named(const char *data, size_t size, struct pdk__revocation *r) {
    const size_t prefix = sizeof PDK__REVOKE; /* with the space behind it */
    size_t digits = 0;
    if (size <= prefix || memcmp(data, PDK__REVOKE " ", prefix) != 0)
        return false;
    digits = read_number(data + prefix, size - prefix, &r->within_ms);
    if (digits == 0)
        return false;
    const char *who = data + prefix + digits + 1;
    size_t left = size - (size_t)(who - data), n = 0;
    while (n < left && !is_control(who[n]))
        n++;
    if (n == 0 || n > PDK__WHO_MAX || n == left || who[n] != '\n')
        return false;
    r->who = who;
    r->who_size = n;
    r->identity = who + n + 1;
    r->identity_size = left - n - 1;
    return true;
}

bool pdk__revocation_read(const char *data, size_t size, struct pdk__revocation *r) {
    *r = (struct pdk__revocation){.who = "", .identity = ""};
    if (size == strlen(PDK__REVOKE) && memcmp(data, PDK__REVOKE, size) == 0)
        return true;
    if (size > 0 && read_named(data, size, r))
        return true;
    *r = (struct pdk__revocation){.who = "", .identity = size > 0 ? data : "", .identity_size = size};
    return false;
}

size_t pdk__revocation_write(int64_t within_ms, const char *who, char head[PDK__REVOKE_SIZE]) {
    return (size_t)snprintf(head, PDK__REVOKE_SIZE, PDK__REVOKE " %lld %s\n", (long long)within_ms, who);
}

const char *pdk__who_error(const char *who) {
    size_t n = 0;
    for (; who[n] != '\0'; n++)
        if (is_control(who[n]))
            return "has a control character";
    return n == 0 ? "is empty" : n > PDK__WHO_MAX ? "has more than 1024 bytes" : NULL;
}

int64_t pdk__revocation_until(const struct pdk__revocation *r, int64_t at_ms) {
    return r->within_ms > 0 ? at_ms + r->within_ms : 0;
}
