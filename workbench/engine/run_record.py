"""The row of a regeneration run: its plan, which may grow while it is executed, and what fell out on the way."""

from __future__ import annotations

import json
from dataclasses import replace

from workbench.engine.plan import RegenerationPlan
from workbench.regeneration.tasks import Dropped
from workbench.repository import Snapshot
from workbench.session import SessionWriter


class RunRecord:
    """One run in a session.

    Args:
        writer: The session.
        run: Id of the run.
    """

    def __init__(self, writer: SessionWriter, run: str) -> None:
        self._writer = writer
        self._run = run

    def plan(self) -> RegenerationPlan:
        """Return the plan as it stands now."""
        with self._writer.transaction() as connection:
            row = connection.execute("SELECT config FROM runs WHERE id = ?", (self._run,)).fetchone()
        return RegenerationPlan.from_json(row[0])

    def amend(self, **values: object) -> None:
        """Change fields of the plan; what others changed meanwhile stays."""
        with self._writer.transaction():
            plan = self.plan()
            changed = replace(plan, **values)  # type: ignore[arg-type]
            if changed != plan:
                self._writer.set_run(
                    self._run, config=json.dumps(changed.to_json(), ensure_ascii=False, sort_keys=True)
                )

    def fetched(self, snapshot: Snapshot) -> None:
        """Keep which content the run works on, for its resume, and what the repository looked like."""
        with self._writer.transaction():
            self.amend(snapshot=snapshot.digest)
            files = [(entry.path, entry.size) for entry in snapshot.files]
            self._writer.add_snapshot(snapshot.digest, snapshot.source, snapshot.revision, files)

    def forget_dropped(self) -> None:
        """Forget functions that an earlier part of the run dropped: they are about to be decided again."""
        with self._writer.transaction() as connection:
            connection.execute("DELETE FROM dropped WHERE run_id = ?", (self._run,))

    def dropped(self, entry: Dropped) -> None:
        """Keep a function that becomes no task."""
        path, _, rest = entry.id.partition("::")
        name, _, occurrence = rest.partition("#")
        values = {"run_id": self._run, "path": path, "qualified_name": name, "occurrence": int(occurrence or 1)}
        self._writer.insert("dropped", {**values, "stage": entry.stage, "reason": entry.reason}, conflict="REPLACE")
