/*
 * Curator's holders of permits: InterProcessSemaphoreV2, one permit at a time, with the options and the log of
 * player_semaphore.c. (It takes several permits one after another, so two threads that do so can wait for each other.)
 */

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.zookeeper.data.Stat;

public final class SemaphorePlayer extends TurnPlayer {
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong gaveUp = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();
    private InterProcessSemaphoreV2 semaphore;

    @Override
    void opened() {
        semaphore = new InterProcessSemaphoreV2(client, option("path"), number("permits", 3));
    }

    /** Null when it took too long. */
    private Lease take() throws Exception {
        if (!chance(10)) {
            return semaphore.acquire();
        }
        return semaphore.acquire(ThreadLocalRandom.current().nextInt(1, 100), TimeUnit.MILLISECONDS);
    }

    @Override
    void turn(int thread) throws Exception {
        long asked = now();
        Lease lease = take();
        if (lease == null) {
            gaveUp.incrementAndGet();
            return;
        }
        long first = now();
        taken.incrementAndGet();
        Stat stat = client.checkExists().forPath(option("path") + "/leases/" + lease.getNodeName());
        if (stat == null) {
            lost.incrementAndGet();
            return;
        }
        String what = "kind=permit count=1 thread=" + thread + " asked=" + asked + " queued=0 session="
                + client.getZookeeperClient().getZooKeeper().getSessionId();
        noteGranted(stat.getCzxid(), what);
        pause(number("hold-us", 20_000));
        noteValid(stat.getCzxid(), first, now(), what);
        lease.close();
    }

    @Override
    void ended() {
        note("turns taken=" + taken + " gave-up=" + gaveUp + " lost=" + lost);
    }

    public static void main(String[] args) {
        new SemaphorePlayer().run(args);
    }
}
