/* Curator's player for what is told step by step (README.md), with InterProcessMutex or LeaderLatch: it holds, is asked,
 * asks, or lists who is in the queue. */

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

    private final class Latch implements Turns {
        private final LeaderLatch latch = new LeaderLatch(client, options.get("--path"), identity);

        @Override
        public void take() throws Exception {
            latch.start();
            latch.await();
        }

        @Override
        public void give() throws Exception {
            latch.close();
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

    private CuratorPlayer(Map<String, String> options) {
        this.options = options;
        identity = options.get("--identity");
        client = CuratorFrameworkFactory.newClient(
                options.get("--hosts"), SESSION_MS, CONNECT_MS, new RetryOneTime(100));
        turns = options.get("--recipe").equals("election") ? new Latch() : new Mutex();
    }

    private static Map<String, String> parse(String[] args) {
        Map<String, String> options = new HashMap<>();
        options.put("--recipe", "lock");
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i], args[i + 1]);
        }
        for (String name : new String[] {"--hosts", "--path", "--identity"}) {
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
    }

    private void hold() throws Exception {
        turns.take();
        System.out.println("held");
        waitForEnd();
        turns.give();
    }

    private void visit() throws Exception {
        while (commands.readLine() != null) {
            long began = System.nanoTime();
            turns.take();
            System.out.printf("visited\t%.2f%n", (System.nanoTime() - began) / 1e6);
            turns.give();
        }
    }

    private void holdUntilAsked() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        InterProcessMutex mutex = new InterProcessMutex(client, options.get("--path"));
        mutex.makeRevocable(lock -> asked.countDown());
        mutex.acquire();
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
        if ("hold".equals(command)) {
            hold();
        } else if ("visit".equals(command)) {
            visit();
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
        System.out.println("done " + identity);
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
