/* The Java player: Curator's InterProcessMutex, or LeaderLatch, by the contract in README.md. */

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.RetryOneTime;

public final class CuratorPlayer {
    private static final int SESSION_MS = 20_000;
    private static final int CONNECT_MS = 10_000;

    private interface Turns {
        void take() throws Exception;

        void give() throws Exception;

        void list() throws Exception;
    }

    private final class Mutex implements Turns {
        private final InterProcessMutex mutex = new InterProcessMutex(client, options.get("--path"));

        @Override
        public void take() throws Exception {
            mutex.acquire();
        }

        @Override
        public void give() throws Exception {
            mutex.release();
        }

        @Override
        public void list() throws Exception {
            for (String node : mutex.getParticipantNodes()) {
                String data = new String(client.getData().forPath(node), StandardCharsets.UTF_8);
                System.out.println("contender\t" + node.substring(node.lastIndexOf('/') + 1) + "\t" + data);
            }
        }
    }

    /* A latch leads once: each turn has a latch of its own. */
    private final class Latch implements Turns {
        private LeaderLatch latch = make();

        private LeaderLatch make() {
            return new LeaderLatch(client, options.get("--path"), identity);
        }

        @Override
        public void take() throws Exception {
            latch.start();
            latch.await();
        }

        @Override
        public void give() throws Exception {
            latch.close();
            latch = make();
        }

        @Override
        public void list() throws Exception {
            for (Participant participant : latch.getParticipants()) {
                System.out.println("contender\t-\t" + participant.getId());
            }
        }
    }

    private final Map<String, String> options;
    private final String identity;
    private final CuratorFramework client;
    private final Turns turns;
    private final BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    private volatile boolean stop;
    private long acquisitions;
    private long overlaps;

    private CuratorPlayer(Map<String, String> options) {
        this.options = options;
        identity = options.get("--identity");
        client = CuratorFrameworkFactory.newClient(
                options.get("--hosts"), SESSION_MS, CONNECT_MS, new RetryOneTime(100));
        turns = options.get("--recipe").equals("election") ? new Latch() : new Mutex();
    }

    private static Map<String, String> parse(String[] args) {
        Map<String, String> options = new HashMap<>();
        options.put("--hold-us", "1000");
        options.put("--recipe", "lock");
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i], args[i + 1]);
        }
        for (String name : new String[] {"--hosts", "--path", "--witness", "--log", "--identity"}) {
            if (!options.containsKey(name)) {
                throw new IllegalArgumentException("missing " + name);
            }
        }
        return options;
    }

    /* The end of standard input is the order to stop. It also comes when the driver dies. */
    private void waitForEnd() {
        try {
            while (commands.readLine() != null) {
                continue;
            }
        } catch (IOException e) {
            System.err.println(e);
        }
        stop = true;
    }

    private boolean enter(Path witness) throws IOException {
        try {
            Files.createFile(witness); /* O_CREAT | O_EXCL */
            return true;
        } catch (FileAlreadyExistsException e) {
            overlaps++;
            return false;
        }
    }

    private void loop() throws Exception {
        Thread reader = new Thread(this::waitForEnd);
        reader.setDaemon(true);
        reader.start();
        Path witness = Paths.get(options.get("--witness"));
        long holdNanos = TimeUnit.MICROSECONDS.toNanos(Long.parseLong(options.get("--hold-us")));
        try (FileOutputStream log = new FileOutputStream(options.get("--log"), true)) {
            while (!stop) {
                turns.take();
                boolean mine = enter(witness);
                acquisitions++;
                log.write((identity + " " + acquisitions + " -\n").getBytes(StandardCharsets.UTF_8));
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(holdNanos + 1));
                if (mine) {
                    Files.delete(witness);
                }
                turns.give();
            }
        }
    }

    private void hold() throws Exception {
        turns.take();
        acquisitions++;
        System.out.println("held");
        waitForEnd();
        turns.give();
    }

    private void holdUntilAsked() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        InterProcessMutex mutex = new InterProcessMutex(client, options.get("--path"));
        mutex.makeRevocable(lock -> asked.countDown());
        mutex.acquire();
        acquisitions++;
        System.out.println("held");
        asked.await();
        System.out.println("asked\t");
        mutex.release();
    }

    private void ask() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, options.get("--path"));
        Revoker.attemptRevoke(client, mutex.getParticipantNodes().iterator().next());
    }

    private void play() throws Exception {
        client.start();
        if (!client.blockUntilConnected(CONNECT_MS, TimeUnit.MILLISECONDS)) {
            throw new IOException("no connection to " + options.get("--hosts"));
        }
        System.out.println("ready");
        String command = commands.readLine();
        if ("go".equals(command)) {
            loop();
        } else if ("hold".equals(command)) {
            hold();
        } else if ("list".equals(command)) {
            turns.list();
        } else if ("yield".equals(command)) {
            holdUntilAsked();
        } else if ("ask".equals(command)) {
            ask();
        } else if (command != null) {
            throw new IllegalArgumentException("unknown command " + command);
        }
        client.close();
        System.out.println("done " + identity + " acquisitions=" + acquisitions + " overlaps=" + overlaps);
    }

    public static void main(String[] args) {
        try {
            new CuratorPlayer(parse(args)).play();
        } catch (Exception e) {
            System.err.println("CuratorPlayer: " + e);
            System.exit(2);
        }
    }
}
