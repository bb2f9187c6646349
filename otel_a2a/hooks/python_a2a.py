# SPDX-License-Identifier: Apache-2.0
"""python-a2a: its client answers a failed read with a task that has FAILED, a failed cancel with one that is CANCELED,
and an answer that it cannot parse with one that is COMPLETED (0.5). The agent said none of it.

A message it tries to send in one way after the other, whatever was raised before: a refusal ends that.
"""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any, Final

from otel_a2a import patching, refusals
from otel_a2a.hooks._tell import notice, state_of, tell_state
from otel_a2a.observations import Reason
from otel_a2a.patching import Method, Patch

METHODS: Final = ("get_task", "cancel_task")
SEND: Final = "send_message"
OWN_WORDS: Final = ("Failed to get task from ", "Failed to cancel task on ")
"""How the library begins the message of a task that it made up."""
MAX_TEXT: Final = 20_000
"""Characters of an artifact up to which it is looked whether they are an answer that could not be parsed."""


def install(module: ModuleType) -> list[Patch]:
    """Watch what the client returns.

    Raises:
        PatchPointMissing: this version has no such class or method.
    """
    client = getattr(module, "A2AClient", None)
    if not isinstance(client, type):
        raise patching.PatchPointMissing(f"{module.__name__} has no A2AClient")
    for name in (*METHODS, SEND):
        patching.find(client, name)
    returning = [patching.install(client, name, _returning) for name in METHODS]
    return [*returning, patching.install(client, SEND, _sending)]


def _returning(patch: Patch) -> Method:
    original = patch.original

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not patch.active:
            return original(self, *args, **kwargs)
        task = original(self, *args, **kwargs)
        notice(_returned, args[0] if args else kwargs.get("task_id"), task)
        return task

    return call


def _sending(patch: Patch) -> Method:
    original = patch.original

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not patch.active:
            return original(self, *args, **kwargs)
        with refusals.one_call():
            return original(self, *args, **kwargs)

    return call


def _returned(task_id: Any, task: Any) -> None:
    state = state_of(task.status)
    if not state or not isinstance(task_id, str):
        return
    if _is_failure(task):
        tell_state(task_id, state, reason=Reason.TRANSPORT)
    elif _is_unparsed(task_id, task):
        tell_state(task_id, state)


def _is_failure(task: Any) -> bool:
    message = task.status.message
    error = message.get("error") if isinstance(message, dict) else None
    return isinstance(error, str) and error.startswith(OWN_WORDS)


def _is_unparsed(task_id: str, task: Any) -> bool:
    """Whether the task's only artifact is the text of the answer itself, as Python writes it."""
    try:
        ((part,),) = (artifact["parts"] for artifact in task.artifacts)
        text = part["text"]
        if len(text) > MAX_TEXT or not text.startswith("{'"):
            return False
        answer = ast.literal_eval(text)
    except Exception:  # any other artifact
        return False
    return isinstance(answer, dict) and (answer.get("id") == task_id or "jsonrpc" in answer)
