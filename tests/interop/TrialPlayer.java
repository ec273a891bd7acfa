/*
 * What the players in Java share, as player.h for those in C: options, a client, a log, orders on standard input.
 * Their clock is the log's but for --clock, nanoseconds to be added. Curator has no lease: a right counts as believed in
 * until the connection was suspended.
 */

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;

abstract class TrialPlayer {
    private static final int CONNECT_MS = 20_000;

    private final Map<String, String> options = new HashMap<>();
    private final BufferedReader orders =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private FileOutputStream log;
    private long clock;
    private volatile boolean failed;
    private volatile long suspended;
    CuratorFramework client;

    /** Once connected; then what is ordered, until the orders end; then what is left to do. */
    abstract void opened() throws Exception;

    abstract void play() throws Exception;

    abstract void ended() throws Exception;

    /** Of the session's connection, as the listener is told. */
    void changed(ConnectionState state) {
        if (isTrouble(state)) {
            suspended = now();
        }
    }

    static boolean isTrouble(ConnectionState state) {
        return state == ConnectionState.SUSPENDED || state == ConnectionState.LOST;
    }

    /** Not started. */
    CuratorFramework newClient(String hosts, int sessionMs) {
        return CuratorFrameworkFactory.newClient(hosts, sessionMs, CONNECT_MS, new RetryNTimes(100, 100));
    }

    final String option(String name) {
        String value = options.get("--" + name);
        if (value == null) {
            throw new IllegalArgumentException("missing --" + name);
        }
        return value;
    }

    final int number(String name, int otherwise) {
        String value = options.get("--" + name);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    final long now() {
        return System.nanoTime() + clock;
    }

    final void note(String what) {
        noteAt(now(), what);
    }

    final void noteAt(long when, String what) {
        try {
            log.write((when + " " + what + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            System.err.println(e);
            Runtime.getRuntime().halt(3);
        }
    }

    final void noteGranted(long token, String what) {
        note("granted token=" + token + " handover=0 " + what);
    }

    final void noteValid(long token, long first, long last, String what) {
        long until = suspended > first ? Math.min(last, suspended) : last;
        note("valid token=" + token + " handover=0 first=" + first + " last=" + until
                + " longest=0 reason=NONE " + what);
    }

    /** Has nothing happened since then that makes a right doubtful? */
    final boolean undisturbedSince(long then) {
        return suspended <= then;
    }

    /** False when that took too long. */
    boolean awaitConnection() throws InterruptedException {
        return client.blockUntilConnected(CONNECT_MS, TimeUnit.MILLISECONDS);
    }

    private void open() throws Exception {
        clock = Long.parseLong(option("clock"));
        log = new FileOutputStream(option("log"), true);
        client = newClient(option("hosts"), number("session", 0));
        client.getConnectionStateListenable().addListener((which, state) -> {
            changed(state);
            note("session event=" + state);
        });
        client.start();
        if (!awaitConnection()) {
            throw new IOException("no connection to " + option("hosts"));
        }
        opened();
        System.out.println("ready");
    }

    /** The next order, null at the end, which also comes when whoever started us dies. */
    final String nextOrder() throws IOException {
        return orders.readLine();
    }

    final void fail(Exception why) {
        why.printStackTrace();
        failed = true;
    }

    /** Connects, says "ready", obeys, says "done". */
    final void run(String[] args) {
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i], args[i + 1]);
        }
        try {
            open();
            play();
            ended();
            client.close();
        } catch (Exception e) {
            fail(e);
        }
        if (failed) {
            System.exit(2);
        }
        System.out.println("done");
    }
}
