/* hang.h - work that should take a moment, and goes on for ever, ends the program: whoever started
 * it would wait as long. */
#ifndef RLAR_VERIFY_HANG_H
#define RLAR_VERIFY_HANG_H

#include <unistd.h>

enum { HANG = 600 }; /* seconds */

/* What begins now, until the next begins: SIGALRM else. */
static inline void must_end(void) {
    alarm(HANG);
}

#endif
