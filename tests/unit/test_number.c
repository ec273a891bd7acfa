/* What an answer says of a number that all must agree about, and the words for a claim that fails of it. */
#include <stdlib.h>
#include <string.h>

#include "grant/number.h"
#include "ts_check.h"

static struct pdk__number number;

static void take(enum pdk__result result, const char *data, size_t size) {
    pdk__number_take(&number, &(struct pdk__reply){.result = result, .data = data, .data_size = size});
}

static void assert_says(enum pdk__number_says says, pdk_status status) {
    ck_assert_int_eq(number.says, says);
    ck_assert_int_eq(number.status, status);
}

static void assert_why(const char *why) {
    char *text = pdk__number_why(&number);
    ck_assert_str_eq(text, why);
    free(text);
}

static void begin(int32_t ours) { pdk__number_init(&number, "/slots", ours, "permits"); }

START_TEST(before_an_answer) {
    begin(INT32_MAX);
    assert_says(PDK__NUMBER_UNKNOWN, PDK_OK);
    ck_assert_str_eq(number.ours, "2147483647");
}
END_TEST

/* Byte for byte, whatever was found before; the data end nowhere else than they do. */
START_TEST(data_of_the_node) {
    static const struct {
        const char *data;
        size_t size;
        enum pdk__number_says says;
        pdk_status status;
    } all[] = {
        {"12", 2, PDK__NUMBER_AGREES, PDK_OK},         {NULL, 0, PDK__NUMBER_EMPTY, PDK_DAMAGED},
        {"123", 2, PDK__NUMBER_AGREES, PDK_OK},        {"", 0, PDK__NUMBER_EMPTY, PDK_DAMAGED},
        {"1", 1, PDK__NUMBER_OTHER, PDK_MISMATCH},     {"123", 3, PDK__NUMBER_OTHER, PDK_MISMATCH},
        {"12\0", 3, PDK__NUMBER_DAMAGED, PDK_DAMAGED}, {"\0", 1, PDK__NUMBER_DAMAGED, PDK_DAMAGED},
        {"012", 3, PDK__NUMBER_DAMAGED, PDK_DAMAGED},  {"12\n", 3, PDK__NUMBER_DAMAGED, PDK_DAMAGED},
        {"0", 1, PDK__NUMBER_DAMAGED, PDK_DAMAGED},    {"2147483648", 10, PDK__NUMBER_DAMAGED, PDK_DAMAGED},
    };
    begin(12);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        take(PDK__OK, all[i].data, all[i].size);
        assert_says(all[i].says, all[i].status);
    }
}
END_TEST

START_TEST(other_answers) {
    begin(12);
    take(PDK__NO_NODE, NULL, 0);
    assert_says(PDK__NUMBER_ABSENT, PDK_OK);
    take(PDK__NOT_ALLOWED, NULL, 0);
    assert_says(PDK__NUMBER_REFUSED, PDK_NO_PERMISSION);
    take(PDK__REFUSED, NULL, 0);
    assert_says(PDK__NUMBER_REFUSED, PDK_UNSUPPORTED);
    take(PDK__NOT_NOW, NULL, 0);
    assert_says(PDK__NUMBER_UNKNOWN, PDK_OK);
    take(PDK__OK, "12", 2);
    pdk__number_take(&number, NULL);
    assert_says(PDK__NUMBER_UNKNOWN, PDK_OK);
}
END_TEST

/* Of another request: nothing but a refusal for good changes what is known. */
START_TEST(refusals) {
    begin(12);
    take(PDK__NO_NODE, NULL, 0);
    ck_assert(!pdk__number_refused(&number, PDK__UNKNOWN) && !pdk__number_refused(&number, PDK__NODE_EXISTS));
    assert_says(PDK__NUMBER_ABSENT, PDK_OK);
    ck_assert(pdk__number_refused(&number, PDK__REFUSED));
    assert_says(PDK__NUMBER_REFUSED, PDK_UNSUPPORTED);
    ck_assert(pdk__number_refused(&number, PDK__NOT_ALLOWED));
    assert_says(PDK__NUMBER_REFUSED, PDK_NO_PERMISSION);
}
END_TEST

START_TEST(words) {
    begin(12);
    take(PDK__OK, "3", 1);
    assert_why(
        "/slots says that there are \"3\" permits, not 12: use the same number everywhere, or write 12 there while "
        "nobody uses the path");
    take(PDK__OK, "3\0\033\"\xff", 5);
    assert_why(
        "/slots has \"3\\000\\033\\\"\\377\", which is no number of permits: look who wrote it, and write 12 there "
        "while nobody uses the path");
    take(PDK__OK, "", 0);
    assert_why(
        "/slots has \"\", which is no number of permits: look who wrote it, and write 12 there while nobody uses "
        "the path");
    take(PDK__NOT_ALLOWED, NULL, 0);
    assert_why(
        "/slots: the number of permits, here 12, can be neither read nor recorded: let this client read and write "
        "it, and create what is missing of its path");
    take(PDK__REFUSED, NULL, 0);
    assert_why(
        "/slots: the number of permits, here 12, can be neither read nor recorded: the server refuses it, as below "
        "an ephemeral node: use another path");
}
END_TEST

/* 32 bytes of it are quoted, each with four characters at most. */
START_TEST(long_data) {
    char data[1000], found[4 * PDK__NUMBER_QUOTED + 1] = "";
    memset(data, 0xfe, sizeof data);
    for (int i = 0; i < PDK__NUMBER_QUOTED; i++)
        strcat(found, "\\376");
    begin(12);
    take(PDK__OK, data, sizeof data);
    assert_says(PDK__NUMBER_DAMAGED, PDK_DAMAGED);
    ck_assert_str_eq(number.found, found);
}
END_TEST

int main(void) {
    return ts_run("number", NULL, NULL, before_an_answer, data_of_the_node, other_answers, refusals, words, long_data,
                  NULL);
}
