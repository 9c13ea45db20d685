"""What a person can do with a regeneration run besides looking: rerun, resume, mark, compare; all of it in threads but the editor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.key_table import key_of
from workbench.app.marks import SEVERAL, Marked, Pair
from workbench.app.regeneration.wording import short_name
from workbench.app.toolkit.actions import RunActions
from workbench.app.toolkit.latest import Latest
from workbench.results.samples import samples_of
from workbench.session.groups import CONTROLS
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.app.regeneration.loading import RunView
    from workbench.app.regeneration.screen import RegenerationScreen
    from workbench.app.toolkit.document import Subject
    from workbench.engine.estimate import Estimate
    from workbench.session.rows import CandidateRow

MORE_SAMPLES = 5


class Actions(RunActions):
    """Carries out keys that touch the engine, the disk or another program."""

    def __init__(self, shown: RegenerationScreen) -> None:
        super().__init__(shown.workbench, shown.doing)
        self._shown = shown

    def rerun(self) -> None:
        line = self._shown.selected_task
        if line is not None:
            self._rerun("Testing this task's samples again", line.id)

    def rerun_failed(self) -> None:
        """Test every sample again that did not pass."""
        self._rerun("Testing every sample again that did not pass", failed=True)

    def _rerun(self, said: str, item: str = "", *, failed: bool = False) -> None:
        warm, session = self._host.warm, self._host.session_path

        def estimate() -> Estimate:
            from workbench.engine.measured import measure
            from workbench.engine.regeneration_estimate import estimate_again
            from workbench.engine.rerunning import what_again

            again = what_again(session, item, failed=failed) if session is not None else []
            return estimate_again(measure(session), again)

        def do(own: Path, _: RunView) -> None:
            from workbench.engine.rerunning import rerun_items

            rerun_items(own, item, failed=failed, warm=warm)

        if self._shown.view is not None:
            self.when_agreed(estimate, lambda: self._do(do, f"{said}; answers that are there are kept."))

    def add_samples(self) -> None:
        """Ask for five more samples of every task."""
        view, warm, session = self._shown.view, self._host.warm, self._host.session_path
        if view is None:
            return
        wanted = view.samples + MORE_SAMPLES

        def estimate() -> Estimate:
            from workbench.engine.estimate import estimate_candidates
            from workbench.engine.measured import measure
            from workbench.engine.plan import RegenerationPlan
            from workbench.engine.regeneration_estimate import building_first

            source, measured = RegenerationPlan.from_json(view.run.config).source, measure(session)
            told = estimate_candidates(measured, source, view.evaluator, candidates=MORE_SAMPLES * view.tasks)
            return building_first(told, measured, source)

        def do(own: Path, now: RunView) -> None:
            from workbench.engine.regeneration_client import add_samples

            group = now.group
            asked = {"evaluator": group.evaluator, "prompt": group.prompt, "context": group.context}
            add_samples(own, now.run.id, wanted, **asked, warm=warm)

        said = f"Asking for {MORE_SAMPLES} more samples: m = {wanted}."
        self.when_agreed(estimate, lambda: self._do(do, said))

    def resume(self) -> None:
        from workbench.engine import client

        warm = self._host.warm
        self._do(lambda own, view: client.resume(own, view.run.id, warm=warm), "An engine takes the run up again.")

    def cancel(self) -> None:
        from workbench.engine import client

        said = "Asked the engine to stop this run; what is tested stays."
        self._do(lambda own, view: client.cancel(own, view.run.id), said)

    def can(self, action: str) -> bool:
        view = self._shown.view
        if view is None or (action in {"rerun", "rerun_failed", "add_samples"} and self._shown.shows_building):
            return False
        match action:
            case "resume":
                unfinished = view.state in {"interrupted", "failed", "cancelled"}
                return not view.lasting and (unfinished or (view.state == "done" and view.totals.again > 0))
            case "cancel":
                return view.live
            case "copy" | "open_outside":
                return bool(self.subject().text)
            case "rerun":
                return self._shown.selected_task is not None
            case "rerun_failed":
                return any(count for verdict, count in view.totals.verdicts.items() if verdict != "passed")
            case "add_samples":
                # A control says the same every time, and a file holds what it holds.
                fixed = view.evaluator in CONTROLS or "samples:" in view.evaluator
                return bool(view.totals.samples) and not fixed
            case _:
                return True

    def subject(self) -> Subject:
        return self._shown.subject()

    def _do(self, work: Callable[[Path, RunView], object], said: str) -> None:
        host, view = self._host, self._shown.view
        if view is None:
            host.notify("No run is shown.")
            return

        def done(own: Path, _: object) -> str:
            if own != host.session_path:
                host.open_session(own, then=lambda: host.show_run(view.run.id))
            return said

        self.on_own(lambda own: work(own, view), done)


class Marking:
    """Marks tasks, samples and evaluators, and shows two of them side by side; a sample's candidate is looked up in a thread."""

    def __init__(self, shown: RegenerationScreen) -> None:
        self._shown, self._host = shown, shown.workbench
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
        marks = self._host.marks
        tasks = marks.of("task")
        if len(tasks) > 2:
            said = f"{key_of('regeneration.compare')} compares two tasks, and {len(tasks):,} are marked: take marks away with {key_of('regeneration.mark')}."
            self._host.notify(said, timeout=6)
        elif tasks:
            self._show(marks.pair("task", self._task()))
        elif marks.of("candidate"):
            self._with_sample(lambda one: self._show(marks.pair("candidate", one)))
        elif marks.of("group"):
            self._show(marks.pair("group", self._group(0)))
        else:
            a, b = self._group(0), self._group(1)
            self._show(Pair(a, b) if a is not None and b is not None and not a.same(b) else None)

    def _toggle(self, one: Marked) -> None:
        marks = self._host.marks
        gone = len(marks.of("task")) if one.kind != "task" else 0
        marks.toggle(one)
        self._shown.marks_changed()
        letter = marks.letter(one)
        if letter == SEVERAL:
            said = f"{marks.sentence(one.session)}: {key_of('regeneration.improve')} improves the docstrings of those in this table."
        elif letter:
            compare = key_of("regeneration.compare")
            second = f"{compare} shows both side by side"
            first = f"go to another, of another session too, and press {compare}"
            said = f"{letter} is marked: {one.title}; {second if letter == 'B' else first}."
        else:
            said = "No longer marked."
        if gone > 2:
            said += f" {gone:,} tasks are no longer marked."
        self._host.notify(said, timeout=4)

    def _show(self, pair: Pair | None) -> None:
        if pair is not None:
            # Whose docstring or prompt is looked at wants to see how these differ.
            self._host.show_pair(replace(pair, about=self._shown.detail.in_front))
        else:
            said = f"Mark a task, or beside the table its sample, with {key_of('regeneration.mark')}, an evaluator with {key_of('regeneration.mark-evaluator')}, then go to another one and press {key_of('regeneration.compare')}."
            self._host.notify(said, timeout=6)

    def _task(self) -> Marked | None:
        view, reader, line = self._shown.view, self._host.reader, self._shown.selected_task
        if view is None or reader is None or line is None:
            return None
        title = one_line(f"{line.name} · docs {view.group.docs_words}", 100)
        return Marked(reader.path, "task", line.id, title, view.run.id)

    def _group(self, further: int) -> Marked | None:
        view, reader = self._shown.view, self._host.reader
        if view is None or reader is None:
            return None
        groups = view.groups
        group = groups[(groups.index(view.group) + further) % len(groups)] if view.group in groups else view.group
        name = one_line(f"{short_name(group.evaluator, view.name_of(group))} · docs {group.docs_words}", 100)
        return Marked(reader.path, "group", (group.docs, *group.arguments, group.docs_scope), name, view.run.id)

    def _with_sample(self, then: Callable[[Marked], None]) -> None:
        view, reader, line = self._shown.view, self._host.reader, self._shown.selected_task
        if view is None or reader is None or line is None:
            return
        group, number = view.group, self._shown.table.sample

        def done(samples: Sequence[CandidateRow]) -> None:
            if number >= len(samples):
                self._host.notify("This sample was not asked for yet.", timeout=4)
                return
            evaluator = short_name(group.evaluator, group.evaluator)
            title = one_line(f"{line.name} · {evaluator} · sample {number + 1}", 100)
            then(Marked(reader.path, "candidate", samples[number].id, title, view.run.id))

        self.looking_up.ask(lambda: samples_of(reader, line.id, group), done)
