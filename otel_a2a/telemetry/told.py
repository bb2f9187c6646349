# SPDX-License-Identifier: Apache-2.0
"""What a span of the A2A conventions tells of a call: attributes in, observations out.

For spans that others make (``otel_a2a.processor``) and for spans that were recorded (``otel_a2a.replay.traces``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from otel_a2a import semconv
from otel_a2a.observations import (
    STATES,
    A2AError,
    CallFailed,
    CallStarted,
    Channel,
    Form,
    Method,
    SentMessage,
    SpanRef,
    TaskSeen,
)

JUDGED: Final = frozenset(
    (
        Method.SEND_MESSAGE,
        Method.SEND_STREAMING_MESSAGE,
        Method.GET_TASK,
        Method.CANCEL_TASK,
        Method.SUBSCRIBE_TO_TASK,
        Method.LIST_TASKS,
        Method.CREATE_PUSH_CONFIG,
    )
)
"""Names of the spans that are judged."""
_NOT_FOUND: Final = ("-32001", A2AError.TASK_NOT_FOUND)


def call_of(method: str, attributes: Mapping[str, Any], span: SpanRef) -> CallStarted:
    """The call, but for its task: what a span has at its end may be the task that the answer created."""
    address, port = str(attributes.get(semconv.SERVER_ADDRESS, "")), attributes.get(semconv.SERVER_PORT)
    message_id = str(attributes.get(semconv.A2A_MESSAGE_ID, ""))
    return CallStarted(
        method=method,
        binding="",
        protocol_version=str(attributes.get(semconv.A2A_PROTOCOL_VERSION, "")),
        # All that the conventions give of the interface. Who knows more adds it: a host may have several agents.
        endpoint=f"//{address}:{port}",
        server_address=address,
        server_port=port if isinstance(port, int) else None,
        tenant=str(attributes.get(semconv.A2A_TENANT, "")),
        context_id=str(attributes.get(semconv.GEN_AI_CONVERSATION_ID, "")),
        message=SentMessage(message_id=message_id, parts="") if message_id else None,
        span=span,
    )


def answer_of(call: CallStarted, attributes: Mapping[str, Any]) -> list[TaskSeen | CallFailed]:
    """What the answer was, as far as the span of ``call`` shows it at its end."""
    seen: list[TaskSeen | CallFailed] = []
    state = attributes.get(semconv.A2A_TASK_STATE)
    task_id = str(attributes.get(semconv.A2A_TASK_ID, ""))
    if task_id and state:
        seen.append(
            TaskSeen(
                call=call,
                channel=Channel.RESPONSE,
                # A span tells nothing of artifacts, so their absence proves nothing.
                form=Form.UPDATE,
                task_id=task_id,
                context_id=call.context_id,
                state=str(state) if state in STATES else None,
                raw_state=str(state),
            )
        )
    error = str(attributes.get(semconv.ERROR_TYPE, ""))
    if error:
        # A stream that broke had told a state before.
        reason = A2AError.TASK_NOT_FOUND if error in _NOT_FOUND else error
        seen.append(CallFailed(call=call, error=reason, from_agent=error in _NOT_FOUND))
    return seen
