/* See refused.h. */
#include "refused.h"

#include <check.h>
#include <string.h>

#include "base/text.h"

void refused(pdk_status got, pdk_status wanted, const char *word) {
    ck_assert_msg(got == wanted, "%s instead of %s (%s); %s", pdk_status_name(got), pdk_status_name(wanted), word,
                  pdk_last_error());
    ck_assert_msg(strstr(pdk_last_error(), word) != NULL, "\"%s\" does not say \"%s\"", pdk_last_error(), word);
    pdk__fail(PDK_OK, "%s", "");
}
