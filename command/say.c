#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

bool cmd_quiet, cmd_verbose;
gboolean cmd_timestamps;

/* Separators of lines and paragraphs are printable for GLib. */
static bool is_harmless(gunichar c) {
    GUnicodeType type = g_unichar_type(c);
    return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

char *cmd_escape(const char *text) {
    GString *out = g_string_new(NULL);
    const char *end = text + strlen(text);
    while (text < end) {
        gunichar c = g_utf8_get_char_validated(text, end - text);
        if (c == (gunichar)-1 || c == (gunichar)-2) {
            g_string_append_printf(out, "\\x%02x", (unsigned)(unsigned char)*text++);
            continue;
        }
        if (c == '\\')
            g_string_append(out, "\\\\");
        else if (c < 0x80 && !g_ascii_isprint((char)c))
            g_string_append_printf(out, "\\x%02x", c);
        else if (!is_harmless(c))
            g_string_append_printf(out, "\\u{%04x}", c);
        else
            g_string_append_unichar(out, c);
        text = g_utf8_next_char(text);
    }
    return g_string_free(out, FALSE);
}

/* ---- words that hold up nothing
 *
 * A pipe that nobody reads, and a terminal that is stopped, keep a writer waiting. A deadline may pass meanwhile, so a
 * line that does not fit is left out. Non-blocking is a property of an open file, which others share; so pipes and
 * terminals are opened once more. */

static int open_words(void) {
    struct stat where;
    if (fstat(STDERR_FILENO, &where) || !(S_ISFIFO(where.st_mode) || S_ISCHR(where.st_mode)))
        return STDERR_FILENO;
    int low = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    int words = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (low >= 0)
        close(low);
    return words < 0 ? STDERR_FILENO : words; /* without /proc, or on a terminal of another user: poll alone */
}

ssize_t cmd_write_now(int descriptor, const char *text, size_t size) {
    struct pollfd room = {.fd = descriptor, .events = POLLOUT};
    ssize_t sent = send(descriptor, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK)
        return sent;
    if (poll(&room, 1, 0) == 1 && room.revents & POLLOUT)
        return write(descriptor, text, size);
    errno = EAGAIN;
    return -1;
}

void cmd_fill_standard(void) {
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDWR); /* takes the lowest number that is free */
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
}

/* A pipe takes so much as a whole, or nothing of it. */
static void cut_to_pipe(char *line) {
    static const char end[] = "…\n";
    size_t length = PIPE_BUF - strlen(end);
    if (strlen(line) <= PIPE_BUF)
        return;
    while (((unsigned char)line[length] & 0xc0) == 0x80) /* inside of a character */
        length--;
    memcpy(line + length, end, sizeof end);
}

/* ---- the line that is drawn */

static char *drawn; /* as it stands on the terminal, or NULL */
static const char erase[] = "\r\033[K";

bool cmd_can_draw(void) {
    const char *kind = g_getenv("TERM");
    return !cmd_quiet && isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0 &&
           tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/* The last column stays free, since some terminals begin another line when it is filled. */
static void cut_to_terminal(char *line) {
    struct winsize size;
    int left = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2 ? 79 : size.ws_col - 1;
    char *at = line;
    while (*at && left >= 0) {
        gunichar c = g_utf8_get_char(at);
        left -= g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
        at = left < 0 ? at : g_utf8_next_char(at);
    }
    *at = '\0';
}

/* ---- lines */

/* The beginning of a line: the time, or nothing. g_free it. */
static char *moment(void) {
    g_autoptr(GDateTime) now = cmd_timestamps ? g_date_time_new_now_utc() : NULL;
    g_autofree char *second = now ? g_date_time_format(now, "%Y-%m-%dT%H:%M:%S") : NULL;
    return now ? g_strdup_printf("%s.%03dZ ", second, g_date_time_get_microsecond(now) / 1000) : g_strdup("");
}

/* A line is one write, so that the lines of several processes do not mix. true: it was taken. */
static bool write_words(const char *text) {
    static int words = -1;
    if (words < 0)
        words = open_words();
    return cmd_write_now(words, text, strlen(text)) == (ssize_t)strlen(text);
}

/* errno stays, since the words are about it. */
static void say(const char *format, va_list arguments) {
    int error = errno;
    static unsigned missing; /* lines that were left out since the last one that was written */
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    g_autofree char *safe = cmd_escape(text), *when = moment();
    g_autofree char *before =
        missing ? g_strdup_printf("paddock: %u lines before this one found no reader\n", missing) : NULL;
    g_autofree char *line =
        g_strdup_printf("%s%s%spaddock: %s\n", drawn ? erase : "", before ? before : "", when, safe);
    cut_to_pipe(line);
    missing = write_words(line) ? 0 : missing + 1;
    if (drawn)
        (void)write_words(drawn);
    errno = error;
}

void cmd_draw(const char *text) {
    g_autofree char *old = drawn;
    drawn = NULL;
    if (text) {
        g_autofree char *safe = cmd_escape(text);
        cut_to_terminal(safe);
        drawn = g_strconcat(erase, safe, NULL);
    }
    if (g_strcmp0(old, drawn) != 0)
        (void)write_words(drawn ? drawn : erase);
}

void cmd_error(const char *format, ...) {
    va_list arguments;
    if (cmd_quiet)
        return;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void cmd_say(const char *format, ...) {
    va_list arguments;
    if (cmd_quiet)
        return;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void cmd_tell(const char *format, ...) {
    va_list arguments;
    if (!cmd_verbose)
        return;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void cmd_answer(const char *format, ...) {
    va_list arguments;
    if (cmd_quiet || !(cmd_verbose || isatty(STDERR_FILENO)))
        return;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}
