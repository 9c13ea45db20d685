"""Read Inspect logs (``.eval``, ``.json``) with inspect-ai, because they have many variants (zstd, chunks, pools).

Each sample becomes a trajectory. Fields without an equivalent, such as a sample's events, are stored under
``extra["inspect"]`` in Inspect's condensed form. ``prompt_tokens`` is the sum of Inspect's input tokens and its cache
reads and writes.
"""

from __future__ import annotations

import contextlib
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from workbench.base.errors import UsageError
from workbench.base.files import replaced, shown
from workbench.base.text import one_line, plural
from workbench.base.typed_json import encode
from workbench.interop.formats.exporting import TrajectoryFormat, Written
from workbench.interop.formats.reading import Read
from workbench.interop.formats.trajectory import (
    CHANGED,
    OWN,
    Result,
    Step,
    ToolCall,
    Totals,
    Trajectory,
    own_of,
    restored,
    without_own,
)
from workbench.interop.formats.values import (
    ForeignProblem,
    amount_of,
    count_of,
    difference,
    object_or_none,
    patched,
    quoted_value,
)
from workbench.session import SessionReader

KEY = "inspect"
NEWEST = 2
MOST_UNPACKED = 4_000_000_000
"""Maximum unpacked bytes of all members of an archive."""
MOST_SAMPLE = 500_000_000
"""Maximum unpacked bytes of one member."""
MOST_MEMBERS = 1_000_000
_NEVER = "1970-01-01T00:00:00+00:00"  # the format requires a time; this time means that it is unknown
_SUMMARISED = "id epoch input target scores model_usage started_at completed_at total_time working_time uuid"


class Inspect(TrajectoryFormat):
    """One log per imported Inspect log, or per agent and model."""

    about = "trajectories as an Inspect log, .eval or .json"
    magic = b"PK"

    def fits(self, value: Any) -> bool:
        return (
            isinstance(value, dict) and isinstance(value.get("eval"), dict) and "status" in value and "version" in value
        )

    def found(self, value: Any, path: Path, place: str) -> Iterator[Read]:
        """Yield the samples of a log, followed by a remark if the evaluation did not succeed."""
        if place:
            raise ForeignProblem("is an Inspect log inside another file; import the log itself")
        api, form, header = _opened(path)
        log = header.model_dump(mode="json", exclude_none=True, exclude={"samples", "reductions"})
        names, count = header.eval.dataset.sample_ids, 0
        for sample in _samples(api, path, form, names):
            if isinstance(sample, ForeignProblem):
                yield Read(self.name, None, str(sample), f"sample {count + 1}")
                return
            count += 1
            where = f"sample {one_line(str(sample.id), 60)}, epoch {sample.epoch}"
            try:
                yield Read(self.name, _trajectory(sample, api, log), place=where)
            except ForeignProblem as problem:
                yield Read(self.name, None, str(problem), where)
        ended = _ended(header)
        if not count:
            raise ForeignProblem(f"is of an evaluation that {ended}, and has no samples" if ended else "has no samples")
        if ended:
            planned = len(names) * (header.eval.config.epochs or 1) if names else 0
            of_all = f"{count:,} of {plural(planned, 'sample')}" if planned >= count else plural(count, "sample")
            yield Read(self.name, None, remark=f"is of an evaluation that {ended}: it has {of_all}")

    def put(self, reader: SessionReader, output: Path, found: Iterator[tuple[str, Trajectory]]) -> Written:
        groups: dict[str, list[Trajectory]] = {}
        for _, one in found:
            log = _kept(one, "log")
            named = json.dumps(log, sort_keys=True) if log else json.dumps([one.agent, one.model])
            # Sample ids and epochs are unique within a log, so further trials of the same sample go into another log.
            place, number = named, 1
            while any(
                (_sample_name(one), one.repeat) == (_sample_name(other), other.repeat)
                for other in groups.get(place, ())
            ):
                number += 1
                place = f"{named}#{number}"
            groups.setdefault(place, []).append(one)
        is_file = output.suffix in {".eval", ".json"}
        if len(groups) > 1 and is_file:
            raise UsageError(
                f"There are {len(groups)} logs (agents, models or Inspect logs), but {shown(output)} is a file; name a folder."
            )
        for number, group in enumerate(groups.values(), 1):
            path = output if is_file and not output.is_dir() else output / "001.eval"
            if len(groups) > 1:
                path = output / f"{number:03d}-{re.sub(r'[^A-Za-z0-9._-]+', '-', group[0].agent)[:60]}.eval"
            with replaced(path) as building:
                _write(building, group)
        return Written(sum(map(len, groups.values())), f"trajectories in {plural(len(groups), 'log')}")


# -- import


def _opened(path: Path) -> tuple[Any, str, Any]:
    """Return inspect-ai's reader, and the log's format and header."""
    packed = zipfile.is_zipfile(path)
    if path.suffix == ".eval" or packed:
        _check_archive(path)
    try:
        import inspect_ai.log as api
    except ImportError:
        raise ForeignProblem(
            "is an Inspect log, and inspect-ai is not installed: pip install 'docs-workbench[inspect]'"
        ) from None
    form = "eval" if packed else "json"
    header = _guarded(lambda: api.read_eval_log(str(path), header_only=True, format=form))
    if header.version > NEWEST:
        raise ForeignProblem(
            f"is a log of version {header.version}, but the workbench supports {NEWEST}; upgrade it to read this file"
        )
    return api, form, header


def _samples(api: Any, path: Path, form: str, names: Sequence[Any] | None) -> Iterator[Any]:
    """Yield Inspect's samples; at an unreadable sample, yield the problem and stop."""
    if form == "json":
        log = _guarded(lambda: api.read_eval_log(str(path), format=form, resolve_attachments=True))
        samples = iter(log.samples or [])
    elif names is None:
        return
    else:
        samples = api.read_eval_log_samples(
            str(path), all_samples_required=False, format=form, resolve_attachments=True
        )
    try:
        while (sample := _guarded(lambda: next(samples, None))) is not None:
            yield sample
    except ForeignProblem as problem:
        yield problem


def _ended(header: Any) -> str:
    if header.status == "error":
        why = one_line(header.error.message, 200) if header.error is not None else ""
        return "ended with an error" + (f" ({why})" if why else "")
    return {"started": "was still running when this log was written", "cancelled": "was cancelled"}.get(
        header.status, ""
    )


def _guarded(what: Any) -> Any:
    """Call inspect-ai, converting any exception into a ForeignProblem."""
    try:
        return what()
    except Exception as error:
        raise ForeignProblem(
            f"cannot be read by inspect-ai: {quoted_value(f'{type(error).__name__}: {error}', 160)}"
        ) from None


def _check_archive(path: Path) -> None:
    """Reject zip bombs and path traversal, using the archive's table of contents."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise ForeignProblem("is a damaged or truncated archive") from None
    if len(members) > MOST_MEMBERS:
        raise ForeignProblem(f"has {len(members):,} members; the limit is {MOST_MEMBERS:,}")
    names = [one.filename for one in members]
    for name in names:
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts or "\\" in name:
            raise ForeignProblem(f"was rejected: its member {quoted_value(name)} escapes the archive")
    if len(set(names)) != len(names):
        raise ForeignProblem("was rejected: two of its members have the same name")
    if sum(one.file_size for one in members) > MOST_UNPACKED or any(one.file_size > MOST_SAMPLE for one in members):
        raise ForeignProblem(
            f"was rejected: unpacked, a member has more than {MOST_SAMPLE:,} bytes, or all more than {MOST_UNPACKED:,}"
        )


def _trajectory(sample: Any, api: Any, log: dict[str, Any]) -> Trajectory:
    values = sample.model_dump(
        mode="json", exclude_none=True, include={"messages", "scores", "model_usage", "error", "events"}
    )
    original = api.condense_sample(sample).model_dump(mode="json", exclude_none=True, exclude={"messages"})
    metadata = dict(original.get("metadata") or {})
    ours = metadata.pop(OWN, None)
    if ours is not None:
        original["metadata"] = metadata
    events = [one for one in values.get("events", []) if isinstance(one, dict) and one.get("event") == "model"]
    messages = values.get("messages", [])
    steps = _steps(messages, events)
    usage = [one for one in (values.get("model_usage") or {}).values() if isinstance(one, dict)]
    costs = [cost for one in usage if (cost := amount_of(one.get("total_cost"))) is not None]
    error, evaluation = values.get("error"), log.get("eval", {})
    plain = Trajectory(
        agent=str(evaluation.get("solver") or evaluation.get("task") or "unknown"),
        version=str((evaluation.get("packages") or {}).get("inspect_ai", "")),
        model=str(evaluation.get("model") or ""),
        task=str(sample.id),
        repeat=max(1, sample.epoch),
        steps=steps,
        tools=_tools(events),
        totals=Totals(
            sum(_prompt_tokens(one) or 0 for one in usage) if usage else None,
            sum(count_of(one.get("output_tokens")) or 0 for one in usage) if usage else None,
            sum(costs) if costs else None,
        ),
        seconds=amount_of(original.get("total_time")),
        problem=one_line(str(error.get("message") or "Inspect recorded an error"), 400)
        if isinstance(error, dict)
        else "",
        extra={KEY: {"log": log, "sample": original, CHANGED: difference(_messages(steps), messages)}},
    )
    return restored(plain, ours) if isinstance(ours, dict) else plain


def _prompt_tokens(usage: Mapping[str, Any]) -> int | None:
    plain = count_of(usage.get("input_tokens"))
    if plain is None:
        return None
    return plain + sum(
        count_of(usage.get(name)) or 0 for name in ("input_tokens_cache_read", "input_tokens_cache_write")
    )


def _tools(events: list[dict[str, Any]]) -> list[Any] | None:
    listed = next((event["tools"] for event in events if event.get("tools")), None)
    if listed is None:
        return None
    known = [{key: one[key] for key in ("name", "description", "parameters") if key in one}
             for one in listed if isinstance(one, dict)]  # fmt: skip
    return [{"type": "function", "function": one} for one in known]


# -- messages


def _steps(messages: list[Any], events: list[dict[str, Any]]) -> tuple[Step, ...]:
    """Convert a sample's messages to steps, with tokens and times from model events with the same message id."""
    events_by_id: dict[str, Mapping[str, Any]] = {}
    for event in events:
        with contextlib.suppress(LookupError, TypeError):
            events_by_id[event["output"]["choices"][0]["message"]["id"]] = event
    steps: list[Step] = []
    for message in messages:
        if message.get("role") == "tool" and steps and steps[-1].source == "agent":
            steps[-1] = replace(steps[-1], results=(*(steps[-1].results or ()), _result(message)))
        else:
            steps.append(_step(message, events_by_id.get(message.get("id", ""), {})))
    return tuple(steps)


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
            words.append(f"[{quoted_value(part.get('type'))}]")
    return "\n".join(words), "\n".join(thoughts) if thoughts else None


def _result(message: Mapping[str, Any]) -> Result:
    text, _ = _parts(message.get("content"))
    error = message.get("error")
    if not text and isinstance(error, dict):
        text = str(error.get("message") or "")
    return Result(text, message.get("tool_call_id"))


def _step(message: Mapping[str, Any], event: Mapping[str, Any]) -> Step:
    text, reasoning = _parts(message.get("content"))
    source = {"user": "user", "assistant": "agent"}.get(str(message.get("role")), "system")
    usage = object_or_none((object_or_none(event.get("output")) or {}).get("usage")) or {}
    return Step(
        source,
        text,
        reasoning=reasoning if source == "agent" else None,
        calls=tuple(
            ToolCall(str(one.get("id", "")), str(one.get("function", "")), dict(one.get("arguments") or {}))
            for one in message.get("tool_calls") or ()
        ),
        model=message.get("model") if source == "agent" else None,
        prompt_tokens=_prompt_tokens(usage),
        completion_tokens=count_of(usage.get("output_tokens")),
        cached_tokens=count_of(usage.get("input_tokens_cache_read")),
        cost_usd=amount_of(usage.get("total_cost")),
        at=event.get("completed") or event.get("timestamp"),
        seconds=amount_of(event.get("working_time")),
    )


def _messages(steps: Sequence[Step]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, step in enumerate(steps, 1):
        ids = [call.id or f"step_{number}_call_{place}" for place, call in enumerate(step.calls, 1)]
        content: Any = step.text
        if step.reasoning is not None and step.source == "agent":
            content = [{"type": "reasoning", "reasoning": step.reasoning}, {"type": "text", "text": step.text}]
        message = {"role": "assistant" if step.source == "agent" else step.source, "content": content}
        if step.calls:
            message["tool_calls"] = [
                {"id": identity, "function": call.name, "arguments": dict(call.arguments), "type": "function"}
                for call, identity in zip(step.calls, ids, strict=True)
            ]
        if step.model and step.source == "agent":
            message["model"] = step.model
        messages.append(message)
        for result in step.results or ():
            call = result.call or (ids[0] if len(ids) == 1 else None)
            answer = {"role": "tool", "tool_call_id": call} if call is not None else {"role": "user"}
            messages.append({**answer, "content": result.text})
    return messages


# -- export


def _write(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Write a log: an archive for ``.eval``, otherwise a JSON document."""
    log = _log_of(trajectories)
    if path.suffix != ".eval":
        document = {**log, "samples": [sample_of(one) for one in trajectories]}
        path.write_text(json.dumps(document, ensure_ascii=False, indent=2), encoding="utf-8", errors="surrogatepass")
        return
    summaries = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:

        def put(name: str, value: Any) -> None:
            archive.writestr(name, json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))

        put("_journal/start.json", {name: log[name] for name in ("version", "eval", "plan") if name in log})
        for one in trajectories:
            sample = sample_of(one)
            put(f"samples/{quote(str(sample['id']), safe='')}_epoch_{sample['epoch']}.json", sample)
            summary = {name: sample[name] for name in _SUMMARISED.split() if name in sample}
            if isinstance(error := sample.get("error"), dict):
                summary["error"] = error.get("message", "")
            summaries.append({**summary, "completed": True})
        put("summaries.json", summaries)
        put("reductions.json", log.get("reductions") or [])
        put("header.json", log)


def _log_of(trajectories: Sequence[Trajectory]) -> dict[str, Any]:
    """Return a log without samples, for trajectories that share an Inspect log, or an agent and a model."""
    first = trajectories[0]
    ids = list(dict.fromkeys(map(_sample_name, trajectories)))
    if log := _kept(first, "log"):
        spec = dict(log.get("eval") or {})
        dataset = dict(spec.get("dataset") or {})
        planned, there = set(map(str, dataset.get("sample_ids") or ())), set(map(str, ids))
        # A successful log must contain all samples that it names, so name only those written; an unfinished log may
        # lack some.
        if planned != there and not (there < planned and log.get("status") != "success"):
            dataset |= {"samples": len(ids), "sample_ids": ids}
        return {**log, "eval": {**spec, "dataset": dataset}}
    created = next((step.at for one in trajectories for step in one.steps if step.at), _NEVER)
    return {
        "version": NEWEST,
        "status": "success",
        "eval": {
            "created": created,
            "task": first.agent,
            "dataset": {"name": first.agent, "samples": len(ids), "sample_ids": ids},
            "model": first.model or "none/none",
            "config": {"epochs": max(one.repeat for one in trajectories)},
        },
        # Inspect's streaming JSON reader expects these keys in this order, before the samples.
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {"total_samples": len(trajectories), "completed_samples": len(trajectories), "scores": []},
        "stats": {"started_at": created, "completed_at": created, "model_usage": {}},
    }


def _kept(trajectory: Trajectory, name: str) -> dict[str, Any]:
    return object_or_none((object_or_none(trajectory.extra.get(KEY)) or {}).get(name)) or {}


def _sample_name(trajectory: Trajectory) -> str | int:
    named = _kept(trajectory, "sample").get("id")
    return named if isinstance(named, str | int) and str(named) == trajectory.task else trajectory.task or "unknown"


def sample_of(trajectory: Trajectory) -> dict[str, Any]:
    """Convert a trajectory to a sample. Fields without an equivalent are stored in its metadata for a later import."""
    messages = _messages(trajectory.steps)
    sample = {**(_kept(trajectory, "sample") or _made(trajectory)), "id": _sample_name(trajectory)}
    sample |= {"epoch": trajectory.repeat, "messages": patched(messages, _kept(trajectory, CHANGED) or None)}
    ours = dict(own_of(trajectory.extra))
    if not isinstance(trajectory.extra.get(KEY), dict):
        # The head is stored completely, because readers of different versions interpret it differently.
        whole = without_own(encode(trajectory))
        change = {name: {"=": value} for name, value in whole.items() if name != "steps"}
        steps = difference(encode(_steps(messages, [])), whole["steps"])
        ours[CHANGED] = {"d": {**change, **({"steps": steps} if steps else {})}}
    if ours:
        sample["metadata"] = {**(sample.get("metadata") or {}), OWN: ours}
    return sample


def _made(trajectory: Trajectory) -> dict[str, Any]:
    first = next((step.text for step in trajectory.steps if step.source == "user"), "")
    last = next((step.text for step in reversed(trajectory.steps) if step.source == "agent"), "")
    choice = {"message": {"role": "assistant", "content": last}, "stop_reason": "stop"}
    values: dict[str, Any] = {
        "input": first,
        "target": "",
        "output": {"model": trajectory.model or "none/none", "choices": [choice], "completion": last},
    }
    totals = trajectory.totals
    if trajectory.model and (totals.prompt_tokens, totals.completion_tokens) != (None, None):
        prompt, completion = totals.prompt_tokens or 0, totals.completion_tokens or 0
        usage = {"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion}
        values["model_usage"] = {trajectory.model: usage}
    if trajectory.seconds is not None:
        values["total_time"] = trajectory.seconds
    if trajectory.problem:
        values["error"] = {"message": trajectory.problem, "traceback": "", "traceback_ansi": ""}
    cards = [object_or_none(one.get("card")) or {} for one in own_of(trajectory.extra).get("scorecards", [])]
    # Inspect's metrics would treat a partial score as a complete one.
    if whole := [card for card in cards if card.get("total") is not None and not _lacks_tiers(card)]:
        values["scores"] = {
            f"{card.get('rubric')} ({card.get('judge')})": {
                "value": card["total"] or 0,
                "explanation": f"{card['total']} of {card.get('out_of')} points",
                "metadata": {"tiers": card.get("tiers")},
            }
            for card in whole
        }
    return values


def _lacks_tiers(card: dict[str, Any]) -> bool:
    criteria = [one for one in card.get("criteria") or () if isinstance(one, dict)]
    return any(one.get("points") is None and one.get("maximum") for one in criteria)
