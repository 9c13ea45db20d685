"""Assemble an agent's answer from the messages, tasks, status updates and artifacts that it sends for one message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from a2a.types import Artifact, Message, Part, StreamResponse, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToDict

from workbench.agents.protocol import CLOSE, OPEN, Action, parse_action
from workbench.base.text import one_line
from workbench.interop.a2a.wire import ProtocolViolation
from workbench.models.types import ModelRefused, ModelUnavailable

_MOST_EVENTS = 10_000
_MOST_CHARACTERS = 4_000_000
_ENDED = {
    TaskState.TASK_STATE_FAILED: "failed",
    TaskState.TASK_STATE_CANCELED: "was cancelled",
    TaskState.TASK_STATE_REJECTED: "rejected the message",
}
_ANSWERED = {TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_INPUT_REQUIRED}
_TEXTS = ("text/", "application/json")


@dataclass(frozen=True, slots=True)
class Reply:
    """An agent's answer; ``context`` and ``task`` are ids, and ``task`` is "" unless a task awaits input."""

    text: str
    context: str
    task: str
    metadata: Mapping[str, Any]


@dataclass(slots=True)
class ReplyCollector:
    """Collects the events for one message; ``label`` names the agent, ``known`` are artifacts of earlier messages."""

    label: str
    known: set[str] = field(default_factory=set)
    task: str = ""
    _messages: list[Message] = field(default_factory=list)
    _status: TaskStatus | None = None
    _working: dict[str, Message] = field(default_factory=dict)
    _artifacts: dict[str, Artifact] = field(default_factory=dict)
    _history: Message | None = None
    _contexts: set[str] = field(default_factory=set)
    _metadata: dict[str, Any] = field(default_factory=dict)
    _events: int = 0
    _size: int = 0

    @property
    def is_answered(self) -> bool:
        return bool(self._messages) or (self._status is not None and not self.is_pending)

    @property
    def is_pending(self) -> bool:
        state = self._status.state if self._status is not None else TaskState.TASK_STATE_UNSPECIFIED
        pending = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_UNSPECIFIED)
        return not self._messages and bool(self.task) and state in pending

    def add(self, event: StreamResponse) -> None:
        """Add an event. Raises ProtocolViolation on a second answer, another task, or too many events."""
        self._events += 1
        self._size += event.ByteSize()
        if self._events > _MOST_EVENTS or self._size > _MOST_CHARACTERS * 2:
            raise ProtocolViolation(
                f"{self.label} sent too much: more than {self._events - 1:,} events or {self._size:,} bytes for one message."
            )
        kind = event.WhichOneof("payload")
        if kind == "message":
            if self._status is not None and not self.is_pending:
                raise self._second_answer()
            self._messages.append(event.message)
            self._note(event.message.context_id, event.message.metadata)
        elif kind == "task":
            self.add_task(event.task)
        elif kind == "status_update":
            update = event.status_update
            self._set_task(update.task_id)
            self._note(update.context_id, update.metadata)
            self._set_status(update.status)
        elif kind == "artifact_update":
            self._set_task(event.artifact_update.task_id)
            self._note(event.artifact_update.context_id, event.artifact_update.metadata)
            self._add_artifact(event.artifact_update.artifact, append=event.artifact_update.append)

    def add_task(self, task: Task) -> None:
        if self._messages:
            raise self._second_answer()
        self._set_task(task.id)
        self._note(task.context_id, task.metadata)
        for artifact in task.artifacts:
            self._add_artifact(artifact, append=False)
        # The 0.3 SDK keeps the agent's messages in the task's history.
        messages = [one for one in task.history if one.role == 2]
        self._history = messages[-1] if messages else None
        if task.HasField("status"):
            self._set_status(task.status)

    def reply(self) -> Reply:
        """Return the answer.

        Raises:
            ModelError: The agent reports a failure.
            ProtocolViolation: There is no answer, or there are two contexts.
        """
        if len(self._contexts) > 1:
            raise ProtocolViolation(f"{self.label} answered one message in {len(self._contexts)} contexts.")
        context = next(iter(self._contexts), "")
        if self._messages:
            # Text messages may precede the call, but two calls would be two answers.
            if len(self._messages) > 1 and sum(_holds_call(text_of(one.parts)) for one in self._messages) != 1:
                raise self._second_answer()
            return self._reply_of([part for one in self._messages for part in one.parts], context, "")
        status = self._status
        if status is None or status.state not in _ANSWERED:
            raise self._no_answer(status)
        fresh = [part for key, one in self._artifacts.items() if key not in self.known for part in one.parts]
        self.known |= set(self._artifacts)
        message = list(status.message.parts) if status.HasField("message") else []
        waits = status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        worked = [part for one in self._working.values() for part in one.parts]
        sources = [*([message, fresh] if waits else [fresh, message]), worked]
        history = list(self._history.parts) if self._history is not None else []
        called = next((one for one in sources if _holds_call(text_of(one))), None)
        parts = called or next((one for one in (*sources[:2], history, worked) if one), [])
        if status.HasField("message"):
            self._note("", status.message.metadata)
        return self._reply_of(parts, context, self.task if waits else "")

    def _reply_of(self, parts: Iterable[Part], context: str, task: str) -> Reply:
        text = text_of(parts)
        if len(text) > _MOST_CHARACTERS:
            raise ProtocolViolation(
                f"{self.label} answered with {len(text):,} characters; the limit is {_MOST_CHARACTERS:,}."
            )
        if not text.strip():
            raise ProtocolViolation(f"{self.label} sent an empty answer.")
        return Reply(text, context, task, self._metadata)

    def _no_answer(self, status: TaskStatus | None) -> ModelUnavailable | ModelRefused | ProtocolViolation:
        if status is None:
            return ProtocolViolation(f"{self.label} ended its answer without a message or a task.")
        reason = one_line(text_of(status.message.parts), 300).rstrip(". ") if status.HasField("message") else ""
        words = f": {reason}" if reason else ""
        if status.state == TaskState.TASK_STATE_AUTH_REQUIRED:
            return ModelRefused(f"{self.label} requires credentials{words}; set them in WORKBENCH_A2A_HEADERS.")
        if status.state in _ENDED:
            return ModelUnavailable(f"{self.label} {_ENDED[status.state]}{words}.")
        return ProtocolViolation(f"{self.label} ended its answer before its task was done.")

    def _set_status(self, status: TaskStatus) -> None:
        before = self._status
        final = status.state in _ANSWERED or status.state in _ENDED
        if before is not None and (before.state in _ANSWERED or before.state in _ENDED) and before != status and final:
            raise self._second_answer()
        self._status = status
        if not final and status.HasField("message"):
            self._working[status.message.message_id] = status.message

    def _set_task(self, task: str) -> None:
        if self._messages or (self.task and task and task != self.task):
            raise self._second_answer()
        self.task = self.task or task

    def _add_artifact(self, artifact: Artifact, *, append: bool) -> None:
        had = self._artifacts.get(artifact.artifact_id)
        if had is None or not append:
            self._artifacts[artifact.artifact_id] = artifact
        else:
            had.parts.extend(artifact.parts)

    def _note(self, context: str, metadata: Any) -> None:
        if context:
            self._contexts.add(context)
        self._metadata |= MessageToDict(metadata)

    def _second_answer(self) -> ProtocolViolation:
        return ProtocolViolation(f"{self.label} answered twice.")


def text_of(parts: Iterable[Part]) -> str:
    """Return the texts of the parts as lines, or concatenated if only that yields a call.

    Data parts that contain a call become ``<json>``.
    """
    texts = [text for text in map(_text, parts) if text]
    joined = "".join(texts)
    if len(texts) > 1 and _holds_call(joined) and not any(map(_holds_call, texts)):
        return joined
    return "\n".join(texts)


def _holds_call(text: str) -> bool:
    return isinstance(parse_action(text), Action)


def _text(part: Part) -> str:
    match part.WhichOneof("content"):
        case "text":
            return str(part.text)
        case "data":
            value = MessageToDict(part.data)
            if isinstance(value, dict) and isinstance(value.get("name"), str):
                # Protocol buffers do not preserve the order of keys. Sorting them makes the text reproducible.
                rest = json.loads(json.dumps(value, sort_keys=True))
                return f"{OPEN}{json.dumps({'name': rest.pop('name'), **rest}, ensure_ascii=False)}{CLOSE}"
            return json.dumps(value, ensure_ascii=False, sort_keys=True)
        case "raw" if part.media_type.startswith(_TEXTS):
            return str(part.raw, "utf-8", "replace")
    return ""
