/* See refused.h. */
#include "refused.h"

#include <check.h>
#include <string.h>

#include "base/text.h"

void refused(pdk_status got, pdk_status wanted, const char *word) {
    ck_assert_msg(got == wanted, "%s instead of %s (%s); %s", pdk_status_name(got), pdk_status_name(wanted), word,
                  pdk_error_text());
    ck_assert_msg(strstr(pdk_error_text(), word) != NULL, "\"%s\" does not say \"%s\"", pdk_error_text(), word);
    pdk__fail(PDK_OK, "%s", "");
}
