"""Export logs of Inspect: an ``.eval`` archive or a ``.json`` document for its reader and Inspect View."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from workbench.interop.formats.checking import CHANGED, difference, without_own
from workbench.interop.formats.inspect_log import KEY, NEWEST, steps_of
from workbench.interop.formats.trajectory import OWN, Result, Step, ToolCall, Totals, Trajectory, own_of, to_json

_SUMMARISED = "id epoch input target scores model_usage started_at completed_at total_time working_time uuid"
_NEVER = "1970-01-01T00:00:00+00:00"  # the format needs a time; this one says that none is known


def log_of(trajectories: Sequence[Trajectory]) -> dict[str, Any]:
    """Return everything but the samples of a log of trajectories, of one log of Inspect or of one agent and model."""
    first = trajectories[0]
    ids = list(dict.fromkeys(map(sample_name, trajectories)))
    if log := _kept(first, "log"):
        spec = dict(log.get("eval") or {})
        dataset = dict(spec.get("dataset") or {})
        planned, there = set(map(str, dataset.get("sample_ids") or ())), set(map(str, ids))
        # Of an evaluation that did not end some may be missing; one that succeeded must have all that it names.
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
        # Its reader of one long document wants them, in this order and before the samples.
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {"total_samples": len(trajectories), "completed_samples": len(trajectories), "scores": []},
        "stats": {"started_at": created, "completed_at": created, "model_usage": {}},
    }


def _kept(trajectory: Trajectory, name: str) -> dict[str, Any]:
    kept = trajectory.extra.get(KEY)
    values = kept.get(name) if isinstance(kept, dict) else None
    return dict(values) if isinstance(values, dict) else {}


def sample_name(trajectory: Trajectory) -> str | int:
    named = _kept(trajectory, "sample").get("id")
    return named if isinstance(named, str | int) and str(named) == trajectory.task else trajectory.task or "unknown"


def sample_of(trajectory: Trajectory) -> dict[str, Any]:
    """Return a trajectory as a sample; its metadata has what a sample lacks, so that an import finds it."""
    messages = [message for number, step in enumerate(trajectory.steps, 1) for message in _messages(step, number)]
    sample = _kept(trajectory, "sample") or _made(trajectory)
    sample |= {"id": sample_name(trajectory), "epoch": trajectory.repeat, "messages": messages}
    ours = dict(own_of(trajectory.extra))
    if not isinstance(trajectory.extra.get(KEY), dict):
        # What a reader will find in the sample, as far as it is known before it was read.
        plain = Trajectory(
            agent=trajectory.agent,
            model=trajectory.model or "none/none",
            task=str(sample["id"]),
            repeat=trajectory.repeat,
            steps=tuple(steps_of(messages, {})),
            totals=Totals(0, 0) if "model_usage" in sample else Totals(),
        )
        ours[CHANGED] = _forced(difference(to_json(plain), without_own(to_json(trajectory))), trajectory)
    if ours:
        sample["metadata"] = {**(sample.get("metadata") or {}), OWN: ours}
    return sample


def _forced(change: dict[str, Any] | None, trajectory: Trajectory) -> dict[str, Any]:
    """Store everything but the steps in full: what a reader makes of the head depends on its version."""
    head = {key: {"=": value} for key, value in without_own(to_json(trajectory)).items() if key != "steps"}
    steps = ((change or {}).get("d") or {}).get("steps")
    return {"d": {**head, **({"steps": steps} if steps else {})}}


def _made(trajectory: Trajectory) -> dict[str, Any]:
    first = next((step.text for step in trajectory.steps if step.source == "user"), "")
    last = next((step.text for step in reversed(trajectory.steps) if step.source == "agent"), "")
    choice = {"message": {"role": "assistant", "content": last}, "stop_reason": "stop"}
    values: dict[str, Any] = {
        "input": first,
        "target": "",
        "output": {"model": trajectory.model or "none/none", "choices": [choice], "completion": last},
    }
    tokens = [one for one in (trajectory.totals.prompt_tokens, trajectory.totals.completion_tokens) if one is not None]
    if tokens and trajectory.model:
        prompt, completion = trajectory.totals.prompt_tokens or 0, trajectory.totals.completion_tokens or 0
        usage = {"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion}
        values["model_usage"] = {trajectory.model: usage}
    if trajectory.seconds is not None:
        values["total_time"] = trajectory.seconds
    if trajectory.problem:
        values["error"] = {"message": trajectory.problem, "traceback": "", "traceback_ansi": ""}
    if scores := _scores(trajectory):
        values["scores"] = scores
    return values


def _scores(trajectory: Trajectory) -> dict[str, Any]:
    cards = own_of(trajectory.extra).get("scorecards", [])
    return {
        f"{one['card'].get('rubric')} ({one['card'].get('judge')})": {
            "value": one["card"].get("total") or 0,
            "explanation": f"{one['card'].get('total')} of {one['card'].get('out_of')} points",
            "metadata": {"tiers": one["card"].get("tiers")},
        }
        for one in cards
        # A log has no place for a score of which a part is missing: its metrics would take it for the whole.
        if isinstance(one.get("card"), dict) and one["card"].get("total") is not None and not _lacks_tiers(one["card"])
    }


def _lacks_tiers(card: dict[str, Any]) -> bool:
    criteria = [one for one in card.get("criteria") or () if isinstance(one, dict)]
    return any(one.get("points") is None and one.get("maximum") for one in criteria)


def _messages(step: Step, number: int) -> list[dict[str, Any]]:
    kept = dict(step.extra.get(KEY, {}))
    role = kept.pop("role", {"agent": "assistant"}.get(step.source, step.source))
    message: dict[str, Any] = {"role": role, "content": kept.pop("content", _content(step))}
    ids = [call.id or f"step_{number}_call_{place}" for place, call in enumerate(step.calls, 1)]
    if step.calls:
        message["tool_calls"] = [_call(call, identity) for call, identity in zip(step.calls, ids, strict=True)]
    if step.model and step.source == "agent":
        message["model"] = step.model
    return [{**message, **kept}, *(_answer(result, ids) for result in step.results or ())]


def _content(step: Step) -> Any:
    if step.reasoning is None or step.source != "agent":
        return step.text
    return [{"type": "reasoning", "reasoning": step.reasoning}, {"type": "text", "text": step.text}]


def _call(call: ToolCall, identity: str) -> dict[str, Any]:
    kept = dict(call.extra.get(KEY, {}))
    return {"id": identity, "function": call.name, "arguments": dict(call.arguments), "type": "function", **kept}


def _answer(result: Result, ids: Sequence[str]) -> dict[str, Any]:
    kept = dict(result.extra.get(KEY, {}))
    call = result.call or (ids[0] if len(ids) == 1 else None)
    if call is None and KEY not in result.extra:
        return {"role": "user", "content": result.text}
    answer: dict[str, Any] = {"role": "tool", "content": kept.pop("content", result.text)}
    return {**answer, **({"tool_call_id": call} if call is not None else {}), **kept}


# -- files


def write_log(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Write a log; ``.eval`` is an archive, any other suffix one JSON document."""
    log = log_of(trajectories)
    if path.suffix != ".eval":
        document = {**log, "samples": [sample_of(one) for one in trajectories]}
        path.write_text(json.dumps(document, ensure_ascii=False, indent=2), encoding="utf-8", errors="surrogatepass")
        return
    summaries = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        start = {name: log[name] for name in ("version", "eval", "plan") if name in log}
        _member(archive, "_journal/start.json", start)
        for one in trajectories:
            sample = sample_of(one)
            _member(archive, f"samples/{quote(str(sample['id']), safe='')}_epoch_{sample['epoch']}.json", sample)
            summaries.append(_summary(sample))
        _member(archive, "summaries.json", summaries)
        _member(archive, "reductions.json", log.get("reductions") or [])
        _member(archive, "header.json", log)


def _member(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    archive.writestr(name, json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: sample[name] for name in _SUMMARISED.split() if name in sample}
    error = sample.get("error")
    return {**values, **({"error": error.get("message", "")} if isinstance(error, dict) else {}), "completed": True}
