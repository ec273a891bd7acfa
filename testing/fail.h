/* The reason of the last failure of a thread, in words. */
#ifndef TESTING_FAIL_H
#define TESTING_FAIL_H

#include <glib.h>

/* Sets the text that pdk_test_last_error returns from now on. It names the failure, and the remedy. */
void pdk__test_fail(const char *format, ...) G_GNUC_PRINTF(1, 2);

#endif
