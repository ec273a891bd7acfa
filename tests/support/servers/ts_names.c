#include "ts_names.h"

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 512 };

static atomic_int asked;
static atomic_uint turn;
static char path[64], next[72];

void ts_names_set(const char *text) {
    FILE *file;

    if (path[0] == '\0') {
        snprintf(path, sizeof path, "/tmp/paddock-names-XXXXXX");
        close(mkstemp(path));
        snprintf(next, sizeof next, "%s.next", path);
        setenv("TS_NAMES", path, 1);
    }
    file = fopen(next, "we");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0 || rename(next, path) != 0) {
        perror("ts_names");
        abort();
    }
}

void ts_names_end(void) {
    if (path[0] != '\0') {
        unlink(path);
    }
    path[0] = '\0';
}

int ts_names_asked(void) { return atomic_load(&asked); }

/* What the file says about the name, without the name. */
static bool find(const char *name, char line[LINE]) {
    const char *from = getenv("TS_NAMES");
    FILE *file = from != NULL ? fopen(from, "re") : NULL;
    const size_t length = strlen(name);
    bool found = false;

    while (file != NULL && !found && fgets(line, LINE, file) != NULL) {
        found = strncmp(line, name, length) == 0 && line[length] == ' ';
    }
    if (file != NULL) {
        fclose(file);
    }
    if (found) {
        line[strcspn(line, "\n")] = '\0';
        memmove(line, line + length + 1, strlen(line + length + 1) + 1);
    }
    return found;
}

static void pause_ms(long ms) {
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

typedef int (*look_up)(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out);

static look_up real(void) {
    look_up function;
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");

    memcpy(&function, &symbol, sizeof function);
    return function;
}

/* The addresses in the order of this turn. Each piece of the C library's is freed by itself, so pieces can be put together. */
static int answer(char *addresses, const char *service, const struct addrinfo *hints, struct addrinfo **out) {
    char *all[32];
    unsigned count = 0;
    const unsigned first = atomic_fetch_add(&turn, 1);
    struct addrinfo **end = out;
    int code = EAI_NONAME;

    *out = NULL;
    for (char *rest = addresses, *one; count < 32 && (one = strtok_r(rest, ",", &rest)) != NULL;) {
        all[count++] = one;
    }
    for (unsigned i = 0; i < count; i++) {
        code = real()(all[(first + i) % count], service, hints, end);
        while (code == 0 && *end != NULL) {
            end = &(*end)->ai_next;
        }
    }
    return code;
}

__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **out) {
    char line[LINE];
    char *rest = line;
    int code;

    if (name == NULL || !find(name, line)) {
        return real()(name, service, hints, out);
    }
    atomic_fetch_add(&asked, 1);
    while (strcmp(line, "never") == 0 && find(name, line)) {
        pause_ms(20);
    }
    if (strncmp(line, "late=", 5) == 0) {
        pause_ms(strtol(line + 5, &rest, 10));
        rest += strspn(rest, " ");
    }
    code = strncmp(rest, "error=", 6) == 0 ? (int)strtol(rest + 6, NULL, 10) : answer(rest, service, hints, out);
    return code;
}
