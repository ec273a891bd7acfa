"""Mutants of the secrets of a session, which tests/integration/test_credentials.c judges, and of what it relies on
(test_protected.c).

name: (file, judge, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

CREDENTIALS = "credentials"
PROTECTED = "protected"
PROTECT = "src/session/protect.c"

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
    "no access control list is looked at": (PROTECT, PROTECTED, [
        ("return s->access.choice != PDK_ACCESS_OPEN && !s->access.accept_unprotected;", "(void)s;\n    return false;")]),
    "a directory that was made anew is taken for the one before": (PROTECT, PROTECTED, [
        ("look->known && look->token == token && look->acl_version", "look->known && look->acl_version")]),
    "a list that was changed is taken for the one before": (PROTECT, PROTECTED, [
        (" && look->acl_version == acl_version;", ";\n    (void)acl_version;")]),
    "a list is asked for each time": (PROTECT, PROTECTED, [
        ("    if (!look->known)\n        ask_for", "    ask_for")]),
    "a record's parent is not looked at": (PROTECT, PROTECTED, [
        ("absent ? PDK__PROTECTED : pdk__protect_judge(s, parent, above->token, above->acl_version, own);",
         "PDK__PROTECTED;\n    (void)absent;")]),
    "who may administer a directory does no harm": ("src/session/access.c", PROTECTED, [
        (" | PDK_PERMISSION_ADMIN)\n\n", ")\n\n")]),
    "an observer believes whatever it reads": (PROTECT, PROTECTED, [
        ("    return PDK__NOT_ALLOWED;\n", "    return result;\n")]),
    "an unprotected directory grants": ("src/core/contender.c", PROTECTED, [
        ("    if (e->unprotected)\n        fail(c, PDK_UNPROTECTED);\n", "")]),
    "a file counts for nothing": ("src/session/credentials.c", CREDENTIALS, [
        ("    if (secret->file)\n        return secret_take_file(secret, out, warning);\n", "")]),
    "nobody hears the log of a connection with TLS": ("src/zk/tls.c", CREDENTIALS, [
        ("    if (handle)\n        zoo_set_log_callback(handle, pdk__logs_queue);\n", "")]),
    "a connection without TLS where TLS was asked for": ("src/zk/client.c", CREDENTIALS, [
        ("    if (!config->tls)\n", "    if (config)\n")]),
}
