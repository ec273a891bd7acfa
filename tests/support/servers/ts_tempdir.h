/* Directories for server data: on tmpfs when there is one, removed at the end, swept when an earlier run was killed. */
#ifndef TS_TEMPDIR_H
#define TS_TEMPDIR_H

typedef struct ts_tempdir ts_tempdir;

/* Makes /dev/shm/paddock-test-XXXXXX, or the same under $TMPDIR or /tmp. NULL on failure. */
ts_tempdir *ts_tempdir_new(void);

/* Its path; valid until ts_tempdir_free. */
const char *ts_tempdir_path(const ts_tempdir *dir);

/* Removes it with all it holds. NULL is allowed. */
void ts_tempdir_free(ts_tempdir *dir);

#endif
