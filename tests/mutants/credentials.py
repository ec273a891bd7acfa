"""Mutants of the secrets of a session, which tests/integration/test_credentials.c judges.

name: (file, judge, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

CREDENTIALS = "credentials"

MUTANTS = {
    "the TLS string is not wiped": ("src/session/credentials.c", CREDENTIALS, [
        ("    wipe(credentials->tls);\n", "    g_free(credentials->tls);\n")]),
    "what was read of a file is not wiped": ("src/session/credentials.c", CREDENTIALS, [
        ("    explicit_bzero(line, size);\n", "")]),
    "a refusal leaves the other secret behind": ("src/session/open.c", CREDENTIALS, [
        ("        pdk__credentials_free(&credentials);\n", "")]),
    "a pipe is read": ("src/session/credentials.c", CREDENTIALS, [
        ("if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))", "if (fstat(fd, &stat) == 0)")]),
    "a second line is no harm": ("src/session/credentials.c", CREDENTIALS, [
        (' || strpbrk(line, "\\r\\n"))', ")")]),
    "what follows the longest line is not seen": ("src/session/credentials.c", CREDENTIALS, [
        ('secret->most + sizeof "\\r\\n" + 1;', 'secret->most + sizeof "\\r\\n";')]),
    "a file is read once": ("src/session/credentials.c", CREDENTIALS, [
        ("(got > 0 && length < size) || ", "")]),
    "a file counts for nothing": ("src/session/credentials.c", CREDENTIALS, [
        ("    if (secret->file)\n        return take_file(secret, out);\n", "")]),
    "nobody hears the log of a connection with TLS": ("src/zk/tls.c", CREDENTIALS, [
        ("    if (handle)\n        zoo_set_log_callback(handle, pdk__logs_queue);\n", "")]),
    "a connection without TLS where TLS was asked for": ("src/zk/client.c", CREDENTIALS, [
        ("    if (!config->tls)\n", "    if (config)\n")]),
}
