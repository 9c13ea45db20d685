"""Import logs of Inspect (``.eval``, ``.json``), by its own reader, as its files have many forms (zstd, chunks, pools).

A sample is a trajectory. What the workbench has no name for, such as its events, is kept under ``extra["inspect"]``,
condensed as by Inspect. ``prompt_tokens`` are Inspect's input tokens and those that were read from or written to its
cache.
"""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.base.text import one_line
from workbench.interop.formats.checking import restored
from workbench.interop.formats.problems import ForeignProblem, amount_of, count_of, said, without
from workbench.interop.formats.trajectory import OWN, Result, Step, ToolCall, Totals, Trajectory

KEY = "inspect"
NEWEST = 2
MOST_UNPACKED = 4_000_000_000
"""Bytes that the members of an archive may have in all."""
MOST_SAMPLE = 500_000_000
"""Bytes of one member."""
MOST_MEMBERS = 1_000_000
_TOLD = ("name", "description", "parameters")


def is_log(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("eval"), dict) and "status" in value and "version" in value


def read_log(path: Path) -> Iterator[tuple[str, Trajectory | ForeignProblem | str]]:
    """Return the samples of a log as (place, trajectory or problem), and at last why a log did not end well.

    ForeignProblem: the log as a whole cannot be read, or inspect-ai is not installed.
    """
    if path.suffix == ".eval" or zipfile.is_zipfile(path):
        _check_archive(path)
    api = _reader()
    form = "eval" if zipfile.is_zipfile(path) else "json"
    header = _asked(lambda: api.read_eval_log(str(path), header_only=True, format=form))
    if header.version > NEWEST:
        raise ForeignProblem(
            f"is a log of version {header.version}; the workbench knows {NEWEST}, upgrade it to read this"
        )
    log = header.model_dump(mode="json", exclude_none=True, exclude={"samples", "reductions"})
    if form == "json":
        samples = iter(
            _asked(lambda: api.read_eval_log(str(path), format=form, resolve_attachments=True)).samples or []
        )
    else:
        samples = api.read_eval_log_samples(
            str(path), all_samples_required=False, format=form, resolve_attachments=True
        )
    names = header.eval.dataset.sample_ids
    if names is None and form == "eval":
        names = []
        samples = iter(())
    number = 0
    while True:
        number += 1
        try:
            sample = _asked(lambda: next(samples, None))
        except ForeignProblem as problem:
            yield f"sample {number}", problem
            return
        if sample is None:
            break
        place = f"sample {one_line(str(sample.id), 60)}, epoch {sample.epoch}"
        try:
            yield place, _trajectory(sample, api, log)
        except ForeignProblem as problem:
            yield place, problem
    ended, there = _ended(header), number - 1
    if not there:
        raise ForeignProblem(f"is of an evaluation that {ended}, and has no samples" if ended else "has no samples")
    if ended:
        planned = len(names) * (header.eval.config.epochs or 1) if names else 0
        of_all = f" of {planned:,}" if planned >= there else ""
        yield (
            "",
            f"is of an evaluation that {ended}: it has {there:,}{of_all} sample{'' if max(there, planned) == 1 else 's'}",
        )


def _ended(header: Any) -> str:
    if header.status == "error":
        why = one_line(header.error.message, 200) if header.error is not None else ""
        return "ended with an error" + (f" ({why})" if why else "")
    return {"started": "was not finished when this was written", "cancelled": "was cancelled"}.get(header.status, "")


def _reader() -> Any:
    try:
        import inspect_ai.log as api
    except ImportError:
        raise ForeignProblem(
            "is a log of Inspect, whose reader is not installed: pip install 'docs-workbench[inspect]'"
        ) from None
    return api


def _asked(what: Any) -> Any:
    """Call Inspect's reader; whatever it raises is the file's fault or its own, and a sentence either way."""
    try:
        return what()
    except Exception as error:
        raise ForeignProblem(f"cannot be read by inspect-ai: {said(f'{type(error).__name__}: {error}', 160)}") from None


def _check_archive(path: Path) -> None:
    """Refuse an archive that would fill the memory or escape its folder, by its table of contents alone."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise ForeignProblem("is a damaged or truncated archive") from None
    if len(members) > MOST_MEMBERS:
        raise ForeignProblem(f"has {len(members):,} members; at most {MOST_MEMBERS:,} are taken")
    names = [one.filename for one in members]
    for name in names:
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts or "\\" in name:
            raise ForeignProblem(f"was refused: its member {said(name)} leads out of the archive")
    if len(set(names)) != len(names):
        raise ForeignProblem("was refused: two of its members have the same name")
    if sum(one.file_size for one in members) > MOST_UNPACKED or any(one.file_size > MOST_SAMPLE for one in members):
        raise ForeignProblem(
            f"was refused: unpacked, a member has more than {MOST_SAMPLE:,} bytes, or all more than {MOST_UNPACKED:,}"
        )


def _trajectory(sample: Any, api: Any, log: dict[str, Any]) -> Trajectory:
    values = sample.model_dump(
        mode="json", exclude_none=True, include={"messages", "scores", "model_usage", "error", "events"}
    )
    kept = api.condense_sample(sample).model_dump(mode="json", exclude_none=True, exclude={"messages"})
    metadata = dict(kept.get("metadata") or {})
    ours = metadata.pop(OWN, None)
    if ours is not None:
        kept["metadata"] = metadata
    steps = steps_of(values.get("messages", []), _asked_models(values.get("events", [])))
    usage = [one for one in (values.get("model_usage") or {}).values() if isinstance(one, dict)]
    error, evaluation = values.get("error"), log.get("eval", {})
    plain = Trajectory(
        agent=str(evaluation.get("solver") or evaluation.get("task") or "unknown"),
        version=str((evaluation.get("packages") or {}).get("inspect_ai", "")),
        model=str(evaluation.get("model") or ""),
        task=str(sample.id),
        repeat=max(1, sample.epoch),
        steps=tuple(steps),
        tools=_tools(values.get("events", [])),
        totals=Totals(
            sum(prompt_tokens(one) or 0 for one in usage) if usage else None,
            sum(count_of(one.get("output_tokens")) or 0 for one in usage) if usage else None,
            _cost(usage),
        ),
        seconds=amount_of(kept.get("total_time")),
        problem=one_line(str(error.get("message") or "Inspect recorded an error"), 400)
        if isinstance(error, dict)
        else "",
        extra={KEY: {"log": log, "sample": kept}},
    )
    return restored(plain, ours) if isinstance(ours, dict) else plain


def _cost(usage: list[dict[str, Any]]) -> float | None:
    known = [cost for one in usage if (cost := amount_of(one.get("total_cost"))) is not None]
    return sum(known) if known else None


def prompt_tokens(usage: Mapping[str, Any]) -> int | None:
    plain = count_of(usage.get("input_tokens"))
    if plain is None:
        return None
    return plain + sum(
        count_of(usage.get(name)) or 0 for name in ("input_tokens_cache_read", "input_tokens_cache_write")
    )


def _asked_models(events: list[Any]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for event in events:
        if isinstance(event, dict) and event.get("event") == "model":
            with contextlib.suppress(LookupError, TypeError):
                found[event["output"]["choices"][0]["message"]["id"]] = event
    return found


def _tools(events: list[Any]) -> list[Any] | None:
    for event in events:
        if isinstance(event, dict) and event.get("event") == "model" and event.get("tools"):
            told = [{key: one[key] for key in _TOLD if key in one} for one in event["tools"] if isinstance(one, dict)]
            return [{"type": "function", "function": one} for one in told]
    return None


# -- messages


def steps_of(messages: list[Any], asked: Mapping[str, Mapping[str, Any]]) -> list[Step]:
    """Return the turns of a sample's messages; ``asked`` has the model event of each answer by its message's id."""
    steps: list[Step] = []
    for message in messages:
        role = message.get("role")
        if role == "tool" and steps and steps[-1].source == "agent":
            steps[-1] = replace(steps[-1], results=(*(steps[-1].results or ()), _result(message)))
        else:
            steps.append(_step(message, asked.get(message.get("id", ""), {})))
    return steps


def _parts(content: Any) -> tuple[str, str | None]:
    if isinstance(content, str):
        return content, None
    words, thoughts = [], []
    for part in content if isinstance(content, list) else []:
        if part.get("type") == "reasoning":
            thoughts.append(str(part.get("reasoning") or ""))
        elif isinstance(part.get("text"), str):
            words.append(part["text"])
        else:
            words.append(f"[{said(part.get('type'))}]")
    return "\n".join(words), "\n".join(thoughts) if thoughts else None


def _inner(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = values.get(name)
    return found if isinstance(found, dict) else {}


def _rest(message: Mapping[str, Any], *known: str) -> dict[str, Any]:
    kept = without(message, *known)
    if not isinstance(message.get("content"), str):
        kept["content"] = message.get("content")
    return kept


def _result(message: Mapping[str, Any]) -> Result:
    text, _ = _parts(message.get("content"))
    error = message.get("error")
    if not text and isinstance(error, dict):
        text = str(error.get("message") or "")
    kept = _rest(message, "role", "content", "tool_call_id")
    if isinstance(message.get("content"), str) and message["content"] != text:
        kept["content"] = message["content"]
    return Result(text, message.get("tool_call_id"), {KEY: kept})


def _step(message: Mapping[str, Any], event: Mapping[str, Any]) -> Step:
    role = message.get("role")
    text, reasoning = _parts(message.get("content"))
    source = {"user": "user", "assistant": "agent"}.get(str(role), "system")
    kept = _rest(message, "content", "tool_calls", *(["role"] if role in {"system", "user", "assistant"} else []))
    usage = _inner(_inner(event, "output"), "usage")
    return Step(
        source,
        text,
        reasoning=reasoning if source == "agent" else None,
        calls=tuple(_call(one) for one in message.get("tool_calls") or ()),
        model=message.get("model") if source == "agent" else None,
        prompt_tokens=prompt_tokens(usage),
        completion_tokens=count_of(usage.get("output_tokens")),
        cached_tokens=count_of(usage.get("input_tokens_cache_read")),
        cost_usd=amount_of(usage.get("total_cost")),
        at=event.get("completed") or event.get("timestamp"),
        seconds=amount_of(event.get("working_time")),
        extra={KEY: kept} if kept else {},
    )


def _call(call: Mapping[str, Any]) -> ToolCall:
    kept = without(call, "id", "function", "arguments", *(["type"] if call.get("type") == "function" else []))
    return ToolCall(
        str(call.get("id", "")),
        str(call.get("function", "")),
        dict(call.get("arguments") or {}),
        {KEY: kept} if kept else {},
    )
