/* Checks that a call was refused as documented: with the status, and with a new error text that contains the word. */
#ifndef REFUSED_H
#define REFUSED_H

#include <paddock/status.h>

/* Fails the test when `got` is not `wanted`, or when the error text does not contain `word`. Then it empties the text,
 * so that an old text cannot pass for the next call's. */
void refused(pdk_status got, pdk_status wanted, const char *word);

#endif
