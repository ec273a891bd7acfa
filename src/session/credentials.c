#include "session/credentials.h"

#include "base/text.h"
#include "zk/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Three paths and a password, and room for the end of the line. */
#define TLS_MAX 16384
#define DIGEST_MAX 1024

struct secret {
    const char *name; /* of the option; the option of its file has the same, and _file */
    const char *text, *file;
    size_t most;
};

static void wipe(char *secret) {
    if (secret)
        explicit_bzero(secret, strlen(secret));
    g_free(secret);
}

/* Read up to `size` bytes. It takes several reads, since file systems in user space give less than there is. -1: errno
 * tells. */
static ssize_t read_all(int fd, char *buffer, size_t size) {
    size_t length = 0;
    ssize_t got;
    do {
        got = read(fd, buffer + length, size - length);
        length += got > 0 ? (size_t)got : 0;
    } while ((got > 0 && length < size) || (got < 0 && errno == EINTR));
    return got < 0 ? -1 : (ssize_t)length;
}

/* A pipe or a device could keep the caller waiting, so none is read. -1: errno tells. */
static ssize_t read_file(const char *path, char *buffer, size_t size, mode_t *mode) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat stat = {0};
    ssize_t length = -1;
    if (fd < 0)
        return -1;
    if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
        length = read_all(fd, buffer, size);
    else
        errno = EINVAL;
    *mode = stat.st_mode;
    int why = errno;
    close(fd);
    errno = why;
    return length;
}

/* `end`: the end of the line that was read; below 0: errno tells. */
static pdk_status secret_check_line(const struct secret *secret, const char *line, ssize_t end) {
    if (end < 0)
        return pdk__fail(PDK_INVALID, "options: %s_file: %s: %s; name a regular file that may be read", secret->name,
                         secret->file, g_strerror(errno));
    if (end == 0 || (size_t)end > secret->most || strlen(line) != (size_t)end || strpbrk(line, "\r\n"))
        return pdk__fail(PDK_INVALID, "options: %s_file: %s: not one line of 1 to %zu bytes", secret->name,
                         secret->file, secret->most);
    return PDK_OK;
}

/* Take its one line, without its end. The buffer has room for a byte more than the longest line, so that anything
 * behind the line is seen. */
static pdk_status secret_take_file(const struct secret *secret, char **out, char **warning) {
    size_t size = secret->most + sizeof "\r\n" + 1;
    char *line = g_malloc0(size);
    mode_t mode = 0;
    ssize_t end = read_file(secret->file, line, size - 1, &mode);
    if (end > 0 && line[end - 1] == '\n')
        line[--end] = 0;
    if (end > 0 && line[end - 1] == '\r')
        line[--end] = 0;
    pdk_status status = secret_check_line(secret, line, end);
    if (status == PDK_OK)
        *out = g_strdup(line);
    if (status == PDK_OK && (mode & (S_IROTH | S_IWOTH)) && !*warning)
        *warning = g_strdup_printf("options: %s_file: %s: others may %s it; chmod o-rw it, and change the secret",
                                   secret->name, secret->file, mode & S_IWOTH ? "write" : "read");
    explicit_bzero(line, size);
    g_free(line);
    return status;
}

static pdk_status secret_take(const struct secret *secret, char **out, char **warning) {
    if (secret->text && secret->file)
        return pdk__fail(PDK_INVALID, "options: %s and %s_file: set one of them", secret->name, secret->name);
    if (secret->file)
        return secret_take_file(secret, out, warning);
    *out = g_strdup(secret->text);
    return PDK_OK;
}

static pdk_status credentials_check(const struct pdk__credentials *c) {
    if (c->digest && (!strchr(c->digest, ':') || c->digest[0] == ':' || strlen(c->digest) > DIGEST_MAX))
        return pdk__fail(PDK_INVALID, "options: digest is not \"user:password\"");
    if (c->tls && !pdk__zk_has_tls())
        return pdk__fail(PDK_UNSUPPORTED,
                         "options: tls: this build of libzookeeper has no TLS; leave it NULL, or use one "
                         "that has");
    return PDK_OK;
}

static pdk_status credentials_read_options(const pdk_session_options *options, struct pdk__credentials *out) {
    const struct secret digest = {"digest", options->digest, options->digest_file, DIGEST_MAX};
    const struct secret tls = {"tls", options->tls, options->tls_file, TLS_MAX};
    pdk_status status = secret_take(&digest, &out->digest, &out->warning);
    if (status != PDK_OK)
        return status;
    status = secret_take(&tls, &out->tls, &out->warning);
    return status == PDK_OK ? credentials_check(out) : status;
}

pdk_status pdk__credentials_take(pdk_session_options *options, struct pdk__credentials *out) {
    *out = (struct pdk__credentials){NULL, NULL, NULL};
    pdk_status status = credentials_read_options(options, out);
    options->digest = out->digest;
    options->tls = out->tls;
    return status;
}

void pdk__credentials_free(struct pdk__credentials *credentials) {
    wipe(credentials->digest);
    wipe(credentials->tls);
    g_free(credentials->warning);
    *credentials = (struct pdk__credentials){NULL, NULL, NULL};
}
