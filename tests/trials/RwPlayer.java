/*
 * Curator's readers and writers: InterProcessReadWriteLock, with the options and the log of player_rwlock.c. The token
 * is the czxid of the node; Curator does not tell it, so the player asks the server.
 *
 * To downgrade, Curator's user acquires the read lock while it writes, and then releases the write lock. Up to 5.4 the
 * reader's node gets the next number of all, so that writers that wait already are let in beside it (CURATOR-621).
 * Since 5.5 it has the number of the writer's node. With an older Curator this player makes such a node itself.
 */

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.zookeeper.CreateMode;

public final class RwPlayer extends TurnPlayer {
    private static final int RECORDS = 4;
    private static final int WIDTH = 32;
    private static final int STEP_US = 500;

    private final AtomicLong reads = new AtomicLong();
    private final AtomicLong writes = new AtomicLong();
    private final AtomicLong downgraded = new AtomicLong();
    private final AtomicLong gaveUp = new AtomicLong();
    private FileChannel ledger;
    private InterProcessReadWriteLock lock;

    /** One turn with the lock held. */
    private final class Visit {
        final int thread;
        final long asked;
        final long first;
        final String node;
        final String number;
        final long token;
        final String own;
        private long since;
        private String kind;

        Visit(int thread, long asked, InterProcessMutex mutex, String kind) throws Exception {
            this.thread = thread;
            this.asked = asked;
            first = now();
            node = pathOf(mutex);
            number = node.substring(node.length() - 10);
            token = client.checkExists().forPath(node).getCzxid();
            own = String.format(Locale.ROOT, "%020d.%010d%n", token, 0);
            this.kind = kind;
            since = first;
            noteGranted(token, describe());
        }

        private String describe() {
            return "kind=" + kind + " seq=" + Long.parseLong(number) + " thread=" + thread + " asked=" + asked;
        }

        /** Ends the span so far, and begins another. Call it before the grant grows weaker. */
        void become(String another) {
            noteValid(token, since, now(), describe());
            since = now();
            kind = another;
            noteGranted(token, describe());
        }

        void end() {
            noteValid(token, since, now(), describe());
        }

        void accuse(String what, String found) {
            if (undisturbedSince(first)) {
                note("violation what=" + what + " token=" + token + " handover=0 found=" + found.strip()
                        + " seq=" + number);
            }
        }
    }

    private static String pathOf(InterProcessMutex mutex) throws Exception {
        Method path = mutex.getClass().getDeclaredMethod("getLockPath");
        path.setAccessible(true);
        return (String) path.invoke(mutex);
    }

    /** True since 5.5, which also made this method public. */
    private static boolean downgradesInPlace() throws Exception {
        return Modifier.isPublic(
                InterProcessReadWriteLock.ReadLock.class.getDeclaredMethod("getLockPath").getModifiers());
    }

    /** Null when the ledger is torn; that is noted. */
    private String look(Visit visit) throws IOException {
        String first = null;
        for (int i = 0; i < RECORDS; i++) {
            ByteBuffer buffer = ByteBuffer.allocate(WIDTH);
            int got = ledger.read(buffer, (long) i * WIDTH);
            String record = new String(buffer.array(), StandardCharsets.US_ASCII);
            if (got != WIDTH || (first != null && !first.equals(record))) {
                visit.accuse("torn", "0.0");
                return null;
            }
            first = record;
        }
        return first;
    }

    private void readOn(Visit visit, String content) throws IOException {
        long end = now() + ThreadLocalRandom.current().nextLong(TimeUnit.MICROSECONDS.toNanos(4000));
        do {
            pause(STEP_US);
            String seen = look(visit);
            if (seen == null) {
                return;
            }
            if (!seen.equals(content)) {
                visit.accuse("changed", seen);
                return;
            }
        } while (now() < end);
    }

    /** The ledger, which must be older than this turn. Null when it is torn. */
    private String lookFirst(Visit visit) throws IOException {
        String seen = look(visit);
        if (seen != null && seen.compareTo(visit.own) >= 0) { /* padded: the order of texts is that of numbers */
            visit.accuse("order", seen);
        }
        return seen;
    }

    private void read(Visit visit) throws IOException {
        String seen = lookFirst(visit);
        reads.incrementAndGet();
        if (seen != null) {
            readOn(visit, seen);
        }
    }

    private void write(Visit visit) throws IOException {
        writes.incrementAndGet();
        if (lookFirst(visit) == null) {
            return;
        }
        for (int i = 0; i < RECORDS; i++) {
            ledger.write(ByteBuffer.wrap(visit.own.getBytes(StandardCharsets.US_ASCII)), (long) i * WIDTH);
            pause(STEP_US);
        }
        String seen = look(visit);
        if (seen != null && !seen.equals(visit.own)) {
            visit.accuse("changed", seen);
        }
    }

    private void downgrade(Visit visit) throws Exception {
        String made = null;
        if (downgradesInPlace()) {
            lock.readLock().acquire();
        } else {
            made = option("path") + "/_c_" + UUID.randomUUID() + "-__READ__" + visit.number;
            client.create().withMode(CreateMode.EPHEMERAL).forPath(made);
        }
        visit.become("downgraded");
        lock.writeLock().release();
        downgraded.incrementAndGet();
        readOn(visit, visit.own);
        visit.end();
        if (made == null) {
            lock.readLock().release();
        } else {
            client.delete().forPath(made);
        }
    }

    @Override
    void turn(int thread) throws Exception {
        boolean writing = chance(number("write", 25));
        InterProcessMutex mutex = writing ? lock.writeLock() : lock.readLock();
        long asked = now();
        if (!chance(10)) {
            mutex.acquire();
        } else if (!mutex.acquire(ThreadLocalRandom.current().nextInt(1, 20), TimeUnit.MILLISECONDS)) {
            gaveUp.incrementAndGet();
            return;
        }
        Visit visit = new Visit(thread, asked, mutex, writing ? "write" : "read");
        if (!writing) {
            read(visit);
        } else {
            write(visit);
            if (chance(number("downgrade", 40))) {
                downgrade(visit);
                return;
            }
        }
        visit.end();
        mutex.release();
    }

    @Override
    void opened() throws IOException {
        ledger = FileChannel.open(Paths.get(option("ledger")), StandardOpenOption.READ, StandardOpenOption.WRITE);
        lock = new InterProcessReadWriteLock(client, option("path"));
    }

    @Override
    void ended() {
        note("turns read=" + reads + " write=" + writes + " downgraded=" + downgraded + " gave-up=" + gaveUp);
    }

    public static void main(String[] args) {
        new RwPlayer().run(args);
    }
}
