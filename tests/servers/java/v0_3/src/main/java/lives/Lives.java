// SPDX-License-Identifier: Apache-2.0
package lives;

import io.a2a.server.agentexecution.AgentExecutor;
import io.a2a.server.agentexecution.RequestContext;
import io.a2a.server.events.EventQueue;
import io.a2a.server.tasks.TaskUpdater;
import io.a2a.spec.Part;
import io.a2a.spec.TextPart;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * What becomes of a task, by the text of its message: `ask`, a question, and its answer completes it; `slow`, until it is
 * canceled; any other, an artifact in two parts.
 */
@Singleton
public class Lives implements AgentExecutor {
    /** In milliseconds: in this version of the SDK an event that follows at once may overtake the one before. */
    private static final int PAUSE = 20;

    private final ConcurrentHashMap<String, CountDownLatch> slow = new ConcurrentHashMap<>();

    @Override
    public void execute(RequestContext asked, EventQueue queue) {
        TaskUpdater task = new TaskUpdater(asked, queue);
        String text = asked.getUserInput("");
        if (asked.getTask() == null) {
            later(task::submit);
        }
        later(task::startWork);
        if (text.equals("ask") && asked.getTask() == null) {
            later(() -> task.requiresInput(task.newAgentMessage(text("which one?"), null), true));
        } else if (text.equals("slow")) {
            waitForCancel(asked.getTaskId());
            later(task::cancel);
        } else {
            later(() -> task.addArtifact(text("part 0"), "result", "result", null, false, false));
            later(() -> task.addArtifact(text("part 1"), "result", "result", null, true, true));
            later(task::complete);
        }
    }

    @Override
    public void cancel(RequestContext asked, EventQueue queue) {
        latch(asked.getTaskId()).countDown();
    }

    private static void later(Runnable step) {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
        step.run();
    }

    private void waitForCancel(String taskId) {
        try {
            latch(taskId).await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private CountDownLatch latch(String taskId) {
        return slow.computeIfAbsent(taskId, id -> new CountDownLatch(1));
    }

    private static List<Part<?>> text(String text) {
        return List.of(new TextPart(text));
    }
}
