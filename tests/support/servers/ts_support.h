/* All headers of this folder that tests use. */
#ifndef TS_SUPPORT_H
#define TS_SUPPORT_H

#include "ts_clock.h"
#include "ts_ensemble.h"
#include "ts_expire.h"
#include "ts_fourletter.h"
#include "ts_observer.h"
#include "ts_ports.h"
#include "ts_process.h"
#include "ts_proxy.h"
#include "ts_tempdir.h"

#endif
