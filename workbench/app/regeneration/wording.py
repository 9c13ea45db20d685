"""The glyphs, number formats, names and sentences of the Regeneration mode."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.app.keys import key_of
from workbench.app.toolkit.header import Header, HeaderPart
from workbench.base.glyphs import CANCELLED, RUNNING, STATES, VERDICTS, WAITING
from workbench.base.text import duration, money, one_line, plural
from workbench.results.runs import source_name
from workbench.session.groups import planned_docs

if TYPE_CHECKING:
    from workbench.results.regeneration_runs import EvaluatorProgress, RunView
    from workbench.results.samples import SampleState
    from workbench.session.groups import Group

_SIGNS = VERDICTS | {"running": RUNNING, "waiting": WAITING, "cancelled": CANCELLED}
_STYLES = {"error": "unscored", "cancelled": "waiting"}
_BARS = "▁▂▃▄▅▆▇█"
_MOST_REASONS = 2


@dataclass(frozen=True, slots=True)
class RunWords:
    """The names of the parts of a run; ``texts`` are the tabs shown side by side on large terminals."""

    verb: str
    figure: str
    evaluators: str
    task: str
    failing: str
    docs: str  # the tab with the text that the evaluator reads
    body: str  # the tab with the text that the evaluator wrote
    tabs: tuple[str, ...]
    texts: tuple[str, ...]
    listed: str  # noun for the entries that did not become a task


REGENERATE = RunWords(
    "regenerate", "pass", "evaluators", "function", "failing tests", "Docstring", "Candidate",
    ("Diff", "Candidate", "Docstring", "Prompt", "Answer"), ("Candidate", "Docstring", "Prompt"), "function",
)  # fmt: skip
USE = RunWords(
    "use of", "use", "readers", "call", "hidden calls", "Page", "Answer",
    ("Answer", "Page", "Statement", "Prompt", "Response"), ("Page", "Statement", "Prompt"), "callable",
)  # fmt: skip


def words_of(view: RunView | None) -> RunWords:
    return USE if view is not None and view.usage else REGENERATE


def cell_of(sample: SampleState) -> tuple[str, str]:
    """Return the sign of a sample and its style, which is the suffix of the theme's ``verdict-…`` colour."""
    return _SIGNS[sample.word], _STYLES.get(sample.word, sample.word)


def sparkline(values: Sequence[float]) -> str:
    return "".join(_BARS[min(len(_BARS) - 1, max(0, int(value * len(_BARS))))] for value in values)


def took(seconds: float | None) -> str:
    """Format the duration of a test with a sensible number of digits, or return "" for None."""
    if seconds is None:
        return ""
    if seconds < 0.0095:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:,.0f} s"


def test_name(test_id: str) -> str:
    """Return the part of a test id after the file: ``tests/test_x.py::test_a`` becomes ``test_a``."""
    return test_id.partition("::")[2] or test_id


# -- names of evaluators


def docs_of(group: Group) -> str:
    """Return what a group's evaluator reads: ``docs original``, or ``page README`` in a usage run."""
    return f"page {group.context}" if group.docs == "usage" else f"docs {group.docs_words}"


def model_name(model: str) -> str:
    """Return a short model name: ``openai/gpt-5-mini`` becomes ``gpt-5-mini``."""
    if model.startswith("local"):
        return "local"
    if model.startswith("replay:"):
        return "replay:" + model.rpartition("/")[2].removesuffix(".session")
    return one_line(model.rpartition("/")[2] or model, 40)


def short_name(evaluator: str, name: str) -> str:
    """Return the name of a group, with the name of its evaluator shortened."""
    return one_line(model_name(evaluator) + name.removeprefix(evaluator), 100)


_DIGEST = re.compile(r"@[0-9a-f]{12}$")


def short_names(rows: Iterable[EvaluatorProgress]) -> list[str]:
    """Return a short name for each row, or its full name where short names would clash.

    A short name has no digest of a page.
    """
    pairs = [(_DIGEST.sub("", short_name(row.evaluator, row.name)), row.name) for row in rows]
    short = [brief for brief, _ in pairs]
    return [one_line(name, 40) if short.count(brief) > 1 else brief for brief, name in pairs]


# -- sentences on a run


def header(view: RunView, score: str = "") -> Header:
    """Return the header: source, docs, evaluator, score, progress and cost.

    It omits the number of samples per task, which is shown right below, beside pass@k.
    """
    docs, spent = planned_docs(view.plan), view.run.spend_usd
    source = one_line(source_name(str(view.plan.get("source") or view.plan.get("name") or "?")), 40)
    return (
        HeaderPart(f"{words_of(view).verb} {source}", rank=1, name=True, short=source),
        HeaderPart(f"docs {one_line(docs, 30)}" if docs else "", rank=4),
        HeaderPart(short_name(view.evaluator, view.name_of(view.group)) if view.evaluator else "", rank=2, name=True),
        HeaderPart(score),
        HeaderPart(f"{STATES.get(view.state, '?')} {progress(view)}", reason=True),
        HeaderPart(money(spent) if spent else ""),
    )


def progress(view: RunView) -> str:
    """Return the progress of a run: its state, decided samples, rate and time left."""
    totals, resume = view.totals, f"press {key_of('regeneration.resume')}"
    of = f"{totals.decided:,} of {totals.samples:,}"
    if totals.retesting:
        # Former verdicts count until new ones arrive, so the total covers the whole group.
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
        return f"no engine started — {resume}"
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
    """Return the alarms of a run (a failed self-check, a failed run, errors), or "" if there are none.

    Tasks are named if ``room``, the width in cells, allows.
    """
    alarm, *named = view.check.banner(live=view.live, named=room >= 100).split("\n", 1)
    texts = [f"{alarm} · {key_of('regeneration.problem')} goes there" if alarm else "", *named]
    error = view.run.error or ""
    if view.state == "failed":
        key, then = ("new", "for another order") if view.permanent_failure else ("resume", "to resume")
        why = one_line(error or "no reason was recorded", 600)
        texts.append(f"✗ The run failed: {why} Press {key_of(f'regeneration.{key}')} {then}.")
    reasons = [reason for reason in view.reasons if view.state != "failed" or reason.sentence not in error]
    texts += [one_line(str(reason), max(60, room - 4)) for reason in reasons[:_MOST_REASONS]]
    if len(reasons) > _MOST_REASONS:
        texts.append(f"and {plural(len(reasons) - _MOST_REASONS, 'more kind')} of errors")
    return "\n".join(part for part in texts if part)
