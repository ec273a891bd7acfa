/*
 * What Curator's player of the chaos believes to hold, and a thread that samples it, as validity_sampler.h describes it
 * for ours. Curator tells its users: while the connection is SUSPENDED they cannot be certain that a lock is still
 * theirs, until it is RECONNECTED. When it is LOST they can be certain that it is not theirs. So belief ends when the
 * connection is SUSPENDED, and goes on when it is RECONNECTED without LOST in between. Then the log has a second
 * granted of the same claim, and in the end a second valid. lost is noted when the grant is gone for good.
 */

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.curator.framework.state.ConnectionState;

final class Beliefs {
    private static final long LOOK_NANOS = 500_000;

    private final Player player;
    private final List<Belief> held = new ArrayList<>();
    private ConnectionState state = ConnectionState.CONNECTED; /* as it was told last */

    /**
     * The belief in one grant, from the return of the call that acquired it until it is dropped. Only stands and isLost
     * may be called without the lock.
     */
    final class Belief {
        private final String number;
        private String kind;
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

        /** A user would ask this before each step. */
        boolean stands() {
            return stands && confirms.getAsBoolean();
        }

        /** True when the grant is gone for good. */
        boolean isLost() {
            return lost;
        }

        /** A span begins. It is noted when it ends. */
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

        /** The listener was told this state. */
        private void hear(ConnectionState state) {
            if (state == ConnectionState.LOST) {
                lose(state.name());
            } else if (Player.isTrouble(state)) {
                end(state.name());
            } else if (!stands && !lost) {
                begin();
            }
            look(); /* the thread may take its time to wake */
        }

        /** The grant goes on as a reader's. Call it before it grows weaker. */
        void weaken() {
            synchronized (Beliefs.this) {
                boolean stood = stands;
                end("NONE");
                kind = "read";
                if (stood) {
                    begin();
                }
                look();
            }
        }

        /** Call it before the grant is given back. True when it had been lost. */
        boolean drop() {
            synchronized (Beliefs.this) {
                look();
                end("NONE");
                held.remove(this);
                return lost;
            }
        }
    }

    Beliefs(Player player) {
        this.player = player;
        Thread watch = new Thread(this::keepSampling, "watch");
        watch.setDaemon(true);
        watch.start();
    }

    /** A grant that comes while the connection is in trouble is not believed: the trouble was told before it. */
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

    private void keepSampling() {
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
