"""Mutants of a session's figures, judged by their tests: the text alone, or a session on a server.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

MUTANTS = {
    "figures: a path is written as it is": ("src/session/stats_text.c", "openmetrics", [
        ("*value == '\"' || *value == '\\\\' ? \"\\\\%c\" : \"%c\"", "\"%c\"")]),
    "figures: the samples of a path have no path": ("src/session/stats_text.c", "openmetrics", [
        ("        put_escaped(t, of->path);\n", "")]),
    "figures: every path has a row": ("src/session/path_stats.c", "figures", [
        ("stats->paths->len >= stats->paths_max", "false")]),
    "figures: readers and writers of a path are one": ("src/session/path_stats.c", "figures", [
        (" & g_str_equal(one->recipe, other->recipe)", ""),
        (" ^ g_str_hash(row->recipe)", "")]),
    "figures: a loss is the session's alone": ("src/session/stats.c", "figures", [
        ("    if (path)\n        lost(path, reason);", "    (void)path;")]),
    "figures: a hand-over is the session's alone": ("src/session/stats.c", "figures", [
        ("    if (path)\n        path->handovers++;", "    (void)path;")]),
    "figures: a place that is handed on is a hand-over": ("src/grant/queue.c", "figures", [
        ("        if (granted) {", "        if (true) {")]),
}
