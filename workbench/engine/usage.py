"""Execute a usage run: build the tasks of a source, have readers of its pages answer them, and test the answers."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.settings import Settings
from workbench.engine.document import gateway_for
from workbench.engine.evaluators import Evaluator, EvaluatorResponse, Evaluators, ModelEvaluator
from workbench.engine.records import SessionCallLog
from workbench.engine.regenerate import AskLoop, RunRecord
from workbench.engine.stages import StageTable
from workbench.engine.task_building import cores
from workbench.engine.task_rows import TaskItem, decide_task
from workbench.engine.usage_agent import AgentReader, PackageSandbox
from workbench.engine.usage_building import NoUsageTasks, PreparedUsage, prepare_usage
from workbench.models import Gateway
from workbench.models.types import Message
from workbench.orders.usage import LITERAL, OWN, own_page
from workbench.plans.plan import Ask, chosen
from workbench.plans.usage import UsagePlan
from workbench.regeneration.extraction import Extraction, Style
from workbench.sandbox import Job, Limits, Pool, Report, Route, choose_backend, pool, program
from workbench.session import SessionReader, SessionWriter
from workbench.session.groups import CONTROLS, SOURCES, WITHOUT
from workbench.session.identity import task_id, tested_by
from workbench.session.rows import RunRow
from workbench.usage import controls, gaps, literal, probing, prompts, verdicts
from workbench.usage.reader_agent import steps_of
from workbench.usage.statements import statement
from workbench.usage.tasks import UsageTask
from workbench.usage.tree import module_name, usage_workspace

# Matches an option in declarations of argparse, click and typer: a string literal of its own.
_OPTION = re.compile(r"""["'](--?[A-Za-z][\w-]*)["']""")
REBUILT = "The tasks were rebuilt, and this callable no longer has a task."


@dataclass(frozen=True, slots=True)
class UsageItem(TaskItem):
    """A usage task and its position in the tree in which answers are tested."""

    id: str
    task: UsageTask
    position: int

    @property
    def name(self) -> str:
        return self.task.id

    @property
    def reference(self) -> str:
        return self.task.target.reference

    @property
    def stub(self) -> str:
        return controls.stub(self.task)

    def read_answer(self, text: str, style: Style = "chat") -> Extraction:
        if style != "chat" and text.strip() and "```" not in text:
            return Extraction(text, ())  # a samples file has the answer itself
        return prompts.extract_answer(text, self.task)

    def job(self, candidate: str, body: str, limits: Limits, *, cold: bool = False) -> Job:
        calls = verdicts.hidden_calls(self.task)
        job = verdicts.job(candidate, self.position, calls, body, limits if cold else self.task.limits(limits))
        return replace(job, route=Route.COLD) if cold else job

    def judge(self, report: Report) -> Report:
        return verdicts.judge(report, verdicts.hidden_calls(self.task))


@dataclass(eq=False)
class UsageTaskTable:
    """The tasks of a usage run in the session."""

    _writer: SessionWriter
    _run: str
    _prepared: PreparedUsage
    _sandbox: str
    items: list[UsageItem] = field(init=False)

    def __post_init__(self) -> None:
        snapshot, built = self._prepared.snapshot, self._prepared.built
        self.items = [
            UsageItem(self._identity(snapshot.digest, task), task, place) for place, task in enumerate(built.tasks)
        ]

    def _identity(self, snapshot: str, task: UsageTask) -> str:
        content = hashlib.sha256(_as_json(task).encode("utf-8", "surrogatepass")).hexdigest()
        docs = f"usage:{content}"
        calls = tuple(verdicts.call_text(call) for call in task.hidden)
        return task_id(snapshot, task.target.path, task.target.name, 1, docs, tested_by(self._sandbox, calls))

    async def document(self, asks: Sequence[Ask]) -> dict[Ask, list[UsageItem]]:
        """Write the tasks of all asks, and return them by ask."""
        named = [(item.task.id, item.id, item) for item in self.items]
        table = {ask: chosen(ask, named) for ask in asks}
        selected = {item.id for items in table.values() for item in items}
        with self._writer.transaction() as connection:
            for item in self.items:
                if item.id in selected:
                    self._write(item)
            now = {item.id for item in self.items}
            for key, reason in connection.execute(
                "SELECT id, reason FROM tasks WHERE run_id = ?", (self._run,)
            ).fetchall():
                if key not in now:
                    self._writer.update("tasks", {"id": key}, {"state": "excluded", "reason": REBUILT})
                elif reason == REBUILT:
                    decide_task(self._writer, key)
        return table

    def _write(self, item: UsageItem) -> None:
        task, blob = item.task, self._writer.blob
        calls = [verdicts.call_text(call) for call in task.hidden]
        values = {
            "id": item.id,
            "run_id": self._run,
            "position": item.position,
            "snapshot": self._prepared.snapshot.digest,
            "path": task.target.path,
            "qualified_name": task.target.name,
            "occurrence": 1,
            "start_line": task.target.line,
            "tests": json.dumps(calls),
            "test_count": len(calls),
            "seconds": task.seconds,
            "body_blob": blob(task.target.reference),
            "docstring_blob": blob(statement(task)),
            "docs": "usage",
            "docs_scope": "repository",
            "usage_blob": blob(_as_json(task)),
        }
        self._writer.insert("tasks", values, conflict="IGNORE")


def _as_json(task: UsageTask) -> str:
    return json.dumps(asdict(task), sort_keys=True)


@dataclass(eq=False)
class Pages:
    """The texts of a run's pages."""

    record: RunRecord
    _prepared: PreparedUsage

    def text(self, ask: Ask) -> str:
        """Return the text that a reader sees, or "" for no page, and record its digest."""
        if ask.page:
            with SessionReader(self.record.writer.path) as reader:
                text = reader.text(ask.page)
        elif ask.context == SOURCES:
            text = self._sources()
        elif ask.context.startswith(OWN):
            docs, reference = ask.context != OWN, self._prepared.case.reference_readme
            _, text = own_page(self._prepared.snapshot.root, reference, docs=docs)
        else:
            text = ""
        if text or ask.context not in (WITHOUT, ""):  # a control has no page
            with self.record.writer.transaction():
                plan = self.record.plan()
                assert isinstance(plan, UsagePlan)
                digest = self.record.writer.blob(text)
                self.record.amend(page_digests={**plan.page_digests, ask.context: digest})
        return text

    def _sources(self) -> str:
        root, built = self._prepared.snapshot.root, self._prepared.built
        roots = self._prepared.environment.workspace.import_roots
        of_commands = (task.target.path for task in built.tasks if task.target.kind == "command")
        paths = dict.fromkeys([*(name.path for name in built.names), *of_commands])
        # Keyed by the defining module, from which all of the names can be imported
        sources = {
            module_name(path, roots): (root / path).read_text("utf-8", "replace")
            for path in paths
            if (root / path).is_file()
        }
        options = sorted({option for source in sources.values() for option in _OPTION.findall(source)})
        programs = "".join(f"```sh\n{program}\n```\n" for program in built.programs)
        listed = f"Options: {', '.join(f'`{option}`' for option in options)}\n" if programs and options else ""
        return f"{programs}{listed}\n{prompts.page_of_sources(sources)}"


@dataclass(eq=False)
class Prober:
    """Runs answers on the shown calls of tasks."""

    sandboxes: Pool
    limits: Limits

    async def fitting(self, item: UsageItem, attempts: Sequence[probing.AnswerAttempt]) -> probing.AnswerAttempt | None:
        """Return the first attempt that fits both shown calls, or None."""
        if not attempts:
            return None
        values = await self.values(item, probing.probe(attempts, item.task))
        return probing.chosen(attempts, values, item.task)

    async def values(self, item: UsageItem, answer: str) -> list[str]:
        """Return the results of an answer on the first shown call, as canonical texts."""
        job = verdicts.job(item.id, item.position, {0: item.task.shown[0]}, answer, self.limits)
        report = await self.sandboxes.run(job)
        return [test.value for test in report.tests]


@dataclass(eq=False)
class AttemptingReader:
    """A reader without a model; it submits the first answer that fits the shown calls."""

    prober: Prober
    attempts: Callable[[UsageTask], list[probing.AnswerAttempt]]
    page: str = ""

    async def respond(self, item: TaskItem, candidate: str, sample: int) -> EvaluatorResponse:
        assert isinstance(item, UsageItem)
        attempts = await asyncio.to_thread(self.attempts, item.task)
        found = await self.prober.fitting(item, attempts)
        if found is None:
            return EvaluatorResponse(Extraction(None, (), literal.why_none(self.page, attempts, item.task)))
        return EvaluatorResponse(Extraction(found.answer_text, (found.why,)), page_line=found.line or None)


class TableReader:
    """The control ``table``: a dictionary of the shown calls."""

    async def respond(self, item: TaskItem, candidate: str, sample: int) -> EvaluatorResponse:
        assert isinstance(item, UsageItem)
        return EvaluatorResponse(Extraction(controls.table(item.task)))


class ModelReader(ModelEvaluator):
    """A model that sees a page and the statement of a task."""

    def __init__(self, ask: Ask, gateway: Gateway, calls: SessionCallLog, page: str) -> None:
        super().__init__(ask, gateway, calls)
        self._page = page

    def _messages(self, item: TaskItem) -> tuple[Message, ...]:
        assert isinstance(item, UsageItem)
        prompt = prompts.build_usage_prompt(item.task, statement(item.task), self._page, window_tokens=self._window)
        return prompt.require_fit().messages

    def _grammar(self, item: TaskItem) -> str | None:
        return None


@dataclass(eq=False)
class Readers(Evaluators):
    """The readers of a usage run, and what the pages lack for the tasks that a reader failed."""

    _pages: Pages
    _prober: Prober
    _sandbox: PackageSandbox
    _names: tuple[tuple[str, str, int, int | None], ...]
    _gaps: dict[tuple[str, str], str] = field(default_factory=dict, init=False)

    def _make(self, ask: Ask) -> Evaluator:
        if ask.evaluator == "table":
            return TableReader()
        if ask.evaluator == "package":
            return AttemptingReader(self._prober, partial(controls.package, names=self._names))
        page = self._pages.text(ask)
        if ask.evaluator == LITERAL:
            return AttemptingReader(self._prober, partial(literal.candidates, page), page)
        if steps_of(ask.prompt) is not None:
            if problem := program.problem():
                raise UsageError(f"A reader agent needs an isolating sandbox for what it runs: {problem}")
            return AgentReader(ask, self._gateway, self._calls, self._pages.record, page, self._sandbox)
        made = super()._make(ask)
        return ModelReader(ask, self._gateway, self._calls, page) if isinstance(made, ModelEvaluator) else made

    def billed(self, ask: Ask, candidate: str) -> dict[str, Any]:
        is_agent = steps_of(ask.prompt) is not None
        return self._calls.billed_in_total(candidate) if is_agent else super().billed(ask, candidate)

    async def explain(self, item: TaskItem, ask: Ask) -> str | None:
        assert isinstance(item, UsageItem)
        if ask.context in (WITHOUT, SOURCES) or ask.evaluator in CONTROLS:
            return None
        key = (ask.context, item.id)
        if key not in self._gaps:
            page, task = self._pages.text(ask), item.task
            checks = await asyncio.to_thread(gaps.example_checks, page, task)
            values = await self._prober.values(item, gaps.example_probe(checks, task)) if checks else []
            wrong = gaps.wrong_examples(checks, values[0] if values else None, task)
            self._gaps[key] = json.dumps(asdict(await asyncio.to_thread(gaps.gap_of, page, task, wrong)))
        return self._gaps[key]


async def execute(writer: SessionWriter, run: RunRow, settings: Settings) -> None:
    """Do the remaining work of ``run``; raises any error that ends the whole run, including cancellation."""
    record = RunRecord(writer, run.id)
    plan = record.plan()
    stages = StageTable(writer, run.id)
    gateway, calls = gateway_for(writer, run, plan.spend_limit, settings)
    try:
        backend = choose_backend(plan.sandbox or settings.sandbox or None, plan.import_folders)
        record.amend(sandbox=backend.name, weaknesses=backend.guarantees().weaknesses)
        finished = False
        while not finished:
            plan = record.plan()
            record.forget_dropped()
            try:
                prepared = await prepare_usage(plan.source, backend, stages, pinned=plan.snapshot, rebuild=plan.rebuild)
            except NoUsageTasks as nothing:
                for entry in nothing.built.dropped:
                    record.dropped(entry)
                raise
            record.fetched(prepared.snapshot)
            record.amend(should_be_named=prepared.built.should_be_named)
            for entry in prepared.built.dropped:
                record.dropped(entry)
            if plan.rebuild:
                record.amend(rebuild=False)
            table = UsageTaskTable(writer, run.id, prepared, backend.name)
            limits = Limits()
            entries = [(item.task.target, (*item.task.shown, *item.task.hidden)) for item in table.items]
            workspace = await asyncio.to_thread(usage_workspace, prepared.environment.workspace, entries)
            async with pool(backend, workspace, workers=cores(), limits=limits) as sandboxes:
                names = prepared.built.names
                files = sorted({name.path for name in names})
                own = prepared.environment.workspace
                readers = Readers(
                    gateway,
                    calls,
                    Pages(record, prepared),
                    Prober(sandboxes, limits),
                    PackageSandbox(own, files, asyncio.Semaphore(cores())),
                    tuple((one.module, one.attribute, one.least, one.most) for one in names),
                )
                loop = AskLoop(record, stages, readers, sandboxes, limits, settings)
                finished = await loop.run(table.document, {item.task.id for item in table.items})
        stages.update("rechecks", "done")
    except BaseException:
        stages.failed()
        raise
    finally:
        with contextlib.suppress(Exception):
            await gateway.aclose()
