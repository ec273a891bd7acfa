"""Mutants of the fence, and the unit tests that judge them.

name: (file, judge, [(text, its replacement) or (other file, text, its replacement)…]); see mutants.
"""

MARK, FILE, MAP = "fence", "fence_file", "fence_map"

MUTANTS = {
    "a hand-over that is equal is stale": ("src/fence/mark.c", MARK, [
        ("pdk__mark_is_writers(mark) && handover < mark->handover", "pdk__mark_is_writers(mark) && handover <= mark->handover")]),
    "a former hand-over is admitted": ("src/fence/mark.c", MARK, [
        ("if (token < top || (token == top && pdk__mark_is_writers(mark) && handover < mark->handover))", "if (token < top)")]),
    "an older writer is admitted": ("src/fence/mark.c", MARK, [
        ("    if (token < top || (token == top", "    if ((token == top")]),
    "readers exclude each other": ("src/fence/mark.c", MARK, [
        ("return !by_writer && admit_below(mark, token, handover);", "return false;")]),
    "a reader below the writer is admitted": ("src/fence/mark.c", MARK, [
        ("if (token < mark->floor || (token", "if ((token")]),
    "a reader hides the writer below it": ("src/fence/mark.c", MARK, [
        ("    if (by_writer)\n        mark->floor = top;\n", "")]),
    "a reader's floor is not kept": ("src/fence/cell.c", MARK, [
        ("        raise_floor(cell, to->floor);\n    pair *words", "        (void)raise_floor;\n    pair *words"),
        ("            raise_floor(cell, to->floor);\n        atomic_store", "            (void)raise_floor;\n        atomic_store")]),
    "the newest slot is written over": ("src/fence/file.c", FILE, [
        ("(int64_t)(1 - slots.newest) * PDK__SLOT_STRIDE", "(int64_t)slots.newest * PDK__SLOT_STRIDE")]),
    "a torn slot counts": ("src/fence/slots.c", FILE, [
        (" && slot->checksum == checksum(slot);", ";")]),
    "halves of two files are one": ("src/fence/slots.c", FILE, [
        ("if (first && second && slots[0]", "if (false && second && slots[0]")]),
    "the older slot counts": ("src/fence/slots.c", FILE, [
        ("slots[0].serial - slots[1].serial == 1) ? 0 : 1;", "slots[0].serial - slots[1].serial == 1) ? 1 : 0;")]),
    "a file of another size is a fence": ("src/fence/file.c", FILE, [
        ("facts.st_size == PDK__SLOTS_SIZE ? NULL", "facts.st_size >= 0 ? NULL")]),
    "a file that was deleted is a fence": ("src/fence/file.c", FILE, [
        ("if (facts.st_nlink == 0)", "if (false)")]),
    "a child shares its parent's lock": ("src/fence/file.c", FILE, [
        ("if (file->forks != pdk__forks())", "if (false)")]),
    "nobody locks the file": ("src/fence/file.c", FILE, [
        ("    while (fcntl(file->fd, F_OFD_SETLKW, &whole) != 0)", "    while (false && fcntl(file->fd, F_OFD_SETLKW, &whole) != 0)")]),
    "a thread is cancelled with the file": ("src/fence/file.c", FILE, [
        ("    pdk__cancel_shut();\n    pthread_cleanup_pop(0);", "    pthread_cleanup_pop(0);")]),
    "a cancelled thread keeps the file": ("src/fence/file.c", FILE, [
        ("    file_end(file);\n    pdk__leave_run_after();", "    (void)file_end;\n    (void)file;\n    pdk__leave_run_after();")]),
    "a cancelled open keeps its descriptor": ("src/fence/file_open.c", FILE, [
        (".after = close_fence, .user = fence}", ".user = close_fence}")]),
    "whoever waits for the file cannot be cancelled": ("src/fence/file.c", FILE, [
        ("pdk__cancel_is_outermost() ? wait_cancellable(file)", "false ? wait_cancellable(file)")]),
    "the file is the standard error": ("src/fence/file_open.c", FILE, [
        ("    return pdk__above_standard(fd);", "    return fd;")]),
    "a stale write is made": ("src/fence/file.c", FILE, [
        ("if (status == PDK_OK && !pdk__write_at(fd,", "if (!pdk__write_at(fd,")]),
    "a file's mark stays in memory": ("src/fence/fence.c", FILE, [
        ("    if (fence->file)\n        return pdk__file_admit(", "    if (false)\n        return pdk__file_admit(")]),
    "memory says that it writes": ("src/fence/fence.c", MARK, [
        ("        return pdk__fail(PDK_UNSUPPORTED,", "        return (void)pdk__fail(PDK_UNSUPPORTED,"), ("one lock of your own\",\n                         call);", "one lock of your own\",\n                         call), PDK_OK;")]),
    "a missing mark is made anew unasked": ("src/fence/file_open.c", FILE, [
        ("errno == ENOENT && may_create && create(path)", "errno == ENOENT && create(path)")]),
    "a full map takes more": ("src/fence/map.c", MAP, [
        ("        if (count >= map->capacity)\n            return false;\n", "")]),
    "a name is its hash alone, cut short": ("src/fence/map.c", MAP, [
        ("pdk__hash(map->key, bytes, size)}", "pdk__hash(map->key, bytes, size) % 1}"),
        ("(*at)->name_size != name->size ||\n                   memcmp(", "(*at)->name_size != name->size ||\n                   false && memcmp(")]),
    "a map that grows loses names": ("src/fence/map.c", MAP, [
        ("            node->next = *at;\n            *at = node;", "            node->next = NULL;\n            *at = node;")]),
}
