/* The ensembles: the nodes of their queues. */
#include "majority_model.h"

enum { STRANGER = 64, LEFT = 128 };

static void delete_at(struct majority_world *w, int ensemble, int at) {
    uint8_t *nodes = w->nodes[ensemble];
    w->count[ensemble]--;
    for (int i = at; i < w->count[ensemble]; i++)
        nodes[i] = nodes[i + 1];
    nodes[w->count[ensemble]] = 0;
}

static int find(const struct majority_world *w, int ensemble, uint8_t node) {
    for (int i = 0; i < w->count[ensemble]; i++)
        if (w->nodes[ensemble][i] == node)
            return i;
    return -1;
}

/* All of them. */
static bool delete_all(struct majority_world *w, int ensemble, uint8_t node) {
    int at;
    bool any = false;
    for (; (at = find(w, ensemble, node)) >= 0; any = true)
        delete_at(w, ensemble, at);
    return any;
}

/* A caller's number from 1 on, so that no node is 0. */
static uint8_t node_of(int caller) { return (uint8_t)(caller + 1); }

void majority_block(struct majority_world *w, int ensemble) { w->nodes[ensemble][w->count[ensemble]++] = STRANGER; }

bool majority_has_node(const struct majority_world *w, int caller, int ensemble) {
    return find(w, ensemble, node_of(caller)) >= 0;
}

bool majority_is_first(const struct majority_world *w, int caller, int ensemble) {
    return find(w, ensemble, node_of(caller)) == 0;
}

void majority_enqueue(struct majority_world *w, int caller, int ensemble) {
    if (!w->cut[caller][ensemble] && w->count[ensemble] < MAJORITY_NODES)
        w->nodes[ensemble][w->count[ensemble]++] = node_of(caller);
}

void majority_leave(struct majority_world *w, int caller, int ensemble) {
    int at = find(w, ensemble, node_of(caller));
    if (at < 0)
        return;
    if (w->cut[caller][ensemble])
        w->nodes[ensemble][at] |= LEFT;
    else
        delete_at(w, ensemble, at);
}

bool majority_expire(struct majority_world *w, int caller, int ensemble) {
    bool standing = delete_all(w, ensemble, node_of(caller));
    return delete_all(w, ensemble, node_of(caller) | LEFT) || standing;
}

void majority_heal(struct majority_world *w, int caller, int ensemble) {
    w->cut[caller][ensemble] = 0;
    delete_all(w, ensemble, node_of(caller) | LEFT);
}
