#include "loops.h"

#include <paddock/adapters/sd-event.h>

static sd_event *event;

static void *attach(pdk_session *session) {
    sd_event_source *source = NULL;
    if (!event)
        sd_event_new(&event);
    return pdk_sd_event_add(event, session, &source) < 0 ? NULL : source;
}

static void detach(void *source) { sd_event_source_disable_unref(source); }

static void turn(int ms) { sd_event_run(event, (uint64_t)ms * 1000); }

static bool is_over(void *source) {
    int enabled = SD_EVENT_ON;
    return sd_event_source_get_enabled(source, &enabled) >= 0 && enabled == SD_EVENT_OFF;
}

static void end(void) {
    sd_event_unref(event);
    event = NULL;
}

int main(void) { return loops_play(&(struct loop){"sd-event", attach, detach, turn, is_over, NULL, end}); }
