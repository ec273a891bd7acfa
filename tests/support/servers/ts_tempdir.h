/* The tests' names for what libpaddock-testing has inside: testing/tempdir.h. Folders for the servers' data. */
#ifndef TS_TEMPDIR_H
#define TS_TEMPDIR_H

#include "testing/tempdir.h"

typedef pdk__test_tempdir ts_tempdir;

#define ts_tempdir_new pdk__test_tempdir_new
#define ts_tempdir_below pdk__test_tempdir_below
#define ts_tempdir_path pdk__test_tempdir_path
#define ts_tempdir_free pdk__test_tempdir_free

#endif
