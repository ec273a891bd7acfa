/*
 * What the players in Java share, as player.h has it for those in C: options, a client, an event log, orders on
 * standard input. --clock is what to add to Java's clock, in nanoseconds, to get the log's. Curator has no lease: a grant
 * counts as valid until the connection is suspended.
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

abstract class Player {
    private static final int CONNECT_MS = 20_000;

    private final Map<String, String> options = new HashMap<>();
    private final BufferedReader orders =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    private FileOutputStream log;
    private long clock;
    private volatile boolean failed;
    private volatile long suspended;
    CuratorFramework client;

    /** Called when it is connected. Then play obeys until the orders end. Then ended does the rest. */
    abstract void opened() throws Exception;

    abstract void play() throws Exception;

    abstract void ended() throws Exception;

    /** The state of the connection, as the listener is told it. */
    void changed(ConnectionState state) {
        if (isTrouble(state)) {
            suspended = now();
        }
    }

    static boolean isTrouble(ConnectionState state) {
        return state == ConnectionState.SUSPENDED || state == ConnectionState.LOST;
    }

    /** A client that is not started yet. */
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

    /** True when the connection was not suspended since then: a grant is not in doubt. */
    final boolean undisturbedSince(long then) {
        return suspended <= then;
    }

    /** False when it took too long. */
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

    /** The next order, null at the end. The end also comes when the driver dies. */
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
