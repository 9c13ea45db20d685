"""The tasks of a run.

The doc system documents them, they are written to the session, and they are available for requests and tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from workbench.base.errors import WorkbenchError
from workbench.base.task_groups import task_group
from workbench.base.text import one_line
from workbench.documenters import (
    Docstring,
    DocSystem,
    DocumentationFailed,
    DocumentationProgress,
    DocumentedFile,
    as_documented,
    document_file,
)
from workbench.engine.stages import StageProgress
from workbench.models.types import ModelError
from workbench.plans.plan import Ask, chosen
from workbench.plans.task_names import readable_id, row_id
from workbench.regeneration import build_prompt, extract_body, measure_leakage, minimal_stub
from workbench.regeneration.extraction import Extraction, Style
from workbench.regeneration.tasks import Dropped, Task, located
from workbench.repository import Snapshot
from workbench.repository.functions import Function
from workbench.repository.splicing import splice
from workbench.sandbox import Job, Limits, Report, Route
from workbench.session import SessionReader, SessionWriter
from workbench.session.groups import CONTROLS
from workbench.session.identity import task_id, tested_by
from workbench.session.json_forms import picked
from workbench.session.row_reader import TextDamaged
from workbench.session.rows import TaskRow

#: Reasons for excluding a task after a rebuild or with different documentation.
OTHER_BASIS = "The task was rebuilt with other tests or documentation, which makes it a different task."
NO_TASK_NOW = "The tasks were rebuilt, and this function no longer has a task."
_LARGEST_TEST_FILE = 1_000_000  # bytes; larger ones are not stored
_AT_ONCE = 16  # concurrent requests by doc systems; the gateway has its own limit


class TaskItem:
    """A task in the form that the engine works on; the base class of the tasks of each kind of run."""

    id: str

    @property
    def name(self) -> str:
        """The readable id of the task."""
        raise NotImplementedError

    @property
    def reference(self) -> str:
        """The body that must pass."""
        raise NotImplementedError

    @property
    def stub(self) -> str:
        """The body that must not pass."""
        raise NotImplementedError

    def read_answer(self, text: str, style: Style = "chat") -> Extraction:
        """Extract a body from the answer of a model, or from a samples file."""
        raise NotImplementedError

    def job(self, candidate: str, body: str, limits: Limits, *, cold: bool = False) -> Job:
        """Return the job that tests a body; with ``cold``, it gets the full time of ``limits``. Raises SpliceError."""
        raise NotImplementedError

    def judge(self, report: Report) -> Report:
        """Return the report with the verdict that is recorded."""
        return report


@dataclass(frozen=True, slots=True)
class FunctionItem(TaskItem):
    """A function whose body is regenerated."""

    id: str
    task: Task
    function: Function  # The function in the pristine file
    source: bytes  # The pristine file
    docstring: str | None  # None if the doc system wrote no docstring
    shown: bytes  # The file shown in prompts: the documented one, unless the scope is `target`
    shown_function: Function  # the same function in that file

    @property
    def name(self) -> str:
        return self.task.id

    @property
    def reference(self) -> str:
        return self.task.body

    @property
    def stub(self) -> str:
        return minimal_stub(self.function)

    def read_answer(self, text: str, style: Style = "chat") -> Extraction:
        return extract_body(text, self.function, self.source, style=style)

    def job(self, candidate: str, body: str, limits: Limits, *, cold: bool = False) -> Job:
        return Job(
            id=candidate,
            tests=self.task.tests,
            path=self.task.path,
            content=splice(self.source, self.function, body),
            limits=limits if cold else self.task.limits(limits),
            route=Route.COLD if cold else Route.WARM if self.task.import_time else Route.AUTO,
            function=(self.task.qualified_name, self.task.occurrence),
        )


def identity(
    snapshot: str, task: Task, system: str, docs: Docstring | DocumentedFile, sandbox: str, selection: str = "filtered"
) -> str:
    """Return a task's id; it includes the doc system, so that two systems with equal text never share a row.

    ``docs`` is the docstring of the function if the scope is ``target``, or else the documented file.
    """
    name = (task.path, task.qualified_name, task.occurrence)
    content = docs.digest if isinstance(docs, Docstring) else f"{docs.scope}:{hashlib.sha256(docs.source).hexdigest()}"
    chosen_by = "" if selection == "filtered" else f":{selection}"
    return task_id(snapshot, *name, f"{system}:{content}{chosen_by}", tested_by(sandbox, task.tests))


@dataclass(eq=False)
class TaskStore:
    """The tasks of a run."""

    _writer: SessionWriter
    _run: str
    _snapshot: Snapshot
    _system: DocSystem
    _sandbox: str
    _scope: str
    _selection: str
    _on_dropped: Callable[[Dropped], None]
    _prepared: bool = field(default=False, init=False)
    _documented: dict[str, FunctionItem | None] = field(default_factory=dict, init=False)
    _test_file_blobs: dict[str, str | None] = field(
        default_factory=dict, init=False
    )  # test file -> digest of its text in the session
    items: dict[str, FunctionItem] = field(default_factory=dict, init=False)

    async def document(
        self, tasks: Sequence[Task], asks: Sequence[Ask], progress: StageProgress
    ) -> dict[Ask, list[FunctionItem]]:
        """Document and write the tasks of all asks, and return them by ask.

        Tasks that fail are documented by a later resume.
        """
        new = [task for task in self._selected(tasks, asks) if task.id not in self._documented]
        if new:
            await self._write_docstrings(new, progress)
        places = {task.id: position for position, task in enumerate(tasks)}
        order = [self._documented.get(task.id) for task in tasks]
        named = [(item.task.id, item.id, item) for item in order if item is not None]
        table = {ask: chosen(ask, named) for ask in asks}
        selected = {item.id for items in table.values() for item in items}
        self.items = {item.id: item for _, _, item in named if item.id in selected}
        with self._writer.transaction():
            for item in self.items.values():
                self._write(item, places[item.task.id])
            self._replace_former({task.id for task in tasks})
            self._write_prompts(table)
        return table

    def _identity(self, task: Task, docs: Docstring | DocumentedFile) -> str:
        return identity(self._snapshot.digest, task, self._system.name, docs, self._sandbox, self._selection)

    def _replace_former(self, built: Collection[str]) -> None:
        """Exclude the rows of functions that now have a different task or none.

        A row whose task is current again counts again.
        """
        now = {item.task.id: item.id for item in self._documented.values() if item is not None}
        with self._writer.transaction() as connection:
            rows = connection.execute(
                "SELECT id, path, qualified_name, occurrence, reason FROM tasks WHERE run_id = ?", (self._run,)
            ).fetchall()
            for key, path, name, occurrence, reason in rows:
                readable = readable_id(path, name, occurrence)
                if key == now.get(readable):
                    if reason in (OTHER_BASIS, NO_TASK_NOW):
                        decide_task(self._writer, key)
                elif readable in now or readable not in built:
                    why = OTHER_BASIS if readable in now else NO_TASK_NOW
                    self._writer.update("tasks", {"id": key}, {"state": "excluded", "reason": why})

    def _selected(self, tasks: Sequence[Task], asks: Sequence[Ask]) -> list[Task]:
        if not self._system.needs_model:
            return list(tasks)
        known = {row_id(row): row.id for row in self._rows()}
        named = [(task.id, known.get(task.id, ""), task) for task in tasks]
        selected = {task.id for ask in asks for task in chosen(ask, named)}
        return [task for task in tasks if task.id in selected]

    def _rows(self) -> list[TaskRow]:
        with SessionReader(self._writer.path) as reader:
            return [row for row in reader.tasks(self._run) if row.snapshot == self._snapshot.digest]

    def _rows_of_system(self) -> list[TaskRow]:
        return [row for row in self._rows() if (row.docs, row.docs_scope) == (self._system.name, self._scope)]

    async def _write_docstrings(self, tasks: Sequence[Task], progress: StageProgress) -> None:
        name = self._system.name
        found = await asyncio.to_thread(located, self._snapshot.root, tasks)
        with SessionReader(self._writer.path) as reader:
            stages = reader.stages(self._run)
        former = next((stage.note or "" for stage in stages if stage.name == "documentation"), "")
        progress.update("documentation", done=0, total=len(found), note=name)
        kept = await asyncio.to_thread(self._stored_docstrings)
        kept_files = await asyncio.to_thread(self._stored_files)
        rows = {row_id(row) for row in await asyncio.to_thread(self._rows_of_system)} if kept_files else set()
        # A task of the file that has no row failed or was not requested before, so document the missing parts.
        complete = kept_files.keys() - {task.path for task, _, _ in found if task.id not in rows}
        if not self._prepared and any(task.id not in kept and task.path not in complete for task, _, _ in found):
            await self._prepare(progress)
        room = asyncio.Semaphore(_AT_ONCE)
        failures: list[WorkbenchError] = []
        done = 0
        files: dict[str, asyncio.Task[DocumentedFile]] = {}

        async def whole_file(task: Task, source: bytes) -> DocumentedFile:
            if task.path not in files:
                kept_file = kept_files.get(task.path)
                if kept_file is not None and task.path in complete:
                    files[task.path] = asyncio.ensure_future(
                        asyncio.to_thread(as_documented, kept_file, task.path, self._scope)
                    )
                else:
                    work = document_file(self._system, task.path, source, room, kept_file or b"", self._scope)
                    files[task.path] = asyncio.ensure_future(work)
            # The documentation is shared by all tasks of the file: cancelling one task must not cancel it for the
            # others.
            return await asyncio.shield(files[task.path])

        async def documented(task: Task, function: Function, source: bytes) -> FunctionItem:
            if self._scope != "target":
                whole = await whole_file(task, source)
                shown = whole.function(task.qualified_name, task.occurrence)
                key = self._identity(task, whole)
                return FunctionItem(key, task, function, source, shown.docstring, whole.source, shown)
            docs = kept.get(task.id)
            if docs is None:
                async with room:
                    docs = await self._system.docstring(task.path, task.qualified_name, task.occurrence)
            return FunctionItem(self._identity(task, docs), task, function, source, docs.text, source, function)

        async def one(task: Task, function: Function, source: bytes) -> None:
            nonlocal done
            self._documented[task.id] = None
            try:
                item = await documented(task, function, source)
            except (ModelError, DocumentationFailed) as error:
                failures.append(error)
                self._on_dropped(Dropped(task.id, "documentation", str(error)))
            else:
                self._documented[task.id] = item
            done += 1
            progress.update("documentation", done=done)

        try:
            async with task_group() as group:
                for each in found:
                    group.create_task(one(*each))
        finally:
            for work in files.values():
                work.cancel()
            await asyncio.gather(*files.values(), return_exceptions=True)
        if failures and len(failures) == len(found):
            raise failures[0]
        note = self._summary(former) + (f" · {len(failures)} failed" if failures else "")
        progress.update("documentation", "done", done=done, total=done, note=note)

    def _summary(self, former: str) -> str:
        """Return the doc system's summary, or that of the earlier execution if nothing was requested."""
        summary = getattr(self._system, "summary", None)
        return (summary or former if summary is not None and not self._prepared else summary) or self._system.name

    def _stored_docstrings(self) -> dict[str, Docstring]:
        """Return the stored docstrings of a doc system that uses a model; a resume must not pay for them again."""
        if not self._system.needs_model or self._scope != "target":
            return {}
        rows = self._rows_of_system()
        with SessionReader(self._writer.path) as reader:
            texts = [(row, reader.text_or_none(row.docstring_blob, "a docstring")) for row in rows]
        # Damaged docstrings are requested again.
        return {row_id(row): Docstring(text) for row, text in texts if text is not None or not row.docstring_blob}

    def _stored_files(self) -> dict[str, bytes]:
        if not self._system.needs_model or self._scope == "target":
            return {}
        rows = self._rows_of_system()
        with SessionReader(self._writer.path) as reader:
            kept = {}
            for row in rows:
                # Damaged files are documented again.
                with contextlib.suppress(TextDamaged):
                    if row.documented_blob:
                        kept[row.path] = reader.data(row.documented_blob)
        return kept

    async def _prepare(self, progress: StageProgress) -> None:
        spent = 0.0

        def report(step: DocumentationProgress) -> None:
            nonlocal spent
            if step.cost_usd > spent:
                self._writer.add_spend(self._run, step.cost_usd - spent)
                spent = step.cost_usd
            cost = f" · ${spent:.2f}" if spent else ""
            note = f"{self._system.name}: {one_line(step.note, 200)}{cost}"
            progress.update("documentation", done=step.done, total=step.total or None, note=note)

        await self._system.prepare(self._snapshot, report)
        self._prepared = True

    def _write(self, item: FunctionItem, position: int) -> None:
        task, blob = item.task, self._writer.blob
        with self._writer.transaction() as connection:
            self._writer.insert(
                "tasks",
                {
                    "id": item.id,
                    "run_id": self._run,
                    "position": position,
                    "snapshot": self._snapshot.digest,
                    **picked(task, "path", "qualified_name", "occurrence", "start_line", "end_line"),
                    "tests": json.dumps(task.tests),
                    "test_count": len(task.tests),
                    **picked(task, "coverage", "branches", "branches_covered", "seconds"),
                    "unstable": len(task.unstable),
                    "source_blob": blob(item.source),
                    "body_blob": blob(task.body),
                    "docstring_blob": None if item.docstring is None else blob(item.docstring),
                    "docs": self._system.name,
                    "docs_scope": self._scope,
                    "documented_blob": None if self._scope == "target" else blob(item.shown),
                    "test_files_blob": self._test_files(task.tests),
                    "leak": round(measure_leakage(item.docstring, task.body).level, 4),
                },
                conflict="IGNORE",
            )
            row = connection.execute("SELECT run_id FROM tasks WHERE id = ?", (item.id,)).fetchone()
            if row[0] != self._run:
                # The task's verdicts belong to the other run; this run would have no task and yet count as a success.
                raise WorkbenchError(
                    f"The session has the same task {task.id} already, in run {row[0]}, under another source; "
                    "name that source, or choose another file with --session."
                )

    def _test_files(self, tests: Sequence[str]) -> str | None:
        """Store the test files, so that failures can be read later; return the digest of their index."""
        kept = {}
        for path in sorted({test.partition("::")[0] for test in tests}):
            if path not in self._test_file_blobs:
                self._test_file_blobs[path] = self._keep_file(path)
            if digest := self._test_file_blobs[path]:
                kept[path] = digest
        return self._writer.blob(json.dumps(kept, sort_keys=True)) if kept else None

    def _keep_file(self, path: str) -> str | None:
        known = next((file for file in self._snapshot.files if file.path == path), None)
        if known is None or known.size > _LARGEST_TEST_FILE:
            return None
        try:
            return self._writer.blob((self._snapshot.root / path).read_bytes())
        except OSError:
            return None

    def _write_prompts(self, asks: dict[Ask, list[FunctionItem]]) -> None:
        with self._writer.transaction() as connection:
            for ask, items in asks.items():
                if not ask.prompt:
                    continue
                for item in items:
                    prompt = build_prompt(
                        item.shown,
                        item.shown_function,
                        item.docstring,
                        policy=ask.context,
                        version=ask.prompt,
                        own=ask.prompt_text,
                    )
                    text = json.dumps(
                        {
                            "prompt": prompt.prompt_version,
                            "context": prompt.context_policy,
                            "messages": [[message.role, message.content] for message in prompt.messages],
                        },
                        ensure_ascii=False,
                    )
                    connection.execute(
                        "UPDATE tasks SET prompt_blob = ? WHERE id = ? AND prompt_blob IS NULL",
                        (self._writer.blob(text), item.id),
                    )


def decide_task(writer: SessionWriter, task: str) -> bool:
    """Set the state of a task according to the verdicts on its controls; return whether it is excluded."""
    held: dict[str, bool] = {}
    reasons = []
    with writer.transaction() as connection:
        rows = connection.execute(
            "SELECT evaluator, verdict, verdict_reason FROM candidates WHERE task_id = ? AND sample = 0 "
            "AND verdict IS NOT NULL AND evaluator IN (?, ?) ORDER BY evaluator",
            (task, *CONTROLS),
        ).fetchall()
        for name, verdict, reason in rows:
            held[name] = verdict != "error" and (verdict == "passed") == (name == "reference")
            if verdict == "error":
                reasons.append(f"The control {name} could not be tested: {reason}")
            elif not held[name]:
                words = f"{verdict} with the reference" if name == "reference" else "passed with a stub"
                reasons.append(f"Its tests: {words}.")
        values = {"controls": json.dumps(held), "reason": " ".join(reasons) or None}
        writer.update("tasks", {"id": task}, {**values, "state": "excluded" if reasons else "ready"})
    return bool(reasons)
