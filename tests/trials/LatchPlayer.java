/*
 * Curator's candidate: LeaderLatch, with the options, orders and log of player_election.c. It asks hasLeadership every
 * 0.5 ms whether it leads.
 */

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.zookeeper.data.Stat;

public final class LatchPlayer extends Player {
    private static final long LOOK_NANOS = 500_000;

    /* Not Curator's own thread: the listener asks the server. */
    private final ExecutorService listening = Executors.newSingleThreadExecutor();
    private final Thread watch = new Thread(this::keepLooking);
    private volatile boolean stop;
    private volatile LeaderLatch latch;
    private volatile long token;

    private void onLeader(LeaderLatch which) {
        long when = now();
        try {
            Stat stat = client.checkExists().forPath(which.getOurPath());
            if (stat == null) {
                throw new IllegalStateException("the leader's node is gone");
            }
            token = stat.getCzxid();
            noteAt(when, "elected token=" + token);
            noteAt(when, "granted token=" + token + " handover=0 kind=curator");
        } catch (Exception e) {
            fail(e);
        }
    }

    private void join() throws Exception {
        LeaderLatch one = new LeaderLatch(
                client, option("path"), option("identity"), LeaderLatch.CloseMode.NOTIFY_LEADER);
        one.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                onLeader(one);
            }

            @Override
            public void notLeader() {
                note("deposed reason=CURATOR");
            }
        }, listening);
        latch = one;
        one.start();
    }

    /* A term is over as soon as one look says no. The listener has learned its token meanwhile. */
    private void keepLooking() {
        long first = 0;
        long last = 0;
        while (!stop || first != 0) {
            long before = now();
            if (latch.hasLeadership()) {
                first = first == 0 ? before : first;
                last = before;
            } else if (first != 0) {
                noteValid(token, first, last, "kind=curator");
                first = 0;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    @Override
    void opened() throws Exception {
        join();
        watch.start();
    }

    @Override
    void play() throws Exception {
        for (String order = nextOrder(); order != null; order = nextOrder()) {
            if (!order.equals("resign")) {
                throw new IllegalArgumentException("unknown order " + order);
            }
            note("resign");
            latch.close();
            join();
        }
    }

    @Override
    void ended() throws Exception {
        latch.close();
        stop = true;
        watch.join();
        listening.shutdown();
        listening.awaitTermination(5, TimeUnit.SECONDS);
    }

    public static void main(String[] args) {
        new LatchPlayer().run(args);
    }
}
