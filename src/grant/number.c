#include "grant/number.h"

#include "core/sequencer.h"

#include <glib.h>
#include <string.h>

static void number_set(struct pdk__number *number, enum pdk__number_says says, pdk_status status) {
    number->says = says;
    number->status = status;
}

void pdk__number_init(struct pdk__number *number, const char *path, int32_t ours, const char *unit) {
    *number = (struct pdk__number){.path = path, .unit = unit};
    g_snprintf(number->ours, sizeof number->ours, "%d", ours);
    number_set(number, PDK__NUMBER_UNKNOWN, PDK_OK);
}

/* Quote byte by byte, since a zero ends no data. */
static void number_quote(struct pdk__number *number, const char *data, size_t size) {
    char *end = number->found;
    for (size_t i = 0; i < MIN(size, PDK__NUMBER_QUOTED); i++) {
        const char byte[] = {data[i], '\0'};
        char *escaped = byte[0] ? g_strescape(byte, NULL) : g_strdup("\\000");
        end = g_stpcpy(end, escaped);
        g_free(escaped);
    }
    *end = '\0';
}

/* A number from 1 to 2^31 - 1, as we write it, and nothing else. Of data that are not empty. */
static bool is_number(const char *data, size_t size) {
    uint64_t value;
    return data[0] != '0' && pdk__number_parse(data, size, 1, INT32_MAX, &value);
}

static void number_compare(struct pdk__number *number, const char *data, size_t size) {
    number_quote(number, data, size);
    if (size == 0)
        number_set(number, PDK__NUMBER_EMPTY, PDK_DAMAGED);
    else if (size == strlen(number->ours) && memcmp(data, number->ours, size) == 0)
        number_set(number, PDK__NUMBER_AGREES, PDK_OK);
    else if (is_number(data, size))
        number_set(number, PDK__NUMBER_OTHER, PDK_MISMATCH);
    else
        number_set(number, PDK__NUMBER_DAMAGED, PDK_DAMAGED);
}

void pdk__number_take(struct pdk__number *number, const struct pdk__reply *reply) {
    enum pdk__result result = reply ? reply->result : PDK__UNKNOWN;
    if (result == PDK__OK)
        number_compare(number, reply->data, reply->data_size);
    else if (result == PDK__NO_NODE)
        number_set(number, PDK__NUMBER_ABSENT, PDK_OK);
    else if (!pdk__number_refused(number, result))
        number_set(number, PDK__NUMBER_UNKNOWN, PDK_OK);
}

bool pdk__number_refused(struct pdk__number *number, enum pdk__result result) {
    if (result != PDK__NOT_ALLOWED && result != PDK__REFUSED)
        return false;
    number_set(number, PDK__NUMBER_REFUSED, result == PDK__NOT_ALLOWED ? PDK_NO_PERMISSION : PDK_UNSUPPORTED);
    return true;
}

char *pdk__number_why(const struct pdk__number *number) {
    if (number->says == PDK__NUMBER_OTHER)
        return g_strdup_printf(
            "%s says that there are \"%s\" %s, not %s: use the same number everywhere, or write %s there "
            "while nobody uses the path",
            number->path, number->found, number->unit, number->ours, number->ours);
    if (number->says == PDK__NUMBER_REFUSED)
        return g_strdup_printf("%s: the number of %s, here %s, can be neither read nor recorded: %s", number->path,
                               number->unit, number->ours,
                               number->status == PDK_NO_PERMISSION
                                   ? "let this client read and write it, and create what is missing of its path"
                                   : "the server refuses it, as below an ephemeral node: use another path");
    return g_strdup_printf(
        "%s has \"%s\", which is no number of %s: look who wrote it, and write %s there while nobody "
        "uses the path",
        number->path, number->found, number->unit, number->ours);
}
