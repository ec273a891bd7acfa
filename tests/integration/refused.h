/* Checks that a call was refused as documented: with the status, and with an error text of its own that has the word. */
#ifndef REFUSED_H
#define REFUSED_H

#include <paddock/status.h>

/* Fails the test when `got` is another status than `wanted`, or when the error text does not contain `word`. The text is
 * then emptied, so that the next call's is the next call's. */
void refused(pdk_status got, pdk_status wanted, const char *word);

#endif
