"""Marks tasks, samples and evaluators, and shows two of them side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.marks import SEVERAL, Marked, Pair
from workbench.app.regeneration.evaluators import short_name
from workbench.app.toolkit.latest import Latest
from workbench.results.samples import samples_of
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.regeneration.screen import RegenerationScreen
    from workbench.session.rows import CandidateRow


class Marking:
    """The keys for marking and comparing; a sample's candidate is looked up in a thread.

    Args:
        shown: The mode.
    """

    def __init__(self, shown: RegenerationScreen) -> None:
        self._shown = shown
        self.looking_up = Latest(shown, "marking")

    def mark(self) -> None:
        """Mark the task under the cursor, or where a pane that shows its sample has the focus that one; or take the mark away."""
        if not self._shown.on_tasks:
            self._with_sample(self._toggle)
        elif (task := self._task()) is not None:
            self._toggle(task)

    def mark_group(self) -> None:
        """Mark the evaluator whose samples are shown, or take its mark away."""
        found = self._group(0)
        if found is not None:
            self._toggle(found)

    def compare(self) -> None:
        """Show the marked two side by side, or the marked one beside what is shown; without a mark two evaluators."""
        host = self._shown.workbench
        tasks = host.marks.of("task")
        if len(tasks) > 2:
            host.notify(
                f"{key_of('regeneration.compare')} compares two tasks, and {len(tasks):,} are marked: take marks away with {key_of('regeneration.mark')}.",
                timeout=6,
            )
        elif tasks:
            self._show(host.marks.pair("task", self._task()))
        elif host.marks.of("candidate"):
            self._with_sample(lambda one: self._show(host.marks.pair("candidate", one)))
        elif host.marks.of("group"):
            self._show(host.marks.pair("group", self._group(0)))
        else:
            a, b = self._group(0), self._group(1)
            self._show(Pair(a, b) if a is not None and b is not None and not a.same(b) else None)

    def _toggle(self, one: Marked) -> None:
        host = self._shown.workbench
        gone = len(host.marks.of("task")) if one.kind != "task" else 0
        host.marks.toggle(one)
        self._shown.marks_changed()
        letter = host.marks.letter(one)
        if letter == SEVERAL:
            said = f"{host.marks.sentence(one.session)}: {key_of('regeneration.improve')} improves the docstrings of those in this table."
        elif letter:
            also = (
                f"{key_of('regeneration.compare')} shows both side by side"
                if letter == "B"
                else f"go to another, of another session too, and press {key_of('regeneration.compare')}"
            )
            said = f"{letter} is marked: {one.title}; {also}."
        else:
            said = "No longer marked."
        if gone > 2:
            said += f" {gone:,} tasks are no longer marked."
        host.notify(said, timeout=4)

    def _show(self, pair: Pair | None) -> None:
        host = self._shown.workbench
        if pair is not None:
            # Whose docstring or prompt is looked at wants to see how these differ.
            host.show_pair(replace(pair, about=self._shown.text_in_front))
        else:
            host.notify(
                f"Mark a task, or beside the table its sample, with {key_of('regeneration.mark')}, an evaluator with {key_of('regeneration.mark-evaluator')}, then go to another one and press {key_of('regeneration.compare')}.",
                timeout=6,
            )

    def _task(self) -> Marked | None:
        view, reader, line = self._shown.view, self._shown.workbench.reader, self._shown.selected_task
        if view is None or reader is None or line is None:
            return None
        docs = f" · docs {view.group.docs_words}"
        return Marked(reader.path, "task", line.id, one_line(f"{line.name}{docs}", 100), view.run.id)

    def _group(self, further: int) -> Marked | None:
        view, reader = self._shown.view, self._shown.workbench.reader
        if view is None or reader is None:
            return None
        groups = view.groups
        group = groups[(groups.index(view.group) + further) % len(groups)] if view.group in groups else view.group
        name = one_line(f"{short_name(group.evaluator, view.name_of(group))} · docs {group.docs_words}", 100)
        key = (group.docs, *group.arguments, group.docs_scope)
        return Marked(reader.path, "group", key, name, view.run.id)

    def _with_sample(self, then: Callable[[Marked], None]) -> None:
        view, reader, line = self._shown.view, self._shown.workbench.reader, self._shown.selected_task
        if view is None or reader is None or line is None:
            return
        run, group, number = view.run.id, view.group, self._shown.selected_sample
        evaluator = short_name(group.evaluator, group.evaluator)

        def done(samples: Sequence[CandidateRow]) -> None:
            if number >= len(samples):
                self._shown.workbench.notify("This sample was not asked for yet.", timeout=4)
            else:
                title = one_line(f"{line.name} · {evaluator} · sample {number + 1}", 100)
                then(Marked(reader.path, "candidate", samples[number].id, title, run))

        self.looking_up.ask(lambda: samples_of(reader, line.id, group), done)
