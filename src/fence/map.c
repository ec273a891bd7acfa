/* Many fences, by name. The names are spread over shards. Each shard has a lock that readers share: an admit of a known
 * name shares it with all others, and is lock-free below it. Only a call for a new name, or one that forgets a name,
 * takes it alone. */
#include "base/cancel.h"
#include "base/text.h"
#include "fence/cell.h"
#include "fence/hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { SHARDS = 64, BUCKETS_FIRST = 16, NAME_MAX_BYTES = 4096 };

/* While others look at a node, only its cell changes. All but the name is one cache line, which has room for a short
 * one too. */
struct node {
    _Alignas(PDK__CELL_LINE) struct pdk__cell cell;
    uint64_t hash;
    struct node *next;
    uint32_t name_size;
    char name[];
};

struct shard {
    _Alignas(64) pthread_rwlock_t lock;
    struct node **buckets;
    size_t size, count; /* of buckets, a power of two; of names */
    struct node *first[BUCKETS_FIRST];
};

struct pdk_fence_map {
    struct shard shards[SHARDS];
    uint64_t key[2];
    size_t capacity;
    atomic_size_t count;
};

struct name {
    const void *bytes;
    size_t size;
    uint64_t hash;
};

static struct shard *shard_of(struct pdk_fence_map *map, const struct name *name) {
    return &map->shards[name->hash % SHARDS];
}

static struct node **bucket_of(struct node **buckets, size_t size, uint64_t hash) {
    return &buckets[(hash / SHARDS) & (size - 1)];
}

/* The place where the node hangs; or where it would, which holds NULL then. */
static struct node **find(const struct shard *shard, const struct name *name) {
    struct node **at = bucket_of(shard->buckets, shard->size, name->hash);
    while (*at && ((*at)->hash != name->hash || (*at)->name_size != name->size ||
                   memcmp((*at)->name, name->bytes, name->size) != 0))
        at = &(*at)->next;
    return at;
}

static void free_buckets(struct shard *shard) {
    if (shard->buckets != shard->first)
        free(shard->buckets);
}

/* false: no memory; the buckets stay as they are. */
static bool grow(struct shard *shard) {
    size_t size = shard->size * 2;
    struct node **wider = calloc(size, sizeof(struct node *));
    if (!wider)
        return false;
    for (size_t i = 0; i < shard->size; i++)
        for (struct node *node = shard->buckets[i], *next; node; node = next) {
            struct node **at = bucket_of(wider, size, node->hash);
            next = node->next;
            node->next = *at;
            *at = node;
        }
    free_buckets(shard);
    shard->buckets = wider;
    shard->size = size;
    return true;
}

static struct node *new_node(const struct name *name) {
    size_t used = offsetof(struct node, name) + name->size;
    struct node *node = aligned_alloc(PDK__CELL_LINE, (used + PDK__CELL_LINE - 1) / PDK__CELL_LINE * PDK__CELL_LINE);
    if (!node)
        return NULL;
    pdk__cell_init(&node->cell);
    node->hash = name->hash;
    node->next = NULL;
    node->name_size = (uint32_t)name->size;
    memcpy(node->name, name->bytes, name->size);
    return node;
}

/* One more name, unless the map is full. */
static bool reserve(struct pdk_fence_map *map) {
    size_t count = atomic_load(&map->count);
    do {
        if (count >= map->capacity)
            return false;
    } while (!atomic_compare_exchange_weak(&map->count, &count, count + 1));
    return true;
}

/* The shard is locked for this thread alone. */
static pdk_status insert(struct pdk_fence_map *map, struct shard *shard, const char *call, const struct name *name,
                         struct node **place) {
    if (!reserve(map))
        return pdk__fail(PDK_LIMIT, "%s: the map is full with %zu names; forget some, or make a larger one", call,
                         map->capacity);
    struct node *node = new_node(name);
    if (!node) {
        atomic_fetch_sub(&map->count, 1);
        return pdk__fail(PDK_SYSTEM, "%s: no memory", call);
    }
    *place = node;
    /* Fuller buckets are slower, and nothing else. */
    if (++shard->count > shard->size)
        (void)grow(shard);
    return PDK_OK;
}

static pdk_status admit_new(struct pdk_fence_map *map, const char *call, const struct name *name, int64_t token,
                            uint32_t handover, enum pdk__use use) {
    struct shard *shard = shard_of(map, name);
    pthread_rwlock_wrlock(&shard->lock);
    struct node **place = find(shard, name);
    pdk_status status = *place ? PDK_OK : insert(map, shard, call, name, place);
    if (status == PDK_OK)
        status = pdk__cell_admit(&(*find(shard, name))->cell, call, token, handover, use);
    pthread_rwlock_unlock(&shard->lock);
    return status;
}

/* false: the error text says why. */
static bool is_name(const char *call, const struct pdk_fence_map *map, const void *bytes, size_t size) {
    if (!map || !bytes) {
        (void)pdk__fail(PDK_INVALID, "%s: %s: is NULL", call, map ? "name" : "map");
        return false;
    }
    if (size == 0 || size > NAME_MAX_BYTES) {
        (void)pdk__fail(PDK_INVALID, "%s: size: %zu bytes; a name has 1 to %d", call, size, NAME_MAX_BYTES);
        return false;
    }
    return true;
}

static struct name name_of(const struct pdk_fence_map *map, const void *bytes, size_t size) {
    return (struct name){bytes, size, pdk__hash(map->key, bytes, size)};
}

static pdk_status map_admit(struct pdk_fence_map *map, const char *call, const void *bytes, size_t size, int64_t token,
                            uint32_t handover, enum pdk__use use) {
    if (!is_name(call, map, bytes, size))
        return PDK_INVALID;
    pdk_status status = pdk__mark_check(call, "map", map, token);
    if (status != PDK_OK)
        return status;
    struct name name = name_of(map, bytes, size);
    struct shard *shard = shard_of(map, &name);
    pthread_rwlock_rdlock(&shard->lock);
    struct node *node = *find(shard, &name);
    if (node)
        status = pdk__cell_admit(&node->cell, call, token, handover, use);
    pthread_rwlock_unlock(&shard->lock);
    return node ? status : admit_new(map, call, &name, token, handover, use);
}

pdk_status pdk_fence_map_admit(pdk_fence_map *map, const void *name, size_t size, int64_t token, uint32_t handover) {
    return map_admit(map, "pdk_fence_map_admit", name, size, token, handover, PDK__WRITE);
}

pdk_status pdk_fence_map_admit_shared(pdk_fence_map *map, const void *name, size_t size, int64_t token,
                                      uint32_t handover) {
    return map_admit(map, "pdk_fence_map_admit_shared", name, size, token, handover, PDK__READ);
}

pdk_status pdk_fence_map_advance(pdk_fence_map *map, const void *name, size_t size, int64_t token, uint32_t handover) {
    return map_admit(map, "pdk_fence_map_advance", name, size, token, handover, PDK__WRITE);
}

pdk_status pdk_fence_map_mark(pdk_fence_map *map, const void *bytes, size_t size, int64_t *token, uint32_t *handover) {
    if (!is_name("pdk_fence_map_mark", map, bytes, size))
        return PDK_INVALID;
    struct name name = name_of(map, bytes, size);
    struct shard *shard = shard_of(map, &name);
    pthread_rwlock_rdlock(&shard->lock);
    const struct node *node = *find(shard, &name);
    struct pdk__mark mark = {0};
    if (node)
        mark = pdk__cell_load(&node->cell);
    pthread_rwlock_unlock(&shard->lock);
    pdk__mark_tell(&mark, token, handover);
    return PDK_OK;
}

pdk_status pdk_fence_map_forget(pdk_fence_map *map, const void *bytes, size_t size) {
    if (!is_name("pdk_fence_map_forget", map, bytes, size))
        return PDK_INVALID;
    struct name name = name_of(map, bytes, size);
    struct shard *shard = shard_of(map, &name);
    pthread_rwlock_wrlock(&shard->lock);
    struct node **place = find(shard, &name), *node = *place;
    if (node) {
        *place = node->next;
        shard->count--;
        atomic_fetch_sub(&map->count, 1);
    }
    pthread_rwlock_unlock(&shard->lock);
    free(node);
    return PDK_OK;
}

size_t pdk_fence_map_count(const pdk_fence_map *map) { return map ? atomic_load(&map->count) : 0; }

pdk_status pdk_fence_map_new(size_t capacity, pdk_fence_map **out) {
    if (!out)
        return pdk__fail(PDK_INVALID, "pdk_fence_map_new: map: is NULL");
    if (capacity == 0)
        return pdk__fail(PDK_INVALID, "pdk_fence_map_new: capacity: 0 names; pass how many the map may keep");
    struct pdk_fence_map *map = aligned_alloc(_Alignof(struct pdk_fence_map), sizeof *map);
    if (!map)
        return pdk__fail(PDK_SYSTEM, "pdk_fence_map_new: no memory");
    memset(map, 0, sizeof *map);
    map->capacity = capacity;
    atomic_init(&map->count, 0);
    pdk__cancel_off(); /* for the map, which nobody has yet */
    bool random = getrandom(map->key, sizeof map->key, 0) == sizeof map->key;
    pdk__cancel_back();
    if (!random) {
        free(map);
        return pdk__fail(PDK_SYSTEM, "pdk_fence_map_new: no random numbers: %m");
    }
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &map->shards[i];
        pthread_rwlock_init(&shard->lock, NULL);
        shard->size = BUCKETS_FIRST;
        shard->buckets = shard->first;
    }
    *out = map;
    return PDK_OK;
}

void pdk_fence_map_close(pdk_fence_map *map) {
    if (!map)
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &map->shards[i];
        for (size_t k = 0; k < shard->size; k++)
            for (struct node *node = shard->buckets[k], *next; node; node = next) {
                next = node->next;
                free(node);
            }
        free_buckets(shard);
        pthread_rwlock_destroy(&shard->lock);
    }
    free(map);
}
