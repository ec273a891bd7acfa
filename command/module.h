/* The command's modules: each has a library that is slow to be loaded, and that most verbs do without. */
#ifndef CMD_MODULE_H
#define CMD_MODULE_H

/* For dlsym(3). It stays until the program ends. NULL: *why names the file that is missing (g_free). */
void *cmd_module_load(const char *name, char **why);

#endif
