// SPDX-License-Identifier: Apache-2.0
package lives;

import io.a2a.server.agentexecution.AgentExecutor;
import io.a2a.server.agentexecution.RequestContext;
import io.a2a.server.tasks.AgentEmitter;
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
    private final ConcurrentHashMap<String, CountDownLatch> slow = new ConcurrentHashMap<>();

    @Override
    public void execute(RequestContext asked, AgentEmitter task) {
        String text = asked.getUserInput("");
        if (asked.getTask() == null) {
            task.submit();
        }
        task.startWork();
        if (text.equals("ask") && asked.getTask() == null) {
            task.requiresInput(task.newAgentMessage(text("which one?"), null), true);
        } else if (text.equals("slow")) {
            waitForCancel(asked.getTaskId());
            task.cancel();
        } else {
            task.addArtifact(text("part 0"), "result", "result", null, false, false);
            task.addArtifact(text("part 1"), "result", "result", null, true, true);
            task.complete();
        }
    }

    @Override
    public void cancel(RequestContext asked, AgentEmitter task) {
        latch(asked.getTaskId()).countDown();
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
