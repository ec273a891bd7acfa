/* A thread of Curator's player of the chaos. It claims, holds and gives back, until the order to rest. */

import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

final class ChaosWorker extends Thread {
    private static final int USE_EVERY_MS = 100;
    private static final int IMPATIENT_PERCENT = 25;
    private static final int IMPATIENT_MS = 300;
    private static final int REFUSED_MS = 50;

    private final ChaosPlayer player;
    private final ChaosRecipe recipe;
    private final boolean keeps;
    private volatile boolean resting;
    private boolean waiting;
    private int yields;

    ChaosWorker(ChaosPlayer player, ChaosRecipe recipe) {
        this.player = player;
        this.recipe = recipe;
        keeps = player.option("role").equals("keep");
        setDaemon(true); /* the process does not wait for a library that never answers */
        setUncaughtExceptionHandler((thread, why) -> { /* a broken player says so at once */
            why.printStackTrace();
            Runtime.getRuntime().halt(2);
        });
    }

    private static void pause(long longestMicros) throws InterruptedException {
        TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextLong(longestMicros + 1));
    }

    /** Only a thread that waits in Curator is interrupted: a thread that holds gives back undisturbed. */
    private synchronized boolean beginWaiting() {
        waiting = !resting;
        return waiting;
    }

    private synchronized void endWaiting() {
        waiting = false;
        interrupted();
    }

    synchronized void rest() {
        resting = true;
        if (waiting) {
            interrupt();
        }
        notifyAll();
    }

    /** Gives up the present grant. */
    synchronized void yieldHeld() {
        yields++;
        notifyAll();
    }

    private synchronized int yields() {
        return yields;
    }

    private long patience() {
        if (keeps || ThreadLocalRandom.current().nextInt(100) >= IMPATIENT_PERCENT) {
            return ChaosRecipe.FOREVER;
        }
        return ThreadLocalRandom.current().nextInt(IMPATIENT_MS);
    }

    /** Null when it was granted, otherwise the reason. */
    private String claim() {
        if (!beginWaiting()) {
            return "CANCELED";
        }
        try {
            return recipe.claim(patience()) ? null : "TIMEOUT";
        } catch (InterruptedException e) {
            recipe.renew();
            return "CANCELED";
        } catch (Exception e) {
            recipe.renew();
            return e.getClass().getSimpleName();
        } finally {
            endWaiting();
        }
    }

    /** Asks whether the grant stands, then uses the resource, and does not ask again within the use. */
    private void use(Beliefs.Belief belief, long number) throws IOException, InterruptedException {
        long holdUs = player.number("hold-us", 20_000);
        if (!recipe.isExclusive()) {
            pause(holdUs);
        } else if (belief.stands()) {
            long seen = player.resource().read();
            pause(holdUs);
            player.resource().write(seen + 1);
            player.note("used n=" + number + " naive=" + seen + " fence=-");
        }
    }

    /** False when the grant is to be given back. */
    private synchronized boolean keep(int yieldsBefore) throws InterruptedException {
        if (yields == yieldsBefore && !resting) {
            wait(USE_EVERY_MS);
        }
        return yields == yieldsBefore && !resting;
    }

    private void enjoy(Beliefs.Belief belief, long number, int yieldsBefore) throws IOException, InterruptedException {
        do {
            use(belief, number);
        } while (keeps && keep(yieldsBefore) && !belief.isLost());
    }

    private void giveBack(Beliefs.Belief belief, long number) {
        boolean lost = belief.drop();
        try {
            recipe.release(lost);
        } catch (Exception e) {
            player.note("unreleased n=" + number + " status=" + e.getClass().getSimpleName());
            recipe.renew();
        }
        player.note("ended n=" + number + " how=" + (lost ? "lost" : "released"));
    }

    private void visit() throws Exception {
        long number = player.nextNumber();
        String kind = recipe.choose();
        player.note("claim n=" + number + " kind=" + kind);
        String refused = claim();
        if (refused != null) {
            player.note("failed n=" + number + " status=" + refused);
            pause(TimeUnit.MILLISECONDS.toMicros(REFUSED_MS));
            return;
        }
        int yieldsBefore = yields();
        Beliefs.Belief belief = player.beliefs().begin(number, kind, recipe::confirms);
        enjoy(belief, number, yieldsBefore);
        if (ThreadLocalRandom.current().nextInt(100) < player.number("downgrade", 0) && recipe.beginsToRead()) {
            belief.weaken();
            recipe.endsWriting();
            pause(player.number("hold-us", 20_000));
        }
        giveBack(belief, number);
    }

    @Override
    public void run() {
        try {
            while (!resting) {
                visit();
                pause(player.number("think-us", 20_000));
            }
            recipe.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
