/* Functions of an ensemble beyond the public ones, for Paddock's own tests. */
#ifndef TESTING_ENSEMBLE_H
#define TESTING_ENSEMBLE_H

#include <paddock/testing.h>

#include "fourletter.h"

/* The mode that node i reports. */
pdk__test_server_mode pdk__test_ensemble_mode(const pdk_test_ensemble *e, int i);

#endif
