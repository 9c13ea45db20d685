"""Two candidates side by side: bodies, each against the original, failing tests, and what they were written from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.difference_list import DifferenceList
from workbench.app.compare.frame import HeadLines, Lines, SideBySide
from workbench.app.compare.task_tables import FailingLine, FailingRows, messages, panes_of
from workbench.app.compare.text_rows import TextRows, UnifiedRows
from workbench.app.compare.wording import change, figure
from workbench.app.location import Place
from workbench.app.marks import Marked
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.row_list import RowList, fit
from workbench.app.toolkit.texts import Static
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import (
    CandidateComparison,
    CandidateSide,
    TextPair,
    compare_candidates,
    read_candidate,
)
from workbench.glyphs import VERDICTS
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import FailingTestRow

_FIGURES = (("tokens", 8, 0), ("asked s", 8, 1), ("tested s", 9, 2), ("$", 9, 4))
_VERDICT, _FAILS = 11, 7


class CandidatesScreen(SideBySide):
    """Two candidates: of one task or of two, of one session or of two."""

    titles: ClassVar[dict[str, str]] = {
        "body-texts": "Bodies", "left-original": "Original → A", "right-original": "Original → B",
        "failing-diff": "Failing tests", "docs-texts": "Docstrings", "prompt-texts": "Prompts",
    }  # fmt: skip
    begins: ClassVar[dict[str, str]] = {"Docstring": "docs-texts", "Prompt": "prompt-texts"}

    def compose_body(self) -> Iterable[Widget]:
        """Yield the head and the panes."""
        lists: tuple[DifferenceList[Any], ...] = (
            TextRows(lambda one: _titled(one.bodies, one), id="body-texts-list"),
            UnifiedRows(lambda one: one.left_original, id="left-original-list"),
            UnifiedRows(lambda one: one.right_original, id="right-original-list"),
            FailingRows(failing_lines, id="failing-diff-list"),
            TextRows(lambda one: _titled(one.docstrings, one), id="docs-texts-list"),
            TextRows(lambda one: _titled(one.prompts, one), id="prompt-texts-list"),
        )
        yield HeadLines(4, id="head")
        yield Container(*panes_of(self.titles, lists, self.first_pane), id="candidate-panes")

    def on_mount(self) -> None:
        """Say what is being read."""
        self.set_status("two candidates side by side")
        self.query_one(HeadLines).say("Reading both candidates…")

    def read(self, left: SessionReader, right: SessionReader) -> CandidateComparison | str:
        """Read and compare both candidates."""
        sides = self.both(left, right, read_candidate, "Candidate")
        return sides if isinstance(sides, str) else compare_candidates(*sides)

    def shown(self, comparison: CandidateComparison | None, sentence: str) -> None:
        """Name what is in each pane; documentation that is the same takes no room."""
        head = self.query_one(HeadLines)
        if comparison is None:
            if sentence:
                head.say(sentence)
            return
        head.show(lambda width: head_of(comparison, width))
        self.hide_same("docs-texts", same=comparison.docstrings.same)
        self.hide_same("prompt-texts", same=comparison.prompts.same)
        for name, title in self.titles.items():
            said = _count(name, comparison)
            folded = "only what differs" if self.only_differences else ""
            set_title(self.query_one(f"#{name}"), f"{title} · {said}" if said else title, folded)
        self._refresh_tabs()
        self._show_message()

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        """Say what the test under the cursor said."""
        self._show_message()

    def _show_message(self) -> None:
        rows = self.query_one(FailingRows)
        lines = 4 if self.has_class("-h-tall") else 2
        self.query_one("#failing-message", Static).update(messages(rows.selected, rows.text_width - 1, lines))

    def target(self) -> tuple[Marked, Place | None] | None:
        """Return candidate A, or B where only that one is meant."""
        found: CandidateComparison | None = self.comparison
        if found is None:
            return None
        current = self.focused
        of_b = current is not None and current.id == "right-original-list"
        if isinstance(current, FailingRows) and current.selected is not None:
            of_b = not current.selected.left
        side, one = (found.right, self.pair.right) if of_b else (found.left, self.pair.left)
        return replace(one, run=side.task.run_id), Place(side.candidate.sample, item=side.task.id)

    def evaluator_of(self, one: Marked) -> str:
        """Return who wrote a candidate."""
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


def head_of(comparison: CandidateComparison, width: int) -> Lines:
    """Return both candidates with their verdicts and what they took, and the difference."""
    shown = list(_FIGURES)
    while shown and 3 + 24 + _VERDICT + _FAILS + sum(size for _, size, _ in shown) > width:
        shown.pop()
    keys = {"tokens": "tokens", "asked s": "asked", "tested s": "tested", "$": "cost"}
    efforts = {one.name: one for one in comparison.efforts}
    room = max(8, width - 3 - _VERDICT - _FAILS - sum(size for _, size, _ in shown))
    titles = "".join(fit(title, size, right=True) for title, size, _ in shown)
    lines: list[list[Part]] = [
        [(f"   {fit('', room)}{fit('verdict', _VERDICT)}{fit('failing', _FAILS, right=True)}{titles}", "dim")]
    ]
    for key, side, other in (
        ("A", comparison.left, comparison.right),
        ("B", comparison.right, comparison.left),
    ):
        verdict = side.candidate.verdict or side.candidate.state
        parts: list[Part] = [
            (f" {key} ", "only-a" if key == "A" else "only-b"),
            (fit(shortened(name_of(side, other), room - 1), room), "strong"),
            (fit(f"{VERDICTS.get(verdict, '·')} {verdict}", _VERDICT), "passed" if verdict == "passed" else "failed"),
            (fit(f"{len(side.failing):,}", _FAILS, right=True), ""),
        ]
        for title, size, digits in shown:
            effort = efforts[keys[title]]
            parts.append((fit(figure(effort.left if key == "A" else effort.right, digits), size, right=True), ""))
        lines.append(parts)
    alike = "  ".join(
        f"{word} {'the same' if pair.same else 'differs'}"
        for word, pair in (("docstring", comparison.docstrings), ("prompt", comparison.prompts))
    )
    parts = [(fit(f"   B − A   {alike}", 3 + room + _VERDICT), "dim")]
    failing = float(len(comparison.right.failing) - len(comparison.left.failing))
    parts.append((fit(change(failing, 0), _FAILS, right=True), "strong"))
    for title, size, digits in shown:
        parts.append((fit(change(efforts[keys[title]].difference, digits), size, right=True), "strong"))
    return [*lines, parts]


def _titled(texts: TextPair, comparison: CandidateComparison) -> TextPair:
    sides = (texts.left, comparison.left), (texts.right, comparison.right)
    left, right = (
        replace(text, title=f"{name}  {one_line(side.candidate.evaluator.rpartition('/')[2], 30)} · {text.title}")
        for name, (text, side) in zip("AB", sides, strict=True)
    )
    return replace(texts, left=left, right=right)


def _count(name: str, comparison: CandidateComparison) -> str:
    """Return the figures of a pane for its title."""
    if name == "failing-diff":
        only_a = sum(pair.right is None for pair in comparison.tests)
        only_b = sum(pair.left is None for pair in comparison.tests)
        return f"only A {only_a:,} · only B {only_b:,} · both {len(comparison.tests) - only_a - only_b:,}"
    texts: TextPair = {
        "body-texts": comparison.bodies, "left-original": comparison.left_original,
        "right-original": comparison.right_original, "docs-texts": comparison.docstrings,
        "prompt-texts": comparison.prompts,
    }[name]  # fmt: skip
    return texts.words
