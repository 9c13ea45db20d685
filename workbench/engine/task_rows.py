"""The tasks of a run: documented by the doc system, written into the session, and kept at hand for asking and testing."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.documenters import Docstring, DocumentContext, Documenter
from workbench.engine.plan import Ask
from workbench.engine.selection import chosen, row_id
from workbench.engine.stages import Teller
from workbench.errors import UsageError, WorkbenchError
from workbench.models.types import ModelError
from workbench.regeneration import build_prompt, measure_leakage
from workbench.regeneration.tasks import Dropped, Task
from workbench.repository.functions import Function, find_functions
from workbench.session import SessionReader, SessionWriter
from workbench.session.identity import task_id

_AT_ONCE = 16  # doc systems that ask a model: requests prepared at a time; the gateway bounds those under way


@dataclass(frozen=True, slots=True)
class TaskItem:
    """A task as the engine works on it.

    Attributes:
        id: Its identity in the session.
        task: What the builder found.
        function: The function in the pristine file.
        source: The pristine file.
        docstring: What the doc system says; None for nothing.
    """

    id: str
    task: Task
    function: Function
    source: bytes
    docstring: str | None


def located(root: Path, tasks: Iterable[Task]) -> list[tuple[Task, Function, bytes]]:
    """Return each task with its function and the file that holds it.

    Raises:
        WorkbenchError: The repository's files are not those that the tasks were built from.
    """
    files: dict[str, tuple[bytes, dict[tuple[str, int], Function]]] = {}
    found = []
    for task in tasks:
        if task.path not in files:
            source = (root / task.path).read_bytes()
            functions = {(f.qualified_name, f.occurrence): f for f in find_functions(source, task.path)}
            files[task.path] = (source, functions)
        source, functions = files[task.path]
        function = functions.get((task.qualified_name, task.occurrence))
        if function is None or hashlib.sha256(source).hexdigest() != task.source_sha256:
            raise WorkbenchError(f"{task.path} has changed since its tasks were built; run again with --rebuild.")
        found.append((task, function, source))
    return found


def identity(snapshot: str, task: Task, docs: Docstring) -> str:
    """Return a task's id; the doc system is a part of it, so that two of them never share a row by saying the same."""
    return task_id(snapshot, task.path, task.qualified_name, task.occurrence, f"{docs.source}:{docs.digest}")


class TaskTable:
    """The tasks of one run.

    Args:
        writer: The session.
        run: Id of the run.
        snapshot: Digest of the repository's content.
        root: Its folder.
        documenter: The doc system.
        on_dropped: Called for a task that gets no docstring because a model failed.
    """

    def __init__(
        self,
        writer: SessionWriter,
        run: str,
        snapshot: str,
        root: Path,
        documenter: Documenter,
        on_dropped: Callable[[Dropped], None],
    ) -> None:
        self._writer = writer
        self._run = run
        self._snapshot = snapshot
        self._root = root
        self._documenter = documenter
        self._on_dropped = on_dropped
        self._documented: dict[str, TaskItem | None] = {}
        self.items: dict[str, TaskItem] = {}

    async def document(self, tasks: Sequence[Task], asks: Sequence[Ask], teller: Teller) -> dict[Ask, list[TaskItem]]:
        """Document every task that an ask means and write its row; return the tasks of each ask.

        A task whose docstring a model fails to write is dropped for this time; a resume tries it again.

        Raises:
            UsageError: A pattern means no task.
            ModelError: The doc system's model gives no docstring at all.
        """
        new = [task for task in self._wanted(tasks, asks) if task.id not in self._documented]
        if new:
            await self._write_docstrings(new, teller)
        places = {task.id: position for position, task in enumerate(tasks)}
        order = [self._documented.get(task.id) for task in tasks]
        named = [(item.task.id, item.id, item) for item in order if item is not None]
        table = {}
        for ask in asks:
            table[ask] = chosen(ask, named)
            if not table[ask]:
                raise UsageError(f"No task is called {', '.join(ask.tasks)}; `workbench tasks` lists their ids.")
        meant = {item.id for items in table.values() for item in items}
        self.items = {item.id: item for _, _, item in named if item.id in meant}
        with self._writer.transaction():
            for item in self.items.values():
                self._write(item, places[item.task.id])
            self._write_prompts(table)
        return table

    def _wanted(self, tasks: Sequence[Task], asks: Sequence[Ask]) -> list[Task]:
        """Return the tasks to document: all, but only those meant where docstrings cost requests."""
        if not self._documenter.name.startswith("llm:"):
            return list(tasks)
        with SessionReader(self._writer.path) as reader:
            known = {row_id(row): row.id for row in reader.tasks(self._run)}
        named = [(task.id, known.get(task.id, ""), task) for task in tasks]
        meant = {task.id for ask in asks for task in chosen(ask, named)}
        return [task for task in tasks if task.id in meant]

    async def _write_docstrings(self, tasks: Sequence[Task], teller: Teller) -> None:
        found = await asyncio.to_thread(located, self._root, tasks)
        teller.tell("documentation", done=0, total=len(found), note=self._documenter.name)
        room = asyncio.Semaphore(_AT_ONCE)
        failures: list[ModelError] = []
        done = 0

        async def one(task: Task, function: Function, source: bytes) -> None:
            nonlocal done
            scope = task_id(
                self._snapshot, task.path, task.qualified_name, task.occurrence, f"docs:{self._documenter.name}"
            )
            self._documented[task.id] = None
            try:
                async with room:
                    docs = await self._documenter.document(function, source, DocumentContext(self._root, scope))
            except ModelError as error:
                failures.append(error)
                self._on_dropped(Dropped(task.id, "documentation", str(error)))
            else:
                item = TaskItem(identity(self._snapshot, task, docs), task, function, source, docs.text)
                self._documented[task.id] = item
            done += 1
            teller.tell("documentation", done=done)

        async with asyncio.TaskGroup() as group:
            for each in found:
                group.create_task(one(*each))
        if failures and len(failures) == len(found):
            raise failures[0]
        note = f"{self._documenter.name}" + (f" · {len(failures)} failed" if failures else "")
        teller.tell("documentation", "done", done=done, total=done, note=note)

    def _write(self, item: TaskItem, position: int) -> None:
        task, blob = item.task, self._writer.blob
        with self._writer.transaction():
            self._writer.insert(
                "tasks",
                {
                    "id": item.id,
                    "run_id": self._run,
                    "position": position,
                    "snapshot": self._snapshot,
                    "path": task.path,
                    "qualified_name": task.qualified_name,
                    "occurrence": task.occurrence,
                    "start_line": task.start_line,
                    "end_line": task.end_line,
                    "tests": json.dumps(task.tests),
                    "coverage": task.coverage,
                    "branches": task.branches,
                    "branches_covered": task.branches_covered,
                    "unstable": len(task.unstable),
                    "seconds": task.seconds,
                    "source_blob": blob(item.source),
                    "body_blob": blob(task.body),
                    "docstring_blob": None if item.docstring is None else blob(item.docstring),
                    "docs": self._documenter.name,
                    "leak": round(measure_leakage(item.docstring, task.body).level, 4),
                },
                conflict="IGNORE",
            )

    def _write_prompts(self, asks: dict[Ask, list[TaskItem]]) -> None:
        """Keep with each task the prompt that the first model among the asks gets."""
        with self._writer.transaction() as connection:
            for ask, items in asks.items():
                if not ask.prompt:
                    continue
                for item in items:
                    prompt = build_prompt(
                        item.source, item.function, item.docstring, policy=ask.context, version=ask.prompt
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
