/* The recipes of Curator's player of the chaos, all with the same calls. Each object belongs to one thread. */

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.utils.CloseableUtils;
import org.apache.zookeeper.CreateMode;

abstract class ChaosRecipe {
    static final long FOREVER = -1;
    private static final int PERMITS = 3;
    private static final int WRITE_PERCENT = 40;

    final CuratorFramework client;
    final String path;

    private ChaosRecipe(CuratorFramework client, String path) {
        this.client = client;
        this.path = path;
    }

    static ChaosRecipe of(String name, CuratorFramework client, String path, String identity) {
        switch (name) {
            case "lock":
                return new Mutex(client, path);
            case "rwlock":
                return new ReadWrite(client, path);
            case "semaphore":
                return new Permit(client, path);
            case "election":
                return new Latch(client, path, identity);
            default:
                throw new IllegalArgumentException("no recipe " + name);
        }
    }

    /** Chooses the next claim. Its kind, as the log says it. */
    abstract String choose();

    /** Whether the chosen claim allows to change the resource. */
    boolean isExclusive() {
        return true;
    }

    /** False when it took longer than that. */
    abstract boolean claim(long patienceMs) throws Exception;

    /** Whether the recipe itself says that the grant is still ours. */
    boolean confirms() {
        return true;
    }

    /** A writer becomes a reader beside that, if it is one. Then endsWriting is due. */
    boolean beginsToRead() throws Exception {
        return false;
    }

    void endsWriting() throws Exception {}

    /** Gives the grant back. lost: it had ended before. */
    abstract void release(boolean lost) throws Exception;

    /** A call failed, and its effect is unknown: makes a new object. */
    void renew() {}

    /** Nothing is held any more. */
    void close() {}

    private static boolean acquire(InterProcessMutex mutex, long patienceMs) throws Exception {
        if (patienceMs != FOREVER) {
            return mutex.acquire(patienceMs, TimeUnit.MILLISECONDS);
        }
        mutex.acquire();
        return true;
    }

    private static final class Mutex extends ChaosRecipe {
        private InterProcessMutex mutex;

        Mutex(CuratorFramework client, String path) {
            super(client, path);
            renew();
        }

        @Override
        String choose() {
            return "lock";
        }

        @Override
        boolean claim(long patienceMs) throws Exception {
            return acquire(mutex, patienceMs);
        }

        @Override
        void release(boolean lost) throws Exception {
            mutex.release();
        }

        @Override
        void renew() {
            mutex = new InterProcessMutex(client, path);
        }
    }

    /* To downgrade, Curator's user acquires the read lock while it writes, and then releases the write lock. Up to 5.4 the
     * reader's node gets the next number of all, so that writers that wait already are let in beside it (CURATOR-621).
     * Since 5.5 it has the number of the writer's node. With an older Curator such a node is made here. */
    private static final class ReadWrite extends ChaosRecipe {
        private InterProcessReadWriteLock lock;
        private boolean writes;
        private String made; /* the reader's node */

        ReadWrite(CuratorFramework client, String path) {
            super(client, path);
            renew();
        }

        @Override
        String choose() {
            writes = ThreadLocalRandom.current().nextInt(100) < WRITE_PERCENT;
            return writes ? "write" : "read";
        }

        @Override
        boolean isExclusive() {
            return writes;
        }

        private InterProcessMutex chosen() {
            return writes ? lock.writeLock() : lock.readLock();
        }

        @Override
        boolean claim(long patienceMs) throws Exception {
            return acquire(chosen(), patienceMs);
        }

        private static Method nodeOf(Class<?> lock) throws NoSuchMethodException {
            Method method = lock.getDeclaredMethod("getLockPath");
            method.setAccessible(true);
            return method;
        }

        @Override
        boolean beginsToRead() throws Exception {
            if (!writes) {
                return false;
            }
            Method own = nodeOf(InterProcessReadWriteLock.ReadLock.class);
            if (Modifier.isPublic(own.getModifiers())) { /* so it is since 5.5 */
                lock.readLock().acquire();
            } else {
                String node = (String) nodeOf(lock.writeLock().getClass()).invoke(lock.writeLock());
                made = path + "/_c_" + UUID.randomUUID() + "-__READ__" + node.substring(node.length() - 10);
                client.create().withMode(CreateMode.EPHEMERAL).forPath(made);
            }
            return true;
        }

        @Override
        void endsWriting() throws Exception {
            lock.writeLock().release();
            writes = false;
        }

        @Override
        void release(boolean lost) throws Exception {
            if (made != null) {
                client.delete().forPath(made);
                made = null;
            } else {
                chosen().release();
            }
        }

        @Override
        void renew() {
            made = null;
            lock = new InterProcessReadWriteLock(client, path);
        }
    }

    /* One permit at a time: Curator takes several one after another, so two threads that do so can wait for each
     * other. */
    private static final class Permit extends ChaosRecipe {
        private final InterProcessSemaphoreV2 semaphore;
        private Lease lease;

        Permit(CuratorFramework client, String path) {
            super(client, path);
            semaphore = new InterProcessSemaphoreV2(client, path, PERMITS);
        }

        @Override
        String choose() {
            return "permit count=1";
        }

        @Override
        boolean isExclusive() {
            return false;
        }

        @Override
        boolean claim(long patienceMs) throws Exception {
            lease = patienceMs == FOREVER
                    ? semaphore.acquire() : semaphore.acquire(patienceMs, TimeUnit.MILLISECONDS);
            return lease != null;
        }

        @Override
        void release(boolean lost) throws Exception {
            lease.close();
        }
    }

    /* After a loss it queues again by itself when the connection comes back, so it is left alone then. It leads
     * once. */
    private static final class Latch extends ChaosRecipe {
        private final String identity;
        private LeaderLatch latch;

        Latch(CuratorFramework client, String path, String identity) {
            super(client, path);
            this.identity = identity;
        }

        @Override
        String choose() {
            return "leader";
        }

        @Override
        boolean claim(long patienceMs) throws Exception {
            if (latch == null) {
                latch = new LeaderLatch(client, path, identity);
                latch.start();
            }
            if (patienceMs == FOREVER) {
                latch.await();
                return true;
            }
            boolean elected = latch.await(patienceMs, TimeUnit.MILLISECONDS);
            if (!elected) {
                close();
            }
            return elected;
        }

        @Override
        boolean confirms() {
            return latch.hasLeadership();
        }

        @Override
        void release(boolean lost) {
            if (!lost) {
                close();
            }
        }

        @Override
        void renew() {
            close();
        }

        @Override
        void close() {
            LeaderLatch old = latch;
            latch = null;
            if (old != null) {
                CloseableUtils.closeQuietly(old);
            }
        }
    }
}
