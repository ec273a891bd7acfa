/* What others wrote acts on no terminal, breaks no line and is UTF-8, in log lines and names. */
#include <glib.h>
#include <string.h>

#include "session/harmless.h"
#include "ts_check.h"

START_TEST(texts) {
    static const struct {
        const char *text, *harmless;
    } all[] = {
        {"", ""},
        {"web3:1500 Gr\xc3\xb6\xc3\x9f"
         "e \\",
         "web3:1500 Gr\xc3\xb6\xc3\x9f"
         "e \\"},
        {"a\nb\tc\x1b[2J\x7f", "a\\u{000a}b\\u{0009}c\\u{001b}[2J\\u{007f}"},
        {"\xc2\x9b"
         "2J", /* CSI, of C1 */
         "\\u{009b}2J"},
        {"\xe2\x80\xae"
         "gnp\xe2\x81\xa6", /* right-to-left override and isolate */
         "\\u{202e}gnp\\u{2066}"},
        {"\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}"},
        {"\xff\xc3(\xed\xa0\x80\xe2\x82", "\\xff\\xc3(\\xed\\xa0\\x80\\xe2\\x82"},
        {"\xf3\xa0\x81\x81", "\\u{e0041}"}, /* a tag */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        g_autofree char *harmless = pdk__harmless(all[i].text, strlen(all[i].text));
        ck_assert_str_eq(harmless, all[i].harmless);
    }
}
END_TEST

START_TEST(ends) {
    g_autofree char *within = pdk__harmless("abc", 2), *nul = pdk__harmless("a\0b", 3);
    ck_assert_str_eq(within, "ab");
    ck_assert_str_eq(nul, "a");
}
END_TEST

START_TEST(any_bytes) {
    g_autofree char *harmless = NULL;
    char text[256];
    for (int i = 0; i < 255; i++)
        text[i] = (char)(i + 1);
    harmless = pdk__harmless(text, 255);
    ck_assert(g_utf8_validate(harmless, -1, NULL));
    for (const char *c = harmless; *c; c = g_utf8_next_char(c))
        ck_assert(g_unichar_isprint(g_utf8_get_char(c)));
}
END_TEST

int main(void) { return ts_run("harmless", NULL, NULL, texts, ends, any_bytes, NULL); }
