#include "zk/descriptors.h"

#include <dirent.h>
#include <stdlib.h>

GArray *pdk__descriptors(void) {
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return NULL;
    GArray *numbers = g_array_new(FALSE, FALSE, sizeof(int));
    for (struct dirent *entry; (entry = readdir(dir));) {
        int number = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && number != dirfd(dir))
            g_array_append_val(numbers, number);
    }
    closedir(dir);
    return numbers;
}
