#include "json.h"

#include "module.h"
#include <dlfcn.h>

typedef bool (*start_fn)(char **why);
typedef void (*begin_fn)(GString *out, const char *name);
typedef void (*end_fn)(GString *out);
typedef void (*text_fn)(GString *out, const char *name, const char *text);
typedef void (*number_fn)(GString *out, const char *name, int64_t number);
typedef void (*boolean_fn)(GString *out, const char *name, bool value);

static void *module;

/* The module's function of the same name. */
static void *same(const char *name) { return dlsym(module, name); }

bool cmd_json_start(char **why) {
    module = cmd_module_load("json", why);
    return module && ((start_fn)same(__func__))(why);
}

void cmd_json_begin_object(GString *out, const char *name) { ((begin_fn)same(__func__))(out, name); }
void cmd_json_end_object(GString *out) { ((end_fn)same(__func__))(out); }
void cmd_json_begin_array(GString *out, const char *name) { ((begin_fn)same(__func__))(out, name); }
void cmd_json_end_array(GString *out) { ((end_fn)same(__func__))(out); }

void cmd_json_text(GString *out, const char *name, const char *text) { ((text_fn)same(__func__))(out, name, text); }
void cmd_json_token(GString *out, const char *name, int64_t token) { ((number_fn)same(__func__))(out, name, token); }

void cmd_json_session(GString *out, const char *name, int64_t session) {
    ((number_fn)same(__func__))(out, name, session);
}

void cmd_json_number(GString *out, const char *name, int64_t number) { ((number_fn)same(__func__))(out, name, number); }

void cmd_json_boolean(GString *out, const char *name, bool value) { ((boolean_fn)same(__func__))(out, name, value); }
void cmd_json_null(GString *out, const char *name) { ((begin_fn)same(__func__))(out, name); }
