/* Descriptors 0, 1 and 2, to which any part of a program writes words. A process may lack one of them. The next file,
 * socket or pipe that is opened gets its number then, and the words go into it.
 *
 *     a descriptor of our own          ──► pdk__above_standard: it stands above 2
 *     one of a library that we call    ──► pdk__fill_standard, before: /dev/null stands in each place that is empty
 */
#ifndef PDK_BASE_STANDARD_H
#define PDK_BASE_STANDARD_H

/* The same file under a number above 2, close-on-exec. `fd` is closed if it was another one. -1 stays -1; a failure
 * closes `fd`, and errno says why. */
int pdk__above_standard(int fd);

/* Open /dev/null as each of 0, 1 and 2 that is closed. They stay open, also across an exec. Without /dev/null nothing
 * happens. */
void pdk__fill_standard(void);

#endif
