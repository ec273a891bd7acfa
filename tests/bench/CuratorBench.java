/* Curator as a player of the bench: play.h says what a player does. InterProcessMutex is made to be shared by threads, so one
 * object has all threads, as our lock has. */

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

public final class CuratorBench {
    private static final int CONNECT_MS = 20_000;
    private static final int CLOSE_MS = 5_000;
    private static final int STEPS_MOST = 1 << 21;
    private static final long STACK = 256 * 1024;

    private final String hosts;
    private final String path;
    private final int timeoutMs;
    private final List<CuratorFramework> clients = new ArrayList<>();
    private final AtomicBoolean inside = new AtomicBoolean();
    private final long[] steps = new long[STEPS_MOST];
    private volatile boolean open;
    private volatile boolean closing;
    private boolean waits;
    private int slices;
    private long opened;
    private long last;
    private int grants;

    private CuratorBench(String hosts, String path, int timeoutMs) {
        this.hosts = hosts;
        this.path = path;
        this.timeoutMs = timeoutMs;
    }

    private synchronized void waitAtGate() throws InterruptedException {
        int before = slices;
        waits = true;
        notifyAll();
        while (slices == before) {
            wait();
        }
        grants = 0;
        opened = System.nanoTime();
        last = opened;
    }

    private void pass() throws InterruptedException {
        if (inside.getAndSet(true)) {
            throw new IllegalStateException("two threads hold the lock");
        }
        long now = System.nanoTime();
        if (grants < STEPS_MOST) {
            steps[grants] = now - last;
        }
        grants++;
        last = now;
        if (!open) {
            waitAtGate();
        }
        inside.set(false);
    }

    private void work(InterProcessMutex mutex) {
        try {
            while (true) {
                mutex.acquire();
                pass();
                mutex.release();
            }
        } catch (Exception e) {
            if (!closing) {
                System.err.println("CuratorBench: " + e);
                Runtime.getRuntime().halt(2);
            }
        }
    }

    private synchronized void awaitHolder() throws InterruptedException {
        while (!waits) {
            wait();
        }
    }

    private synchronized void begin() {
        waits = false;
        slices++;
        open = true;
        notifyAll();
    }

    private void slice(int ms) throws InterruptedException {
        begin();
        Thread.sleep(ms);
        open = false;
        awaitHolder();
        int known = Math.min(grants, STEPS_MOST);
        Arrays.sort(steps, 0, known);
        System.out.println("slice " + grants + " " + (last - opened) + " " + steps[known / 2]);
    }

    private void start(int sessions, int objects, int threads) throws Exception {
        for (int i = 0; i < sessions; i++) {
            CuratorFramework client = CuratorFrameworkFactory.builder()
                    .connectString(hosts)
                    .sessionTimeoutMs(timeoutMs)
                    .connectionTimeoutMs(CONNECT_MS)
                    .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                    .ensembleTracker(false)
                    .build();
            client.start();
            if (!client.blockUntilConnected(CONNECT_MS, TimeUnit.MILLISECONDS)) {
                throw new IOException("no connection to " + hosts);
            }
            clients.add(client);
        }
        for (int i = 0; i < sessions * objects; i++) {
            InterProcessMutex mutex = new InterProcessMutex(clients.get(i % sessions), path);
            for (int j = 0; j < threads; j++) {
                Thread thread = new Thread(null, () -> work(mutex), "worker", STACK);
                thread.setDaemon(true);
                thread.start();
            }
        }
        if (objects > 0) {
            awaitHolder();
        }
        System.out.println("ready");
    }

    private void play() throws Exception {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            slice(Integer.parseInt(line.substring("go ".length())));
        }
        closing = true;
        Thread closer = new Thread(() -> clients.forEach(CuratorFramework::close));
        closer.setDaemon(true);
        closer.start();
        closer.join(CLOSE_MS);
        Runtime.getRuntime().halt(0);
    }

    public static void main(String[] args) {
        try {
            CuratorBench bench = new CuratorBench(args[0], args[1], Integer.parseInt(args[2]));
            bench.start(Integer.parseInt(args[3]), Integer.parseInt(args[4]), Integer.parseInt(args[5]));
            bench.play();
        } catch (Exception e) {
            System.err.println("CuratorBench: " + e);
            Runtime.getRuntime().halt(2);
        }
    }
}
