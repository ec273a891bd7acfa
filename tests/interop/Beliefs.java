/*
 * What a player of the chaos believes, and a thread that looks at it, as watchman.h describes that for ours. Curator's users
 * are told: when the connection is SUSPENDED they cannot be certain that a lock is still theirs, unless it is RECONNECTED
 * then; when it is LOST they can be certain that it is not. So belief pauses when SUSPENDED, and goes on when RECONNECTED
 * without LOST in between: a second granted of the same claim, and in the end a second valid. lost is noted once it is gone.
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
    private ConnectionState state = ConnectionState.CONNECTED; /* as it was told last */

    /** In one right, from the return of the call that acquired it until it is dropped. But for what users ask: locked. */
    final class Belief {
        private final String number;
        private final String kind;
        private final BooleanSupplier confirms;
        private volatile boolean stands;
        private volatile boolean lost;
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

        /** For good. */
        boolean isLost() {
            return lost;
        }

        /** What is believed from now on is noted when it ends. */
        private void begin() {
            player.note("granted " + number + " kind=" + kind);
            stands = true;
            first = 0;
            last = 0;
            longest = 0;
        }

        private void look() {
            long before = player.now();
            if (!lost && !confirms.getAsBoolean()) {
                lose("DEPOSED");
            }
            if (stands) {
                first = first == 0 ? before : first;
                longest = last == 0 ? 0 : Math.max(longest, before - last);
                last = before;
            }
        }

        private void end(String reason) {
            if (stands) {
                stands = false;
                player.note("valid " + number + " first=" + first + " last=" + last + " longest=" + longest
                        + " reason=" + reason + " kind=" + kind);
            }
        }

        private void lose(String why) {
            end(why);
            if (!lost) {
                lost = true;
                player.note("lost " + number + " reason=" + why);
            }
        }

        /** The listener was told. */
        private void hear(ConnectionState state) {
            if (state == ConnectionState.LOST) {
                lose(state.name());
            } else if (TrialPlayer.isTrouble(state)) {
                end(state.name());
            } else if (!stands && !lost) {
                begin();
            }
            look(); /* the thread may take its time to wake */
        }

        /** Call it before it is given back. True when it had been lost. */
        boolean drop() {
            synchronized (Beliefs.this) {
                look();
                end("NONE");
                held.remove(this);
                return lost;
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
        belief.begin();
        belief.hear(state);
        held.add(belief);
        notifyAll();
        return belief;
    }

    synchronized void changed(ConnectionState now) {
        state = now;
        held.forEach(belief -> belief.hear(now));
    }

    private synchronized void lookAll() throws InterruptedException {
        while (held.isEmpty()) {
            wait();
        }
        held.forEach(Belief::look);
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
