"""Glyphs, numbers, names and sentences of the Regeneration mode as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.toolkit.header import Header, Part
from workbench.base.glyphs import CANCELLED, RUNNING, STATES, VERDICTS, WAITING
from workbench.base.text import duration, money, one_line, plural
from workbench.results.runs import source_name
from workbench.session.groups import planned_docs

if TYPE_CHECKING:
    from workbench.results.regeneration_runs import EvaluatorProgress, RunView
    from workbench.results.samples import SampleState

_SIGNS = VERDICTS | {"running": RUNNING, "waiting": WAITING, "cancelled": CANCELLED}
_STYLES = {"error": "unscored", "cancelled": "waiting"}
_BARS = "▁▂▃▄▅▆▇█"
_MOST_REASONS = 2


def cell_of(sample: SampleState) -> tuple[str, str]:
    """Return the sign of a sample and its style, which is called as the theme's ``verdict-…`` colour."""
    return _SIGNS[sample.word], _STYLES.get(sample.word, sample.word)


def sparkline(values: Sequence[float]) -> str:
    """Return a bar per value between 0 and 1."""
    return "".join(_BARS[min(len(_BARS) - 1, max(0, int(value * len(_BARS))))] for value in values)


def took(seconds: float | None) -> str:
    """Return how long a test took, with the digits that matter."""
    if seconds is None:
        return ""
    if seconds < 0.0095:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def test_name(test_id: str) -> str:
    """Return what follows the file in a test id: ``test_a`` of ``tests/test_x.py::test_a``."""
    return test_id.partition("::")[2] or test_id


# -- names of evaluators


def model_name(model: str) -> str:
    """Return a model's name as it fits a header: ``openai/gpt-5-mini`` is ``gpt-5-mini``."""
    if model.startswith("local"):
        return "local"
    if model.startswith("replay:"):
        return "replay:" + model.rpartition("/")[2].removesuffix(".session")
    return one_line(model.rpartition("/")[2] or model, 40)


def short_name(evaluator: str, name: str) -> str:
    """Return the name of a group with the short name of its evaluator."""
    return one_line(model_name(evaluator) + name.removeprefix(evaluator), 100)


def short_names(rows: Iterable[EvaluatorProgress]) -> list[str]:
    """Return a short name for each row, the whole one where two would be called alike."""
    pairs = [(short_name(row.evaluator, row.name), row.name) for row in rows]
    short = [brief for brief, _ in pairs]
    return [one_line(name, 40) if short.count(brief) > 1 else brief for brief, name in pairs]


# -- sentences on a run


def header(view: RunView, score: str = "") -> Header:
    """Return the header: what is regenerated from which docs by which model, its score, what it cost, how far it is.

    How many samples there are of each task stands beside pass@k, right below.
    """
    docs, spent = planned_docs(view.plan), view.run.spend_usd
    source = one_line(source_name(str(view.plan.get("source") or view.plan.get("name") or "?")), 40)
    return (
        Part(f"regenerate {source}", rank=1, name=True, short=source),
        Part(f"docs {one_line(docs, 30)}" if docs else "", rank=4),
        Part(short_name(view.evaluator, view.name_of(view.group)) if view.evaluator else "", rank=2, name=True),
        Part(score),
        Part(f"{STATES.get(view.state, '?')} {progress(view)}", reason=True),
        Part(money(spent) if spent else ""),
    )


def progress(view: RunView) -> str:
    """Return state, samples decided, rate and time left."""
    totals, resume = view.totals, f"press {key_of('regeneration.resume')}"
    of = f"{totals.decided:,} of {totals.samples:,}"
    if totals.retesting:
        # Their former verdicts count until the new ones are there, so the whole group is what is told of.
        of = f"{of} · {totals.retesting:,} to test again"
    if view.state == "queued":
        return "waiting for the engine…"
    if view.state == "running" and view.building:
        stage = next((stage for stage in view.stages if stage.state == "running"), None)
        return "building tasks" + (f": {one_line(stage.name, 30)}" if stage else "…")
    if view.state == "running":
        if not view.rate:
            return of
        each = f"{view.rate:.1f}/s" if view.rate >= 0.95 else f"{max(1, round(60 * view.rate))}/min"
        return f"{of} · {each} · {duration((totals.samples - totals.decided + totals.retesting) / view.rate)} left"
    if view.state == "interrupted" and view.run.state == "queued":
        return f"no engine took it up — {resume}"
    if view.state == "interrupted":
        at = f" {'with' if totals.retesting else 'at'} {of}" if totals.samples else ""
        return f"interrupted{at} — {resume} to resume"
    if view.state == "failed":
        return f"failed: {one_line(view.run.error or 'no reason was recorded', 300)}"
    if view.state == "cancelled":
        return f"cancelled at {of}"
    if totals.retesting:
        return f"done, but {of} — {resume}"
    return f"done, {plural(totals.samples, 'sample')}" + (
        f" in {duration(totals.elapsed_s)}" if totals.elapsed_s else ""
    )


def trouble(view: RunView, room: int = 400) -> str:
    """Return what must not be missed: a self-check that does not hold, a run that failed; "" if all is well.

    Tasks are named where there is ``room`` for it, in cells.
    """
    alarm, *named = view.check.banner(live=view.live, named=room >= 100).split("\n", 1)
    said = [f"{alarm} · {key_of('regeneration.problem')} goes there" if alarm else "", *named]
    error = view.run.error or ""
    if view.state == "failed":
        key, then = ("new", "for another order") if view.lasting else ("resume", "to resume")
        why = one_line(error or "no reason was recorded", 600)
        said.append(f"✗ The run failed: {why} Press {key_of(f'regeneration.{key}')} {then}.")
    told = [reason for reason in view.reasons if view.state != "failed" or reason.sentence not in error]
    said += [one_line(str(reason), max(60, room - 4)) for reason in told[:_MOST_REASONS]]
    if len(told) > _MOST_REASONS:
        said.append(f"and {plural(len(told) - _MOST_REASONS, 'more kind')} of errors")
    return "\n".join(part for part in said if part)
