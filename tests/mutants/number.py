"""Mutants of a number that all users of a path must agree about, judged by its unit test.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

NUMBER = "src/grant/number.c"
MUTANTS = {
    "number: a zero byte ends it": (NUMBER, "number", [
        ("size == strlen(number->ours) && memcmp(data, number->ours, size) == 0", "strncmp(data, number->ours, size) == 0")]),
    "number: one that begins as ours is ours": (NUMBER, "number", [
        ("size == strlen(number->ours) && memcmp(data, number->ours, size) == 0", "size >= strlen(number->ours) && memcmp(data, number->ours, strlen(number->ours)) == 0")]),
    "number: a refusal of a read is asked again": (NUMBER, "number", [
        ("else if (!pdk__number_refused(number, result))\n        number_set", "else\n        number_set")]),
    "number: what others wrote is printed as it is": (NUMBER, "number", [
        ("byte[0] ? g_strescape(byte, NULL) : g_strdup(\"\\\\000\");", "byte[0] >= 0 ? g_strdup(byte) : g_strescape(byte, NULL);")]),
    "number: what others wrote is cut too early": (NUMBER, "number", [
        ("i < MIN(size, PDK__NUMBER_QUOTED); i++", "i < MIN(size, PDK__NUMBER_QUOTED - 1); i++")]),
}
