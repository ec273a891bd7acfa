/* The tests' names for what libpaddock-testing has inside: testing/process.h. Child processes. */
#ifndef TS_PROCESS_H
#define TS_PROCESS_H

#include "testing/process.h"

#define ts_fill_standard pdk__test_fill_standard
#define ts_spawn pdk__test_spawn
#define ts_pause pdk__test_pause
#define ts_resume pdk__test_resume
#define ts_kill pdk__test_kill
#define ts_wait pdk__test_wait
#define ts_alive pdk__test_alive

#endif
