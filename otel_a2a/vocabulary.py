# SPDX-License-Identifier: Apache-2.0
"""A2A's own terms, in the spelling of 1.0, and those for what an application decides: every dialect becomes these."""

from __future__ import annotations

from typing import Final


class TaskState:
    """The task states of A2A 1.0, in the spelling of the wire; older dialects are normalised to it."""

    SUBMITTED: Final = "TASK_STATE_SUBMITTED"
    WORKING: Final = "TASK_STATE_WORKING"
    INPUT_REQUIRED: Final = "TASK_STATE_INPUT_REQUIRED"
    AUTH_REQUIRED: Final = "TASK_STATE_AUTH_REQUIRED"
    COMPLETED: Final = "TASK_STATE_COMPLETED"
    FAILED: Final = "TASK_STATE_FAILED"
    CANCELED: Final = "TASK_STATE_CANCELED"
    REJECTED: Final = "TASK_STATE_REJECTED"


TERMINAL: Final = frozenset((TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED))
INTERRUPTED: Final = frozenset((TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED))
STATES: Final = frozenset((TaskState.SUBMITTED, TaskState.WORKING)) | INTERRUPTED | TERMINAL


def rank(state: str) -> int:
    """How far a state is along a task's life: 0 submitted, 1 working or interrupted, 2 terminal."""
    if state in TERMINAL:
        return 2
    return 0 if state == TaskState.SUBMITTED else 1


class Method:
    """Names of A2A operations (semantic-conventions-genai PR #195); every dialect is normalised to them."""

    SEND_MESSAGE: Final = "SendMessage"
    SEND_STREAMING_MESSAGE: Final = "SendStreamingMessage"
    GET_TASK: Final = "GetTask"
    LIST_TASKS: Final = "ListTasks"
    CANCEL_TASK: Final = "CancelTask"
    SUBSCRIBE_TO_TASK: Final = "SubscribeToTask"
    CREATE_PUSH_CONFIG: Final = "CreateTaskPushNotificationConfig"
    GET_PUSH_CONFIG: Final = "GetTaskPushNotificationConfig"
    LIST_PUSH_CONFIGS: Final = "ListTaskPushNotificationConfigs"
    DELETE_PUSH_CONFIG: Final = "DeleteTaskPushNotificationConfig"
    GET_EXTENDED_CARD: Final = "GetExtendedAgentCard"
    GET_CARD: Final = "GetAgentCard"
    """Not an A2A operation: our name for the public card's fetch, in the same style."""


SENDS: Final = frozenset((Method.SEND_MESSAGE, Method.SEND_STREAMING_MESSAGE))
READS: Final = frozenset((Method.GET_TASK, Method.SUBSCRIBE_TO_TASK))
STREAMS: Final = frozenset((Method.SEND_STREAMING_MESSAGE, Method.SUBSCRIBE_TO_TASK))


class Channel:
    """How an observation reached this process."""

    RESPONSE: Final = "response"
    STREAM: Final = "stream"
    WEBHOOK: Final = "webhook"
    LOCAL: Final = "local"


class Form:
    """How much of a task an observation shows."""

    SNAPSHOT: Final = "snapshot"
    """A whole Task object: absence in it means something."""
    LISTED: Final = "listed"
    """A Task out of a list, or trimmed by the request: absence proves nothing."""
    UPDATE: Final = "update"
    """A status or artifact event."""


class A2AError:
    """Reasons of A2A errors, in the spelling of ``google.rpc.ErrorInfo.reason`` (A2A 1.0, section 5.4)."""

    TASK_NOT_FOUND: Final = "TASK_NOT_FOUND"
    TASK_NOT_CANCELABLE: Final = "TASK_NOT_CANCELABLE"
    PUSH_NOT_SUPPORTED: Final = "PUSH_NOTIFICATION_NOT_SUPPORTED"
    UNSUPPORTED_OPERATION: Final = "UNSUPPORTED_OPERATION"
    VERSION_NOT_SUPPORTED: Final = "VERSION_NOT_SUPPORTED"


class Decision:
    """What an application decided about a task without the wire."""

    STATE: Final = "state"
    ARTIFACT_DROPPED: Final = "artifact-dropped"
    ARTIFACT_MERGED: Final = "artifact-merged"
    ABANDONED: Final = "abandoned"
    CARD_REJECTED: Final = "card-rejected"
    CARD_FROM_CACHE: Final = "card-from-cache"


class Reason:
    """Reasons of local decisions that rules know; any other text is one too."""

    SERVER: Final = "server"
    TRANSPORT: Final = "transport"
    POLL_EMPTY: Final = "poll-empty"
    CAPABILITY: Final = "capability"
    STREAM_END: Final = "stream-end"
    USER: Final = "user"
    DEADLINE: Final = "deadline"
