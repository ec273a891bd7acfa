/* Directories for server data: on tmpfs when there is one, removed at the end, swept when an earlier run was killed. */
#ifndef TESTING_TEMPDIR_H
#define TESTING_TEMPDIR_H

typedef struct pdk__test_tempdir pdk__test_tempdir;

/* A folder that the caller has named, and that stays; it is made if it is missing. NULL, and the reason is said. */
pdk__test_tempdir *pdk__test_tempdir_keep(const char *path);

/* Makes /dev/shm/paddock-test-XXXXXX, or the same under $TMPDIR or /tmp. NULL, and the reason is said. */
pdk__test_tempdir *pdk__test_tempdir_new(void);
/* The same below this folder, whose leavings are swept first: folders with our marker, which nobody locks. NULL: it
 * cannot be. */
pdk__test_tempdir *pdk__test_tempdir_below(const char *base);

/* Its path; valid until pdk__test_tempdir_free. */
const char *pdk__test_tempdir_path(const pdk__test_tempdir *dir);

/* Removes it with all it holds, unless it is to stay. NULL is allowed. */
void pdk__test_tempdir_free(pdk__test_tempdir *dir);

#endif
