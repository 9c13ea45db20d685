"""Two tasks side by side: what they are, function, docstring, prompt, tests, and what each evaluator made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.app.compare.difference_list import DifferenceList, DifferenceTable
from workbench.app.compare.frame import SideBySide
from workbench.app.compare.head import Figure, HeadTable, counted
from workbench.app.compare.task_tables import EVALUATORS, FACTS, TESTS
from workbench.app.compare.text_rows import TextRows
from workbench.app.compare.wording import alike, only_and_both
from workbench.app.location import Place
from workbench.app.marks import Marked
from workbench.comparison import TaskComparison, TaskSide, TextPair, compare_tasks, read_task
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader


class TasksScreen(SideBySide):
    """Two tasks: of two functions, or of one with other documentation; of one session or of two."""

    titles: ClassVar[dict[str, str]] = {
        "function-texts": "Functions", "task-facts": "Facts", "task-evaluators": "Evaluators", "task-tests": "Tests",
        "docs-texts": "Docstrings", "prompt-texts": "Prompts",
    }  # fmt: skip
    begins: ClassVar[dict[str, str]] = {"Docstring": "docs-texts", "Prompt": "prompt-texts"}

    what = "two tasks"

    def lists_of(self) -> Sequence[DifferenceList[Any]]:
        return (
            TextRows(lambda one: _titled(one.functions), id="function-texts-list"),
            DifferenceTable(FACTS, id="task-facts-list"),
            DifferenceTable(EVALUATORS, id="task-evaluators-list"),
            DifferenceTable(TESTS, id="task-tests-list"),
            TextRows(lambda one: _titled(one.docstrings), id="docs-texts-list"),
            TextRows(lambda one: _titled(one.prompts), id="prompt-texts-list"),
        )

    def read(self, left: SessionReader, right: SessionReader) -> TaskComparison | str:
        sides = self.both(left, right, read_task, "Task")
        return sides if isinstance(sides, str) else compare_tasks(*sides)

    def figures_of(self, pane: str, comparison: TaskComparison) -> str:
        texts = {
            "function-texts": comparison.functions,
            "docs-texts": comparison.docstrings,
            "prompt-texts": comparison.prompts,
        }
        if pane in texts:
            return texts[pane].words
        if pane == "task-tests":
            return only_and_both(comparison.tests)
        if pane == "task-facts":
            return f"{sum(a != b for _, a, b in comparison.facts):,} of {len(comparison.facts):,} differ"
        return f"{sum(not pair.same for pair in comparison.evaluators):,} of {len(comparison.evaluators):,} differ"

    def head_of(self, comparison: TaskComparison, width: int) -> HeadTable:
        a, b = comparison.left, comparison.right
        differ = ", ".join(what for what, mine, theirs in comparison.facts if mine != theirs)
        passed = [f"{passed:,}/{counted:,}" for passed, counted in map(_samples, (a, b))]
        return HeadTable(
            names=(name_of(a, b), name_of(b, a)),
            shared=f"differ in: {differ}" if differ else "alike in all facts",
            figures=(
                counted("tests", len(a.tests), len(b.tests)),
                counted("failing", _failing(a), _failing(b)),
                Figure(title="passed", of=(passed[0], passed[1], ""), width=9),
            ),
            alike=alike(function=comparison.functions, docstring=comparison.docstrings, prompt=comparison.prompts),
        )

    def target(self) -> tuple[Marked, Place | None] | None:
        found: TaskComparison | None = self.comparison
        if found is None:
            return None
        rows = self.focused
        test = rows.selected if isinstance(rows, DifferenceTable) and rows.shows is TESTS else None
        of_b = test is not None and test.left is None
        side, one = (found.right, self.pair.right) if of_b else (found.left, self.pair.left)
        return replace(one, run=side.task.run_id), Place(item=side.task.id)


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
