# SPDX-License-Identifier: Apache-2.0
"""Scripts of 1.0 over JSON-RPC for what differs most between dialects and occurs in no field case.

Refusals, webhooks by each of their methods, artifacts in pieces, files and data, extended cards, lists and tenants.
"""

from __future__ import annotations

from typing import Any, Final

from tests.replay.exchanges import (
    CARD,
    DATA,
    FILE,
    HISTORY_CARD,
    HOOK,
    INLINE,
    INTERNAL,
    INVALID,
    LINK,
    LONG_AFTER,
    MUTE_CARD,
    NO_PUSH,
    NOT_CANCELABLE,
    NOT_FOUND,
    PLAIN_CARD,
    TEXT,
    UNSUPPORTED,
    about_hook,
    artifact,
    call,
    cancel,
    card,
    chunk,
    delivered,
    document,
    events,
    get,
    holding,
    hook,
    send,
    status,
    subscribe,
)
from tests.replay.scripts import message, task

SITUATIONS: Final[dict[str, dict[str, Any]]] = {
    "lost-to-a-read": document(card(), send(), get(NOT_FOUND)),
    "lost-to-a-subscription": document(card(), send(), subscribe(NOT_FOUND)),
    "lost-to-a-message": document(card(), send("INPUT_REQUIRED"), send(NOT_FOUND, taskId="t-1", messageId="m-2")),
    "lost-and-found": document(card(), send(), get(NOT_FOUND), get("WORKING")),
    "read-refused": document(card(), send(), get(UNSUPPORTED)),
    "subscription-refused": document(card(), send(), subscribe(UNSUPPORTED)),
    "cancel-refused": document(card(), send(), cancel(UNSUPPORTED), LONG_AFTER),
    "not-cancelable": document(card(), send(), cancel(NOT_CANCELABLE), LONG_AFTER),
    "cancel-answered-alive": document(card(), send(), cancel("WORKING"), LONG_AFTER),
    "cancel-fails": document(card(), send(), cancel(INTERNAL), LONG_AFTER),
    "message-refused-and-repeated": document(
        card(),
        send("INPUT_REQUIRED"),
        send(INVALID, taskId="t-1", contextId="c-1", messageId="m-2"),
        send(taskId="t-1", contextId="c-1", messageId="m-2"),
    ),
    "unsupported-and-repeated": document(card(), send(UNSUPPORTED), send()),
    "stream-refused-and-repeated": document(
        card(), call("SendStreamingMessage", {"message": message()}, INVALID), send()
    ),
    "crashed-and-repeated": document(card(), send(INTERNAL), send()),
    "unanswered-and-repeated": document(card(), send({"error": "ReadTimeout"}), send()),
    "data-unanswered-and-repeated": document(
        card(),
        send({"error": "ReadTimeout"}, parts=[DATA, FILE, LINK], contextId="c-1"),
        send(parts=[DATA, FILE, LINK], contextId="c-1", messageId="m-2"),
    ),
    "other-data-after-unanswered": document(
        card(),
        send({"error": "ReadTimeout"}, parts=[DATA], contextId="c-1"),
        send(parts=[{"data": {"amount": 4}}], contextId="c-1", messageId="m-2"),
    ),
    "resent-after-regression": document(
        card(),
        send(parts=[TEXT, DATA]),
        get("SUBMITTED"),
        send(taskId="t-1", contextId="c-1", messageId="m-2", parts=[TEXT, DATA]),
    ),
    "push-refused": document(card(), send(), hook(NO_PUSH), LONG_AFTER),
    "push-denied": document(card(PLAIN_CARD), send(), hook()),
    "push-denied-inline": document(card(PLAIN_CARD), send(configuration=INLINE)),
    "push-not-mentioned": document(card(MUTE_CARD), send(), hook()),
    "push-of-an-ended-task": document(card(), send("COMPLETED"), hook()),
    "push-of-a-poisoned-task": document(card(), send(), get("SUBMITTED"), hook()),
    "push-from-a-stale-card": document(card(), send(), hook(), settings={"webhook_card_window_s": 1}),
    "push-once-more": document(
        card(),
        send(configuration=INLINE),
        {**hook(), "t": 2000},
        settings={"webhook_card_window_s": 600},
    ),
    "push-withdrawn": document(
        card(), send(configuration=INLINE), card(PLAIN_CARD), LONG_AFTER, settings={"deadline_s": 1000}
    ),
    "push-deleted-before-withdrawn": document(
        card(),
        send(configuration=INLINE),
        about_hook("DeleteTaskPushNotificationConfig", None),
        card(PLAIN_CARD),
        LONG_AFTER,
    ),
    "push-read-and-listed": document(
        card(PLAIN_CARD),
        send(),
        about_hook("GetTaskPushNotificationConfig", {"id": "c1"}),
        about_hook("ListTaskPushNotificationConfigs", {"configs": []}, ""),
    ),
    "push-in-vain": document(card(), send(configuration=INLINE), LONG_AFTER, settings={"webhook_silence_s": 60}),
    "pushes": document(
        card(),
        send(configuration=INLINE),
        delivered({"task": holding("WORKING", artifact("a1", TEXT))}),
        delivered(status("COMPLETED")),
        delivered(status("FAILED")),
    ),
    "push-of-a-stranger": document(
        card(),
        send(configuration=INLINE),
        {**delivered(status("COMPLETED")), "request": {"url": HOOK, "body": status("COMPLETED")}},
    ),
    "skipped-working": document(
        card(HISTORY_CARD), events({"task": task("SUBMITTED")}, status("COMPLETED")), profile="declared-history"
    ),
    "asked-without-working": document(
        card(HISTORY_CARD), events({"task": task("SUBMITTED")}, status("INPUT_REQUIRED")), profile="declared-history"
    ),
    "answered-with-another-task": document(
        card(HISTORY_CARD),
        send("INPUT_REQUIRED"),
        send({"task": task("WORKING", "t-2")}, taskId="t-1", contextId="c-1", messageId="m-2"),
    ),
    "context-of-a-task-changed": document(card(), send(), get(task("WORKING") | {"contextId": "c-2"})),
    "state-without-information": document(card(), send(), get("UNSPECIFIED"), get("COMPLETED")),
    "state-nobody-knows": document(card(), send(), get("DREAMING"), get("COMPLETED")),
    "read-in-part": document(
        card(),
        send({"task": holding("WORKING", artifact("a1", TEXT))}),
        call("GetTask", {"id": "t-1", "historyLength": 1}, holding("WORKING", artifact("a1", TEXT))),
    ),
    "extended-card-denied": document(card(PLAIN_CARD), call("GetExtendedAgentCard", {}, CARD)),
    "extended-card": document(
        card({**CARD, "capabilities": {"streaming": True, "extendedAgentCard": True}}),
        call("GetExtendedAgentCard", {}, CARD),
        send(configuration=INLINE),
    ),
    "stream-not-mentioned": document(card(MUTE_CARD), events({"task": task("WORKING")}, status("COMPLETED"))),
    "media-type-not-taken": document(card(), send(parts=[FILE]), send(parts=[LINK], messageId="m-2")),
    "artifact-truncated": document(
        card(),
        events({"task": task("WORKING")}, chunk("a1", TEXT), chunk("a1", DATA, append=True), status("COMPLETED")),
        get(holding("COMPLETED", artifact("a1", TEXT))),
    ),
    "artifact-whole": document(
        card(),
        events(
            {"task": task("WORKING")},
            chunk("a1", TEXT),
            chunk("a1", DATA, FILE, append=True, lastChunk=True),
            status("COMPLETED"),
        ),
        get(holding("COMPLETED", artifact("a1", TEXT, DATA, FILE))),
    ),
    "artifact-gone": document(
        card(),
        send({"task": holding("WORKING", artifact("a1", LINK), artifact("a2", TEXT))}),
        get(holding("WORKING", artifact("a2", TEXT))),
    ),
    "artifact-late": document(
        card(),
        events({"task": task("WORKING")}, status("COMPLETED"), chunk("a1", FILE, append=False)),
    ),
    "artifact-after-its-end": document(
        card(),
        events({"task": task("WORKING")}, chunk("a1", DATA, lastChunk=True), chunk("a1", FILE, append=True)),
    ),
    "artifact-of-another-task": document(
        card(),
        send({"task": holding("COMPLETED", artifact("a1", DATA, FILE))}),
        send(
            {"task": holding("COMPLETED", artifact("a1", DATA, FILE), artifact("a2", LINK)) | {"id": "t-2"}},
            contextId="c-1",
            messageId="m-2",
        ),
    ),
    "error-in-a-stream": document(
        card(), events({"task": task("WORKING")}, status("SUBMITTED"), INTERNAL), get("WORKING")
    ),
    "rolled-back": document(
        card(),
        send(),
        get(task("WORKING") | {"status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-01-01T00:10:00.000Z"}}),
        get(task("WORKING") | {"status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-01-01T00:00:00.000Z"}}),
    ),
    "only-messages": document(
        card(),
        *(
            send(
                {"message": {"messageId": f"r{at}", "role": "ROLE_AGENT", "contextId": "c-1", "parts": [TEXT]}},
                contextId="c-1",
                messageId=f"m{at}",
            )
            for at in range(3)
        ),
    ),
    "message-in-another-context": document(
        card(),
        send(
            {"message": {"messageId": "r1", "role": "ROLE_AGENT", "contextId": "c-2", "parts": [TEXT]}}, contextId="c-1"
        ),
    ),
    "reply-by-reference": document(
        card(),
        send("INPUT_REQUIRED"),
        send({"task": task("WORKING", "t-2")}, contextId="c-1", messageId="m-2", referenceTaskIds=["t-1"]),
    ),
    "reply-to-nobody": document(
        card(), send("AUTH_REQUIRED"), send({"task": task("WORKING", "t-2")}, contextId="c-1", messageId="m-2")
    ),
    "gateway-rejects": document(
        card(),
        {**send(), "response": {"status": 401, "raw": "<html>who are you</html>"}},
        send(messageId="m-2"),
    ),
}
"""What both versions have words for, by name. ``profile``: the one to judge by, where that is not the default."""

ONLY_IN_1_0: Final = {
    "listed-tasks-prove-nothing": document(
        card(),
        send({"task": holding("WORKING", artifact("a1", TEXT))}),
        call(
            "ListTasks",
            {"contextId": "c-1"},
            {"tasks": [task("WORKING")], "nextPageToken": "", "pageSize": 50, "totalSize": 1},
        ),
        call(
            "ListTasks",
            {"includeArtifacts": True},
            {"tasks": [task("SUBMITTED")], "nextPageToken": "", "pageSize": 50, "totalSize": 1},
        ),
    ),
    "tenants": document(
        card(),
        call(
            "SendMessage",
            {"tenant": "acme", "message": message()},
            {"task": holding("COMPLETED", artifact("a1", DATA))},
        ),
        call(
            "SendMessage",
            {"tenant": "other", "message": message(messageId="m-2")},
            {"task": holding("COMPLETED", artifact("a1", DATA))},
        ),
        call("GetTask", {"id": "t-1", "tenant": "acme"}, task("FAILED")),
    ),
}
"""What only 1.0 has words for."""
