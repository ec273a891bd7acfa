/*
 * Curator's player of the chaos, with the recommended retry policy. What it believes to hold depends on what the
 * listener for the connection's state is told, see Beliefs.
 */

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

public final class ChaosPlayer extends Player {
    private static final int DEFAULT_CONNECT_MS = 15_000;
    private static final long END_MS = 5_000;

    private final AtomicLong numbers = new AtomicLong();
    private final Beliefs beliefs = new Beliefs(this);
    private final List<ChaosWorker> workers = new ArrayList<>();
    private Resource resource;

    /** A number in a file, twice. A use reads it, and later writes one more. */
    static final class Resource {
        private static final int WIDTH = 21;

        private final RandomAccessFile file;

        Resource(String folder, String path) throws IOException {
            file = new RandomAccessFile(Paths.get(folder, path.replace('/', '_') + ".naive").toFile(), "rw");
        }

        synchronized long read() throws IOException {
            byte[] text = new byte[WIDTH];
            file.seek(0);
            return file.read(text) == WIDTH ? Long.parseLong(new String(text, StandardCharsets.US_ASCII).trim()) : 0;
        }

        synchronized void write(long value) throws IOException {
            file.seek(0);
            file.write(String.format(Locale.ROOT, "%1$020d%n%1$020d%n", value).getBytes(StandardCharsets.US_ASCII));
        }
    }

    Beliefs beliefs() {
        return beliefs;
    }

    Resource resource() {
        return resource;
    }

    long nextNumber() {
        return numbers.getAndIncrement();
    }

    @Override
    CuratorFramework newClient(String hosts, int sessionMs) {
        int connectMs = Math.min(DEFAULT_CONNECT_MS, sessionMs); /* Curator warns of more than the session's */
        return CuratorFrameworkFactory.builder()
                .connectString(hosts)
                .sessionTimeoutMs(sessionMs)
                .connectionTimeoutMs(connectMs)
                .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                .ensembleTracker(false) /* it stays with the servers that it was given */
                .build();
    }

    @Override
    void changed(ConnectionState state) {
        beliefs.changed(state);
    }

    /** It may be started while there is no server. */
    @Override
    boolean awaitConnection() throws InterruptedException {
        client.blockUntilConnected();
        return true;
    }

    private ChaosRecipe recipe() {
        return ChaosRecipe.of(option("recipe"), client, option("path"), option("identity"));
    }

    @Override
    void opened() throws IOException {
        recipe(); /* fails when there is no such recipe */
        resource = new Resource(option("resource"), option("path"));
        note("opened");
    }

    private void begin() {
        for (int i = 0; i < number("threads", 1); i++) {
            ChaosWorker worker = new ChaosWorker(this, recipe());
            workers.add(worker);
            worker.start();
        }
    }

    private static void await(List<ChaosWorker> all, long longestMs) throws InterruptedException {
        for (ChaosWorker worker : all) {
            worker.join(longestMs);
        }
    }

    /** Does not wait: a worker may never come back, and orders must go on. */
    private void rest() {
        List<ChaosWorker> leaving = new ArrayList<>(workers);
        leaving.forEach(ChaosWorker::rest);
        Thread waiter = new Thread(() -> {
            try {
                await(leaving, 0);
                System.out.println("rested");
            } catch (InterruptedException e) {
                fail(e);
            }
        });
        waiter.setDaemon(true);
        waiter.start();
    }

    private void obey(String order) {
        switch (order) {
            case "go":
                begin();
                break;
            case "yield":
                workers.forEach(ChaosWorker::yieldHeld);
                break;
            case "rest":
                rest();
                break;
            default:
                throw new IllegalArgumentException("unknown order " + order);
        }
    }

    @Override
    void play() throws IOException {
        for (String order = nextOrder(); order != null; order = nextOrder()) {
            obey(order);
        }
    }

    @Override
    void ended() throws InterruptedException {
        workers.forEach(ChaosWorker::rest);
        await(workers, END_MS);
        workers.stream().filter(Thread::isAlive).forEach(worker -> note("stuck thread=" + worker.getName()));
    }

    public static void main(String[] args) {
        new ChaosPlayer().run(args);
    }
}
