/* Treat a failure by its kind, before its value. */
#include <paddock/paddock.h>
#include <stdio.h>
#include <stdlib.h>

/* The way a service goes on after an acquisition that failed. */
static const char *remedy(pdk_status status) {
    if (pdk_status_is_usage(status))
        return "the program is wrong, so mend it";
    if (pdk_status_is_lost(status))
        return "the session is over, so open another";
    if (pdk_status_is_retriable(status))
        return "try again later";
    return "tell an operator";
}

int main(void) {
    pdk_session *session;
    pdk_status status = pdk_session_open("no port", NULL, &session);

    if (status == PDK_OK)
        abort();
    printf("%s (%s)\n", pdk_status_name(status),
           pdk_status_text(status));
    printf("%s\n", pdk_last_error()); /* this one, in words */
    printf("%s\n", remedy(status));
    return 0;
}
