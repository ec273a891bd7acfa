#include "module.h"

#include <dlfcn.h>
#include <glib.h>

/* It is beside the program, wherever that has been moved to. A system without /proc does not tell where the program is:
 * then the module is where it was installed. */
static char *find(const char *name) {
    g_autofree char *file = g_strconcat(name, ".so", NULL);
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = program ? g_path_get_dirname(program) : NULL;
    g_autofree char *beside = folder ? g_build_filename(folder, CMD_MODULES, file, NULL) : NULL;
    if (beside && g_file_test(beside, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&beside);
    return g_build_filename(CMD_MODULES_INSTALLED, file, NULL);
}

void *cmd_module_load(const char *name, char **why) {
    g_autofree char *path = find(name);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        *why = g_strdup(dlerror());
    return module;
}
