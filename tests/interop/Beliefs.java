/*
 * What a player of the chaos believes, and a thread that looks at it, as watchman.h describes that for ours. Curator's users
 * are told: a lock that was acquired is theirs until the connection is SUSPENDED or LOST, or they release it.
 */

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.curator.framework.state.ConnectionState;

final class Beliefs {
    private static final long LOOK_NANOS = 500_000;

    private final TrialPlayer player;
    private final List<Belief> held = new ArrayList<>();
    private ConnectionState trouble;

    /** In one right, from the return of the call that acquired it. */
    final class Belief {
        private final String number;
        private final String kind;
        private final BooleanSupplier confirms;
        private volatile boolean stands = true;
        private String reason = "NONE";
        private long first;
        private long last;
        private long longest;

        private Belief(long number, String kind, BooleanSupplier confirms) {
            this.number = "n=" + number + " token=" + number + " handover=0";
            this.kind = kind;
            this.confirms = confirms;
        }

        /** As a user would ask, before each step. */
        boolean stands() {
            return stands && confirms.getAsBoolean();
        }

        private void ask() {
            if (stands && !confirms.getAsBoolean()) {
                lose("DEPOSED");
            }
        }

        private boolean look() {
            long before = player.now();
            ask();
            if (!stands) {
                return false;
            }
            first = first == 0 ? before : first;
            longest = last == 0 ? 0 : Math.max(longest, before - last);
            last = before;
            return true;
        }

        private void noteSpan() {
            player.note("valid " + number + " first=" + first + " last=" + last + " longest=" + longest + " reason="
                    + reason + " kind=" + kind);
        }

        /** The listener was told. */
        private void lose(String why) {
            if (stands) {
                stands = false;
                reason = why;
                player.note("lost " + number + " reason=" + why);
            }
        }

        /** Call it before it is given back. True when it had been lost. */
        boolean drop() {
            synchronized (Beliefs.this) {
                ask();
                stands = false;
                return !reason.equals("NONE");
            }
        }
    }

    Beliefs(TrialPlayer player) {
        this.player = player;
        Thread watch = new Thread(this::keepWatch, "watch");
        watch.setDaemon(true);
        watch.start();
    }

    /** Who is granted something while the connection is in trouble has been told so before, and does not believe it. */
    synchronized Belief begin(long number, String kind, BooleanSupplier confirms) {
        Belief belief = new Belief(number, kind, confirms);
        player.note("granted " + belief.number + " kind=" + kind);
        if (trouble != null) {
            belief.lose(trouble.name());
        }
        belief.look(); /* the thread may take its time to wake */
        held.add(belief);
        notifyAll();
        return belief;
    }

    synchronized void changed(ConnectionState state) {
        if (!TrialPlayer.isTrouble(state)) {
            trouble = null;
            return;
        }
        trouble = state;
        held.forEach(belief -> belief.lose(state.name()));
    }

    private synchronized void lookAll() throws InterruptedException {
        while (held.isEmpty()) {
            wait();
        }
        held.removeIf(belief -> {
            boolean over = !belief.look();
            if (over) {
                belief.noteSpan();
            }
            return over;
        });
    }

    /** Returns once all that ended has been noted. */
    void settle() throws InterruptedException {
        for (int i = 0; i < 1000 && !isSettled(); i++) {
            Thread.sleep(1);
        }
    }

    private synchronized boolean isSettled() {
        return held.isEmpty();
    }

    private void keepWatch() {
        try {
            while (true) {
                lookAll();
                LockSupport.parkNanos(LOOK_NANOS);
            }
        } catch (InterruptedException e) {
            player.fail(e);
        }
    }
}
