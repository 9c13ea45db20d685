"""The common trajectory model of all formats.

It follows ATIF, the richest format. Fields without an equivalent are in ``extra`` under the format's name
(``"inspect"``, ``"swe-agent"``, …), so that an export in the same format is lossless, and exports in other formats
preserve them.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

import msgspec

from workbench.base.text import one_line
from workbench.base.typed_json import convert, encode
from workbench.interop.formats.values import ForeignProblem, patched, without

Extra = Mapping[str, Any]
Count = Annotated[int, msgspec.Meta(ge=0, lt=10**15)]
Amount = Annotated[float, msgspec.Meta(ge=0, lt=1e15)]
OWN = "workbench"
"""The key of the workbench's own data in ``extra``: scores, remarks and the case."""
CHANGED = "difference"
"""The key of differences that a format could not express."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call; ``id`` is "" if the format has none, and ``arguments`` is a JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """The output of a tool or the environment; ``call`` is the id of the corresponding call, or None."""

    text: str
    call: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One step; None means that the file does not specify the value."""

    source: Annotated[str, msgspec.Meta(pattern="^(system|user|agent)$")]
    text: str
    reasoning: str | None = None  # reasoning before the message
    calls: Sequence[ToolCall] = ()
    results: Sequence[Result] | None = None  # results in order; None if there is no observation
    model: str | None = None
    prompt_tokens: Count | None = None  # prompt tokens, including cached tokens
    completion_tokens: Count | None = None
    cached_tokens: Count | None = None
    cost_usd: Amount | None = None
    at: str | None = None  # ISO 8601 time as in the file
    seconds: Amount | None = None
    extra: Extra = field(default_factory=dict)

    @property
    def observed(self) -> str:
        return "\n".join(one.text for one in self.results or ())


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of a trajectory as specified by the file, or None."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cost_usd: Amount | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The steps of one agent on one task."""

    agent: str
    steps: Sequence[Step]
    version: str = ""
    model: str = ""  # "" if unknown
    task: str = ""  # id or name of the task, "" if unknown
    repeat: Count = 1  # number of the attempt, from 1
    tools: Sequence[Any] | None = None  # tools in OpenAI's format
    totals: Totals = Totals()
    seconds: Amount | None = None
    problem: str = ""  # the reason for having no result
    submission: str | None = None  # submitted patch or text, if known
    extra: Extra = field(default_factory=dict)  # all other fields, by format

    @property
    def scores(self) -> list[dict[str, str]]:
        """The original program's scores as texts: ``scorer``, ``value``, ``explanation``."""
        ours = {
            f"{one['card'].get('rubric')} ({one['card'].get('judge')})"
            for one in own_of(self.extra).get("scorecards", [])
            if isinstance(one, dict) and isinstance(one.get("card"), dict)
        }
        places = [part for name, part in self.extra.items() if name != OWN and isinstance(part, dict)]
        places += [
            part[name] for part in places for name in ("sample", "extra", "info") if isinstance(part.get(name), dict)
        ]
        found: dict[str, dict[str, str]] = {}
        for place in places:
            scores = place.get("scores")
            for name, value in scores.items() if isinstance(scores, dict) else ():
                if name not in ours:
                    found[str(name)] = _score(str(name), value)
            for name in ("score", "reward"):
                if isinstance(place.get(name), bool | int | float | str):
                    found[name] = _score(name, place[name])
        return list(found.values())

    @property
    def digest(self) -> str:
        """The SHA-256 of the content in hex, without scores and annotations."""
        text = json.dumps(without_own(encode(self)), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _score(scorer: str, score: Any) -> dict[str, str]:
    values = score if isinstance(score, dict) and "value" in score else {"value": score}
    value, explanation = values["value"], values.get("explanation")
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {
        "scorer": one_line(scorer, 100),
        "value": one_line(shown, 100),
        "explanation": one_line(explanation, 400) if isinstance(explanation, str) else "",
    }


def own_of(extra: Extra) -> dict[str, Any]:
    values = extra.get(OWN)
    return values if isinstance(values, dict) else {}


def with_own(extra: Extra, values: Mapping[str, Any]) -> dict[str, Any]:
    return {**extra, OWN: {**own_of(extra), **values}}


def without_own(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "extra": {key: value for key, value in values["extra"].items() if key != OWN}}


def unix(text: str | None) -> float | None:
    """Parse an ISO 8601 time (UTC by default) into Unix seconds, or return None if it is invalid."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def iso(moment: float) -> str:
    """Format Unix seconds as ISO 8601 in UTC, with microseconds."""
    return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")


# -- as JSON


def head_to_json(trajectory: Trajectory) -> dict[str, Any]:
    return without(encode(replace(trajectory, steps=())), "steps")


def restored(plain: Trajectory, ours: Mapping[str, Any]) -> Trajectory:
    """Restore a trajectory exported by the workbench from a format's content and the stored difference."""
    own = without(ours, CHANGED)
    try:
        found = convert(Trajectory, patched(without_own(encode(plain)), ours.get(CHANGED)))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise ForeignProblem("has workbench data that does not match its content") from None
    return replace(found, extra={**found.extra, **({OWN: own} if own else {})})


# -- files that the calls of a step listed or read


_READING = "read_file view_file read view open open_file cat str_replace_editor str_replace_based_edit_tool"
_READERS = frozenset(_READING.split())
_LISTERS = frozenset({"list_directory", "list_dir", "list_files", "ls"})
_SHELLS = frozenset({"bash", "shell", "execute_bash", "run_command", "terminal", "execute"})
_PATHS = ("path", "file_path", "filename", "file", "filepath")
_SHELL_READERS = frozenset({"cat", "nl", "head", "tail"})
_OPERATORS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<", "<<", "(", ")"})
_LONGEST = 1000


class FileAccess(NamedTuple):
    """A path that was ``listed`` or ``read``."""

    path: str
    how: str


def seen_in(step: Step) -> list[FileAccess]:
    """Return the files that a step's calls accessed; with several calls, each must have an identifiable result."""
    results = {one.call: one.text for one in step.results or () if one.call}
    found = []
    for call in step.calls:
        observed = results.get(call.id) if call.id in results else (step.observed if len(step.calls) == 1 else None)
        if observed:
            found += list(_of_call(call, observed))
    return list(dict.fromkeys(one for one in found if one.path and len(one.path) <= _LONGEST and "\0" not in one.path))


def _of_call(call: ToolCall, observed: str) -> Iterator[FileAccess]:
    name, arguments = call.name.rpartition(".")[2].lower(), call.arguments
    if name in _SHELLS:
        yield from _of_command(_text(arguments, ("command", "cmd")), observed)
        return
    path = _text(arguments, _PATHS)
    if name in _LISTERS:
        yield from _listed(path or ".", observed)
    elif name in _READERS and path and arguments.get("command", "view") == "view":
        yield FileAccess(_plain(path), "read")


def _text(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := arguments.get(name), str)), "")


def _of_command(command: str, observed: str) -> Iterator[FileAccess]:
    """Parse a single cat, nl, head, tail or ls; commands with pipes, variables or patterns are ignored."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return
    if not words or _OPERATORS & set(words) or any(character in command for character in "*?$`\n"):
        return
    program, *rest = words
    paths = [word for word in rest if not word.startswith("-") and not word.isdecimal()]
    if program in _SHELL_READERS:
        yield from (FileAccess(_plain(path), "read") for path in paths)
    elif program == "ls" and len(rest) == len(paths) <= 1:
        yield from _listed(paths[0] if paths else ".", observed)


def _listed(folder: str, observed: str) -> Iterator[FileAccess]:
    try:
        value = json.loads(observed)
    except (ValueError, RecursionError):
        value = None
    names = value if isinstance(value, list) else observed.splitlines()
    for line in names:
        name = line.strip() if isinstance(line, str) else ""
        if name and not name.startswith("<") and ":" not in name:
            yield FileAccess(_plain(posixpath.join(folder, name)), "listed")


def _plain(path: str) -> str:
    plain = posixpath.normpath(path)
    return f"{plain}/" if path.endswith("/") and plain not in {".", "/"} else plain
