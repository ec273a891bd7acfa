"""Mutants of the lock-delay, judged by its model, by unit tests, by deployments and steps in simulated time
(tests/fakes/test_driver_delay_steps.c), and where its requests are sent by tests on a real server.

name: (file, judge and its options, [(text, its replacement)…]); see mutants.
"""

CORE = "src/core/delay.c"
MODEL = "tests/model/test_delay_model.c"
RECIPE = "recipes/lock_delay.c"
SIM = "sim --schedules 20000 --seed 1 --no-shrink --no-vacuity"
MUTANTS = {
    "delay: a broken pledge is waited for by nobody": (CORE, "waits", [
        ("d->until = now + by_any_clock(d->ns);", "d->until = now;")]),
    "delay: in a deployment, a broken pledge is waited for by nobody": (CORE, SIM, [
        ("d->until = now + by_any_clock(d->ns);", "d->until = now;")]),
    "delay: in a deployment, another number is as good": (RECIPE, SIM, [
        ("} else if (number->status != PDK_OK) {", "} else if (false) {"), ("number->says == PDK__NUMBER_AGREES && made", "number->says != PDK__NUMBER_ABSENT && made")]),
    "delay: in a deployment, a release keeps its pledge": ("src/grant/grant.c", SIM, [
        ("i < grant->count && !kept; i++)", "i < grant->count; i++)")]),
    "delay: the wait is not begun anew for another broken pledge": (CORE, "waits", [
        ("else if (unknown)", "else if (unknown && d->until == 0)")]),
    "delay: a grant does not wait for its pledge": (CORE, "waits", [
        ("return pledged ? PDK__DELAY_GRANT : PDK__DELAY_PLEDGE;", "return pledged || true ? PDK__DELAY_GRANT : PDK__DELAY_PLEDGE;")]),
    "delay: the node goes ahead of its pledge": (MODEL, "waits", [
        ("return c->phase == RELEASED && c->pledge;", "return c->phase >= RELEASED && c->pledge && !c->node;"),
        ("return c->phase == RELEASED && !c->pledge && c->node;", "return c->phase == RELEASED && c->node;")]),
    "delay: what comes back from a wait is forgotten": (MODEL, "waits", [
        ("        if (keeper->seen & 1 << k)\n            w->of[k].pledge = 0;", "        w->of[k].pledge = 0;\n    c->pledge = 0;")]),
    "delay: a clock that is too fast shortens the wait": (CORE, "delays", [
        ("return ns + ns / 16;", "return ns;")]),
    "delay: who keeps none is granted": ("src/core/contender.c", "delays", [
        ("    if (view->delays && !c->delays)\n        fail(c, PDK_MISMATCH);", "")]),
    "delay: a try that keeps none looks, and goes on": ("src/core/contender.c", "delays", [
        ("e->result == PDK__OK && e->view->delays && !c->delays", "e->result != PDK__OK && e->view->delays && !c->delays")]),
    "delay: a lost grant takes its pledge away": ("src/grant/grant.c", "delayed", [
        ("i < grant->count && !kept; i++)", "i < grant->count && false; i++)")]),
    "delay: a release keeps its pledge": ("src/grant/grant.c", "delayed", [
        ("i < grant->count && !kept; i++)", "i < grant->count; i++)")]),
    "delay: nobody pledges ahead": ("src/grant/queue.c", "delayed", [
        ("entry->c.ahead == 1 && queue->gate", "entry->c.ahead < 0 && queue->gate")]),
    "delay: another number is as good": (RECIPE, "delayed", [
        ("} else if (number->status != PDK_OK) {", "} else if (false) {"), ("number->says == PDK__NUMBER_AGREES && made", "number->says != PDK__NUMBER_ABSENT && made")]),
    "delay: a try waits": (RECIPE, "delayed", [
        ("        if (queue->admitting->is_try)", "        if (false)")]),
    "delay: a grant that is handed over is not counted": ("src/grant/queue.c", "delay_steps", [
        ("        if (granted) {", "        if (granted && !queue->gate) {")]),
    "delay: a place that is handed on is counted": ("src/grant/queue.c", "delay_steps", [
        ("        if (granted) {", "        if (granted || queue->gate) {")]),
    "delay: what was asked before the grant is forgotten": ("src/grant/queue.c", "delay_steps", [
        ("    entry->unread = reply->version > 0;", "    entry->unread = false;")]),
    "delay: a pledge is left by a delete that was lost": ("src/session/commands.c", "records", [
        ("if (reply && entry->pledge_stays) {", "if (false) {")]),
    "delay: that its node is gone is enough": ("src/session/entry.c", "records", [
        ("type == PDK__NODE_LOST && entry->c.leaving && entry->pledge", "false")]),
    "delay: a question that waits is about the node before": (RECIPE, "delay_steps", [
        ("if (question && !g_str_has_suffix(question->pledge, name))", "if (question && false)")]),
    "delay: granted on a lease that is over": (RECIPE, "delay_steps", [
        ("pdk__lease_fresh(&queue->s->lease, now)", "(void)now, true")]),
    "delay: broken pledges stay": (RECIPE, "delayed", [
        ("        clear_away(queue);", "        (void)clear_away;")]),
}
