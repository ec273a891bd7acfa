#include "status.h"

int cmd_status(pdk_status status) {
    switch (status) {
    case PDK_OK:
        return CMD_OK;
    case PDK_BUSY:
    case PDK_TIMEOUT:
        return CMD_TAKEN;
    case PDK_LOST:
        return CMD_LOST;
    case PDK_INVALID:
    case PDK_MISMATCH:
        return CMD_USAGE;
    case PDK_SYSTEM:
        return CMD_SOFTWARE;
    case PDK_AUTH:
    case PDK_NO_PERMISSION:
        return CMD_DENIED;
    default:
        return CMD_UNAVAILABLE;
    }
}
