#include "loops.h"

#include <paddock/adapters/libuv.h>

static void *attach(pdk_session *session) {
    pdk_uv *uv = NULL;
    return pdk_uv_attach(uv_default_loop(), session, &uv) ? NULL : uv;
}

static void detach(void *uv) {
    pdk_uv_detach(uv);
    pdk_uv_detach(NULL);
}

static void over(uv_timer_t *timer) { uv_close((uv_handle_t *)timer, NULL); }

static void turn(int ms) {
    uv_timer_t timer;
    uv_timer_init(uv_default_loop(), &timer);
    uv_timer_start(&timer, over, (uint64_t)ms, 0);
    uv_run(uv_default_loop(), UV_RUN_ONCE);
    if (!uv_is_closing((uv_handle_t *)&timer))
        uv_close((uv_handle_t *)&timer, NULL);
    uv_run(uv_default_loop(), UV_RUN_NOWAIT); /* closes it */
}

static bool is_over(void *uv) {
    (void)uv;
    return !uv_loop_alive(uv_default_loop());
}

static void run(void) { uv_run(uv_default_loop(), UV_RUN_DEFAULT); }

static void end(void) {
    turn(0);
    if (uv_loop_close(uv_default_loop()) != 0)
        abort(); /* a handle is left */
}

int main(void) { return loops_play(&(struct loop){"libuv", attach, detach, turn, is_over, run, end}); }
