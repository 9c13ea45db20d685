"""What a filter may ask of the tasks."""

from __future__ import annotations

from collections.abc import Callable

from workbench.app.toolkit.filters import Filter, Option, Question
from workbench.glyphs import CANCELLED, OUR_ERROR, VERDICTS
from workbench.results.kinds import Kind
from workbench.results.tasks import TaskLine

Rule = Callable[[TaskLine], bool]
TaskFilter = Filter[TaskLine]
_NOT_PASSED = frozenset({"failed", "timeout", "crashed", "invalid"})


def _holds(word: str) -> Rule:
    return lambda line: any(sample.word == word for sample in line.samples)


def _documented(kind: Kind) -> Rule:
    return lambda line: line.documented_as is kind


def _covered_below(share: float) -> Rule:
    return lambda line: line.coverage is not None and line.coverage < share


QUESTIONS: tuple[Question[TaskLine], ...] = (
    Question("verdict", "verdict", (
        Option("failed", "✗ a sample did not pass", "✗ not passed", lambda line: any(sample.verdict in _NOT_PASSED for sample in line.samples)),
        Option("passed", "✓ all samples passed", "✓ all passed", lambda line: line.decided and line.passed == line.counted > 0),
        Option("undecided", "· samples still to come", "· undecided", lambda line: not line.excluded and not line.decided),
        *(
            Option(key, f"{glyph} {said}", f"{glyph} {said}", _holds(key))
            for key, glyph in (*VERDICTS.items(), ("cancelled", CANCELLED))
            for said in (OUR_ERROR if key == "error" else key,)
            if key not in {"passed", "failed"}
        ),
        Option("again", "being tested again", "tested again", lambda line: line.again),
        Option("out", "taken out by a control", "taken out", lambda line: line.excluded),
    )),
    Question("coverage", "coverage", (
        *(
            Option(f"<{percent}", f"statements < {percent} %", f"cover < {percent} %", _covered_below(percent / 100))
            for percent in (25, 50, 75, 90, 100)
        ),
        Option("100", "all statements", "cover 100 %", lambda line: line.coverage is not None and line.coverage >= 1),
        Option("branches", "branches < 100 %", "branch < 100 %", lambda line: (line.branch_coverage or 1) < 1 or line.branch_coverage == 0),
        Option("unknown", "not measured", "cover not measured", lambda line: line.coverage is None),
    )),
    Question("documented", "documented", (
        Option("well", "well: half of the samples or more passed", "documented well", _documented(Kind.WELL)),
        Option("badly", "badly: fewer passed, though the tests can be passed", "documented badly", _documented(Kind.BADLY)),
        Option("untestable", "untestable: its own body does not pass", "untestable", _documented(Kind.UNTESTABLE)),
    )),
    Question("leak", "docstring", (
        Option("leaking", "≈ carries the code", "≈ leaking", lambda line: line.leaking),
        Option("clean", "does not carry the code", "not leaking", lambda line: not line.leaking),
    )),
    Question("flaky", "tests", (
        Option("flaky", "~ unstable ones execute it", "~ flaky", lambda line: line.unstable > 0),
        Option("stable", "stable ones only", "not flaky", lambda line: not line.unstable),
    )),
    Question("route", "route", (
        Option("hot", "only hot", "hot only", lambda line: line.routes == ("hot",)),
        Option("warm", "a verdict was warm", "warm", lambda line: "warm" in line.routes),
        Option("cold", "a verdict was cold", "cold", lambda line: "cold" in line.routes),
    )),
    Question("recheck", "re-check", (
        Option("disagrees", "≠ cold gave another verdict", "≠ re-check disagrees", lambda line: line.disagreeing > 0),
        Option("done", "checked again cold", "re-checked", lambda line: line.rechecked > 0),
    )),
)  # fmt: skip
EVERYTHING: TaskFilter = Filter(QUESTIONS, lambda line: f"{line.path}::{line.name}")
