"""The row of a regeneration run: its plan, which may grow during execution, and its dropped functions."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.engine.plan import Acceptance, Ask, RegenerationPlan, as_text, repeating, same_but_samples
from workbench.engine.task_building import Unused
from workbench.regeneration.tasks import Dropped
from workbench.repository import Snapshot
from workbench.session import SessionWriter


def names(plan: RegenerationPlan, ask: Ask) -> bool:
    return {**repeating(plan), "samples": 0} == {**repeating(ask), "samples": 0}


@dataclass(eq=False)
class RunRecord:
    """One run in a session."""

    _writer: SessionWriter
    _run: str

    def plan(self) -> RegenerationPlan:
        with self._writer.transaction() as connection:
            row = connection.execute("SELECT config FROM runs WHERE id = ?", (self._run,)).fetchone()
        return RegenerationPlan.from_json(row[0])

    def amend(self, **values: object) -> None:
        """Change fields of the plan, keeping concurrent changes to other fields."""
        with self._writer.transaction():
            plan = self.plan()
            changed = replace(plan, **values)  # type: ignore[arg-type]
            if changed != plan:
                self._writer.set_run(self._run, config=as_text(changed))

    def fail_lastingly(self) -> None:
        """Note that a resume cannot mend why the run fails; of a run that has candidates there is still something to do."""
        with self._writer.transaction() as connection:
            if not connection.execute("SELECT 1 FROM candidates WHERE run_id = ? LIMIT 1", (self._run,)).fetchone():
                self.amend(lasting=True)

    def take_up(self, refused: Mapping[Ask, str], asked: Collection[Ask]) -> RegenerationPlan:
        """Record for every ask whether its candidates are rows now, and return the updated plan.

        A refused ask is removed from the plan, unless it names a samples file (which may be corrected); if it was the
        latest ask, the one before it takes its place. Later asks than those ``asked`` keep waiting.
        """
        with self._writer.transaction():
            plan = self.plan()
            if plan.rebuild:
                # Ordered this moment: what is asked for is taken up with the tasks that are built then.
                return plan
            news = tuple(Acceptance(ask, refused.get(ask, "")) for ask in asked)
            others = tuple(
                one for one in plan.acceptances if not any(same_but_samples(one.ask, new.ask) for new in news)
            )
            kept = (
                tuple(ask for ask in plan.asks if ask not in refused or ask.evaluator.startswith("samples:"))
                or plan.asks
            )
            values: dict[str, object] = {"acceptances": others + news, "asks": kept}
            last = next((ask for ask in plan.asks if ask not in kept and names(plan, ask)), None)
            if last is not None:
                values |= repeating(kept[-1])
            self.amend(**values)
            return self.plan()

    def finish(self, asked_again: Callable[[], bool]) -> bool:
        """Mark the run as done and return True, unless something was asked for meanwhile; atomic, so no ask is missed."""
        with self._writer.transaction():
            plan = self.plan()
            if plan.waiting or plan.rebuild or asked_again():
                return False
            self._writer.set_run(self._run, state="done", finished_at=time.time())
            return True

    def fetched(self, snapshot: Snapshot) -> None:
        """Record the run's snapshot, for its resume, and the list of the repository's files."""
        with self._writer.transaction():
            self.amend(snapshot=snapshot.digest)
            files = [(entry.path, entry.size) for entry in snapshot.files]
            self._writer.add_snapshot(snapshot.digest, snapshot.source, snapshot.revision, files)

    def forget_dropped(self) -> None:
        with self._writer.transaction() as connection:
            connection.execute("DELETE FROM dropped WHERE run_id = ?", (self._run,))

    def unused(self, tests: Sequence[Unused]) -> None:
        """Keep the tests of the suite that no verdict rests on, in place of those of an earlier part of the run."""
        with self._writer.transaction() as connection:
            connection.execute("DELETE FROM unused_tests WHERE run_id = ?", (self._run,))
            for place, one in enumerate(tests):
                values = {"kind": one.kind, "test_id": one.test, "why": one.why}
                self._writer.insert("unused_tests", {"run_id": self._run, "position": place, **values})

    def dropped(self, entry: Dropped) -> None:
        path, _, rest = entry.id.partition("::")
        name, _, occurrence = rest.partition("#")
        values = {"run_id": self._run, "path": path, "qualified_name": name, "occurrence": int(occurrence or 1)}
        self._writer.insert("dropped", {**values, "stage": entry.stage, "reason": entry.reason}, conflict="REPLACE")
