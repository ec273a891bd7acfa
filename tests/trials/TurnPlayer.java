/* A player in Java. Its threads take turns from the first order to the second, as player_threads.h has it for C. */

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

abstract class TurnPlayer extends Player {
    private volatile boolean stop;

    /** One turn of the thread with this number, from 0 on. */
    abstract void turn(int thread) throws Exception;

    static boolean chance(int percent) {
        return ThreadLocalRandom.current().nextInt(100) < percent;
    }

    static void pause(int longestMicros) {
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(ThreadLocalRandom.current().nextInt(longestMicros + 1)));
    }

    private void takeTurns(int thread) {
        try {
            while (!stop) {
                pause(number("think-us", 2000));
                turn(thread);
            }
        } catch (Exception e) {
            fail(e);
            stop = true;
        }
    }

    @Override
    final void play() throws Exception {
        String order = nextOrder();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; order != null && i < number("threads", 1); i++) {
            int number = i;
            Thread thread = new Thread(() -> takeTurns(number));
            threads.add(thread);
            thread.start();
        }
        String rest = order == null ? null : nextOrder();
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        if (rest != null) {
            System.out.println("rested");
        }
        while (rest != null) {
            rest = nextOrder();
        }
    }
}
