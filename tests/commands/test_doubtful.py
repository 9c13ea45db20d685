"""A pass whose body is not plain is marked on every face and counted apart; the verdict that it replaced keeps its mark."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from regenerated import RUN, Recorder

from workbench.base import glyphs
from workbench.commands.summaries import order_summary as summary
from workbench.commands.summaries import print_order
from workbench.engine.rechecking import write_verdict
from workbench.orders.orders import last_order
from workbench.pages import write_report
from workbench.sandbox import Report, Verdict
from workbench.session import SessionReader
from workbench.session.identity import candidate_id

WHY = "it uses os.write"


@pytest.fixture
def doubtful(recorder: Recorder) -> None:
    """Two tasks of three samples: all of the first passed, one of them doubtful."""
    tasks = [recorder.task(name, place) for place, name in enumerate(("sure", "other"))]
    recorder.controls(tasks)
    for sample in range(3):
        more = {"plain": 0, "doubtful": WHY} if sample == 2 else {"plain": 1}
        ordered(recorder, tasks[0], sample, "✓", **more)
        ordered(recorder, tasks[1], sample, "✗", plain=1)


def ordered(recorder: Recorder, task: str, sample: int, glyph: str, **more: object) -> None:
    """Record a sample under the id that the run's order gives it."""
    with SessionReader(recorder.path) as reader:
        run = reader.run(RUN)
    assert run is not None
    ask = last_order(run).ask
    recorder.sample(task, sample, glyph, id=candidate_id(task, ask.evaluator, ask.prompt_version, sample), **more)


def test_the_summary_has_pass_at_k_with_and_without(
    recorder: Recorder, doubtful: None, capsys: pytest.CaptureFixture[str]
) -> None:
    closing = summary(recorder.path, RUN)
    assert closing["doubtful"] == 1
    assert closing["pass_at_k"]["1"] == pytest.approx(3 / 6)
    assert closing["pass_at_k_without_doubtful"]["1"] == pytest.approx(2 / 6)
    print_order(recorder.path, RUN, closing)
    shown = " ".join(capsys.readouterr().out.split())
    assert f"✓✓✓{glyphs.DOUBTFUL}" in shown
    assert f"without 1 {glyphs.DOUBTFUL} doubtful: pass@1 0.33" in shown


def test_where_every_pass_is_plain_nothing_is_said(recorder: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    task = recorder.task("sure", 0)
    for sample in range(3):
        ordered(recorder, task, sample, "✓", plain=1)
    closing = summary(recorder.path, RUN)
    assert closing["doubtful"] == 0
    assert closing["pass_at_k_without_doubtful"] == closing["pass_at_k"]
    print_order(recorder.path, RUN, closing)
    assert "doubtful" not in capsys.readouterr().out


def test_reports_mark_it_and_say_why(recorder: Recorder, doubtful: None) -> None:
    text = {kind: str(write_report(recorder.path, kind, None)) for kind in ("md", "html", "json")}
    assert f"✓✓✓{glyphs.DOUBTFUL}" in text["md"]
    assert f"{glyphs.DOUBTFUL} doubtful" in text["md"]
    assert WHY in text["html"]
    found = [one for one in _candidates(json.loads(text["json"])) if one["doubtful"]]
    assert [(one["verdict"], one["plain"], one["doubtful"]) for one in found] == [("passed", False, WHY)]
    rows = list(csv.DictReader(str(write_report(recorder.path, "csv", None)).splitlines()))
    assert [row["doubtful"] for row in rows if row["doubtful"]] == [WHY]


def _candidates(part: object) -> Iterator[dict[str, object]]:
    if isinstance(part, dict):
        if "candidate" in part and "doubtful" in part:
            yield part
        for inner in part.values():
            yield from _candidates(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _candidates(inner)


def test_a_replaced_verdict_keeps_its_mark(recorder: Recorder, doubtful: None) -> None:
    with SessionReader(recorder.path) as reader:
        key = next(row.id for row in reader.candidates(RUN) if row.doubtful)
    write_verdict(recorder.writer, key, Report(key, Verdict.PASSED, plain=True, backend="bubblewrap"))
    with SessionReader(recorder.path) as reader:
        now = reader.candidate(key)
        assert now is not None
        assert (now.plain, now.doubtful) == (1, None)
        assert [one.doubtful for one in reader.former_verdicts(key)] == [WHY]
