"""Two tasks side by side: what they are, function, docstring, prompt, tests, and what each evaluator made of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Container
from textual.widget import Widget

from workbench.app.compare.difference_list import DifferenceList
from workbench.app.compare.frame import HeadLines, Lines, SideBySide
from workbench.app.compare.task_tables import EvaluatorRows, FactRows, TaskTestRows, panes_of
from workbench.app.compare.text_rows import TextRows
from workbench.app.compare.wording import change
from workbench.app.location import Place
from workbench.app.marks import Marked
from workbench.app.toolkit.literal import set_title
from workbench.app.toolkit.row_list import fit
from workbench.app.toolkit.virtual_view import Part
from workbench.comparison import TaskComparison, TaskSide, TextPair, compare_tasks, read_task
from workbench.text import one_line, shortened

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader

_TESTS, _FAILING, _PASSED = 7, 9, 10


class TasksScreen(SideBySide):
    """Two tasks: of two functions, or of one with other documentation; of one session or of two."""

    titles: ClassVar[dict[str, str]] = {
        "function-texts": "Functions", "task-facts": "Facts", "task-evaluators": "Evaluators", "task-tests": "Tests",
        "docs-texts": "Docstrings", "prompt-texts": "Prompts",
    }  # fmt: skip
    begins: ClassVar[dict[str, str]] = {"Docstring": "docs-texts", "Prompt": "prompt-texts"}

    def compose_body(self) -> Iterable[Widget]:
        """Yield the head and the panes."""
        lists: tuple[DifferenceList[Any], ...] = (
            TextRows(lambda one: _titled(one.functions), id="function-texts-list"),
            FactRows(id="task-facts-list"),
            EvaluatorRows(id="task-evaluators-list"),
            TaskTestRows(id="task-tests-list"),
            TextRows(lambda one: _titled(one.docstrings), id="docs-texts-list"),
            TextRows(lambda one: _titled(one.prompts), id="prompt-texts-list"),
        )
        yield HeadLines(4, id="head")
        yield Container(*panes_of(self.titles, lists, self.first_pane), id="task-panes")

    def on_mount(self) -> None:
        """Say what is being read."""
        self.set_status("two tasks side by side")
        self.query_one(HeadLines).say("Reading both tasks…")

    def read(self, left: SessionReader, right: SessionReader) -> TaskComparison | str:
        """Read and compare both tasks."""
        sides = self.both(left, right, read_task, "Task")
        return sides if isinstance(sides, str) else compare_tasks(*sides)

    def shown(self, comparison: TaskComparison | None, sentence: str) -> None:
        """Name what is in each pane; texts that are the same take no room."""
        head = self.query_one(HeadLines)
        if comparison is None:
            if sentence:
                head.say(sentence)
            return
        head.show(lambda width: head_of(comparison, width))
        texts = {
            "function-texts": comparison.functions,
            "docs-texts": comparison.docstrings,
            "prompt-texts": comparison.prompts,
        }
        for name in ("docs-texts", "prompt-texts"):
            self.hide_same(name, same=texts[name].same)
        for name, title in self.titles.items():
            said = texts[name].words if name in texts else _count(name, comparison)
            folded = "only what differs" if self.only_differences else ""
            set_title(self.query_one(f"#{name}"), f"{title} · {said}" if said else title, folded)
        self._refresh_tabs()

    def target(self) -> tuple[Marked, Place | None] | None:
        """Return task A, or B where the row under the cursor is of that one alone."""
        found: TaskComparison | None = self.comparison
        if found is None:
            return None
        rows = self.focused
        test = rows.selected if isinstance(rows, TaskTestRows) else None
        of_b = test is not None and test.left is None
        side, one = (found.right, self.pair.right) if of_b else (found.left, self.pair.left)
        return replace(one, run=side.task.run_id), Place(item=side.task.id)


def head_of(comparison: TaskComparison, width: int) -> Lines:
    """Return four lines: by what the two differ, A, B, and the difference."""
    room = max(8, width - 3 - _TESTS - _FAILING - _PASSED)
    columns = (
        fit("tests", _TESTS, right=True) + fit("failing", _FAILING, right=True) + fit("passed", _PASSED, right=True)
    )
    differ = ", ".join(what for what, a, b in comparison.facts if a != b)
    said = shortened(f"differ in: {differ}" if differ else "alike in all facts", room - 1)
    lines: list[list[Part]] = [[(f"   {fit(said, room)}{columns}", "dim")]]
    for key, side, other in (("A", comparison.left, comparison.right), ("B", comparison.right, comparison.left)):
        passed, counted = _samples(side)
        lines.append(
            [
                (f" {key} ", "only-a" if key == "A" else "only-b"),
                (fit(shortened(name_of(side, other), room - 1), room), "strong"),
                (fit(f"{len(side.tests):,}", _TESTS, right=True), ""),
                (fit(f"{_failing(side):,}", _FAILING, right=True), ""),
                (fit(f"{passed:,}/{counted:,}", _PASSED, right=True), ""),
            ]
        )
    alike = "  ".join(
        f"{word} {'the same' if pair.same else 'differs'}"
        for word, pair in (
            ("function", comparison.functions),
            ("docstring", comparison.docstrings),
            ("prompt", comparison.prompts),
        )
    )
    tests = float(len(comparison.right.tests) - len(comparison.left.tests))
    failing = float(_failing(comparison.right) - _failing(comparison.left))
    return [
        *lines,
        [
            (fit(f"   B − A   {alike}", 3 + room), "dim"),
            (fit(change(tests, 0), _TESTS, right=True), "strong"),
            (fit(change(failing, 0), _FAILING, right=True), "strong"),
        ],
    ]


def name_of(side: TaskSide, other: TaskSide) -> str:
    """Return file and function, with what else tells the two apart."""
    parts = [f"{side.task.path}::{side.name}"]
    for mine, theirs, said in (
        (side.task.docs_words, other.task.docs_words, f"docs {side.task.docs_words}"),
        (side.run, other.run, f"run {side.run}"),
        (side.session, other.session, side.session),
    ):
        parts += [said] if mine != theirs else []
    return one_line(" · ".join(parts), 200)


def _samples(side: TaskSide) -> tuple[int, int]:
    results = side.results.values()
    return sum(one.passed for one in results), sum(one.counted for one in results)


def _failing(side: TaskSide) -> int:
    return sum(bool(test.failed) for test in side.tests.values())


def _titled(texts: TextPair) -> TextPair:
    left, right = (
        replace(text, title=f"{name}  {text.title}") for name, text in zip("AB", (texts.left, texts.right), strict=True)
    )
    return replace(texts, left=left, right=right)


def _count(name: str, comparison: TaskComparison) -> str:
    """Return the figures of a pane for its title."""
    if name == "task-tests":
        only_a = sum(pair.right is None for pair in comparison.tests)
        only_b = sum(pair.left is None for pair in comparison.tests)
        return f"only A {only_a:,} · only B {only_b:,} · both {len(comparison.tests) - only_a - only_b:,}"
    if name == "task-facts":
        return f"{sum(a != b for _, a, b in comparison.facts):,} of {len(comparison.facts):,} differ"
    return f"{sum(not pair.same for pair in comparison.evaluators):,} of {len(comparison.evaluators):,} differ"
