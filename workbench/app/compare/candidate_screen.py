"""Two candidates side by side: bodies, each against the original, failing tests, and what they were written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.app.compare.difference_list import DifferenceList, DifferenceTable
from workbench.app.compare.frame import SideBySide
from workbench.app.compare.head import Figure, HeadTable, counted, took
from workbench.app.compare.task_tables import FailingLine, failing
from workbench.app.compare.text_rows import TextRows, UnifiedRows
from workbench.app.compare.wording import alike, only_and_both
from workbench.app.location import Place
from workbench.app.marks import Marked
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import (
    CandidateComparison,
    CandidateSide,
    TextPair,
    compare_candidates,
    read_candidate,
)
from workbench.glyphs import VERDICTS
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import FailingTestRow

_FIGURES = (("tokens", "tokens", 8, 0), ("asked", "asked s", 8, 1), ("tested", "tested s", 9, 2), ("cost", "$", 9, 4))


class CandidatesScreen(SideBySide):
    """Two candidates: of one task or of two, of one session or of two."""

    titles: ClassVar[dict[str, str]] = {
        "body-texts": "Bodies", "left-original": "Original → A", "right-original": "Original → B",
        "failing-diff": "Failing tests", "docs-texts": "Docstrings", "prompt-texts": "Prompts",
    }  # fmt: skip
    begins: ClassVar[dict[str, str]] = {"Docstring": "docs-texts", "Prompt": "prompt-texts"}

    what = "two candidates"

    def lists_of(self) -> Sequence[DifferenceList[Any]]:
        return (
            TextRows(lambda one: _titled(one.bodies, one), id="body-texts-list"),
            UnifiedRows(lambda one: one.left_original, id="left-original-list"),
            UnifiedRows(lambda one: one.right_original, id="right-original-list"),
            DifferenceTable(failing(failing_lines), id="failing-diff-list"),
            TextRows(lambda one: _titled(one.docstrings, one), id="docs-texts-list"),
            TextRows(lambda one: _titled(one.prompts, one), id="prompt-texts-list"),
        )

    def read(self, left: SessionReader, right: SessionReader) -> CandidateComparison | str:
        sides = self.both(left, right, read_candidate, "Candidate")
        return sides if isinstance(sides, str) else compare_candidates(*sides)

    def figures_of(self, pane: str, comparison: CandidateComparison) -> str:
        if pane == "failing-diff":
            return only_and_both(comparison.tests)
        texts: TextPair = {
            "body-texts": comparison.bodies, "left-original": comparison.left_original,
            "right-original": comparison.right_original, "docs-texts": comparison.docstrings,
            "prompt-texts": comparison.prompts,
        }[pane]  # fmt: skip
        return texts.words

    def head_of(self, comparison: CandidateComparison, width: int) -> HeadTable:
        a, b = comparison.left, comparison.right
        efforts = {one.name: one for one in comparison.efforts}
        return HeadTable(
            names=(name_of(a, b), name_of(b, a)),
            figures=(
                Figure(title="verdict", of=(_verdict(a), _verdict(b), ""), width=11, text=True),
                counted("failing", len(a.failing), len(b.failing)),
                *(
                    took(efforts[name], title, width, digits, at + 1)
                    for at, (name, title, width, digits) in enumerate(_FIGURES)
                ),
            ),
            alike=alike(docstring=comparison.docstrings, prompt=comparison.prompts),
        )

    def target(self) -> tuple[Marked, Place | None] | None:
        found: CandidateComparison | None = self.comparison
        if found is None:
            return None
        current = self.focused
        of_b = current is not None and current.id == "right-original-list"
        if isinstance(current, DifferenceTable) and current.selected is not None:
            of_b = not current.selected.left
        side, one = (found.right, self.pair.right) if of_b else (found.left, self.pair.left)
        return replace(one, run=side.task.run_id), Place(side.candidate.sample, item=side.task.id)

    def evaluator_of(self, one: Marked) -> str:
        found: CandidateComparison | None = self.comparison
        if found is None:
            return ""
        return next(
            (side.candidate.evaluator for side in (found.left, found.right) if side.candidate.id == one.key), ""
        )


def failing_lines(comparison: CandidateComparison) -> Sequence[FailingLine]:
    """Return the failing tests of either."""
    return [
        FailingLine(
            pair.test,
            _outcome(pair.left),
            _outcome(pair.right),
            pair.left.message if pair.left else "",
            pair.right.message if pair.right else "",
            pair.same,
        )
        for pair in comparison.tests
    ]


def _outcome(row: FailingTestRow | None) -> str:
    return "" if row is None else f"✗ {row.outcome}"


def _verdict(side: CandidateSide) -> Part:
    verdict = side.candidate.verdict or side.candidate.state
    return f"{VERDICTS.get(verdict, '·')} {verdict}", "passed" if verdict == "passed" else "failed"


def name_of(side: CandidateSide, other: CandidateSide) -> str:
    """Return evaluator, function and sample, with what else tells the two apart."""
    task, row = side.task, side.candidate
    parts = [row.evaluator.rpartition("/")[2], task.qualified_name, f"sample {row.sample + 1}"]
    for mine, theirs, said in (
        (task.path, other.task.path, task.path),
        (task.docs_words, other.task.docs_words, f"docs {task.docs_words}"),
        (row.prompt, other.candidate.prompt, row.prompt),
        (row.context, other.candidate.context, row.context),
        (row.run_id, other.candidate.run_id, f"run {row.run_id}"),
        (side.session, other.session, side.session),
    ):
        parts += [said] if mine != theirs else []
    return one_line(" · ".join(parts), 200)


def _titled(texts: TextPair, comparison: CandidateComparison) -> TextPair:
    sides = (texts.left, comparison.left), (texts.right, comparison.right)
    left, right = (
        replace(text, title=f"{name}  {one_line(side.candidate.evaluator.rpartition('/')[2], 30)} · {text.title}")
        for name, (text, side) in zip("AB", sides, strict=True)
    )
    return replace(texts, left=left, right=right)
