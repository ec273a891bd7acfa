/* The fake ZooKeeper's packets as the driver's sink gets them: paths and texts instead of numbers. */
#include "fake_zk.h"

#include <string.h>

/* The list of every node. */
static const pdk_access_entry everybody = {PDK_PERMISSION_ALL, "world", "anyone"};

static void deliver_event(const struct ts_fake_names *names, const struct ts_fake_reply *event,
                          const struct pdk__zk_sink *sink, void *driver, pdk__zk *zk) {
    static const enum pdk__zk_event events[] = {
        [TS_FAKE_DELETED] = PDK__ZK_DELETED,
        [TS_FAKE_CHANGED] = PDK__ZK_CHANGED,
        [TS_FAKE_CHILDREN] = PDK__ZK_CHILDREN,
    };
    char path[2 * TS_FAKE_TEXT];
    size_t n = strlen(names->directory);
    memcpy(path, names->directory, n + 1);
    if (event->name.mark != 0) {
        path[n] = '/';
        ts_fake_name_text(names, event->name, path + n + 1);
    }
    sink->watch(driver, zk, path, events[event->packet]);
}

static void deliver_reply(const struct ts_fake_names *names, const struct ts_fake_reply *r,
                          const struct pdk__zk_sink *sink, void *driver, pdk__zk *zk) {
    char name[TS_FAKE_TEXT], texts[TS_FAKE_NODES][TS_FAKE_TEXT];
    const char *children[TS_FAKE_NODES];
    for (int32_t i = 0; i < r->count; i++) {
        ts_fake_name_text(names, r->children[i], texts[i]);
        children[i] = texts[i];
    }
    struct pdk__reply reply = {.tag = r->tag, .result = r->result, .token = r->token};
    if (r->kind == PDK__OP_STAT || r->kind == PDK__OP_GET || r->kind == PDK__OP_ACL)
        reply.owner = r->owner + 1; /* session ids count from 1; 0: not ephemeral */
    if (r->kind == PDK__OP_CREATE && r->result == PDK__OK) {
        ts_fake_name_text(names, r->name, name);
        reply.name = name;
    }
    if (r->kind == PDK__OP_LIST && r->result == PDK__OK) {
        reply.children = children;
        reply.children_count = (size_t)r->count;
    }
    if (r->kind == PDK__OP_ACL && r->result == PDK__OK) {
        reply.acl = &everybody;
        reply.acl_count = 1;
    }
    sink->reply(driver, zk, &reply);
}

void ts_fake_deliver(const struct ts_fake_names *names, const struct ts_fake_reply *packet,
                     const struct pdk__zk_sink *sink, void *driver, pdk__zk *zk) {
    if (packet->packet == TS_FAKE_REPLY)
        deliver_reply(names, packet, sink, driver, zk);
    else
        deliver_event(names, packet, sink, driver, zk);
}
