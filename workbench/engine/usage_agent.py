"""Execute a reader agent: it reads a page in portions, tries the package in a sandbox, and submits an answer."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from workbench.agents.agent_context import AgentSteps, Conversation, Turn
from workbench.agents.protocol import (
    RESPOND,
    Action,
    CallForm,
    Observation,
    UnusableAnswer,
    problem_message,
    tool_message,
)
from workbench.base.errors import WorkbenchError
from workbench.base.text import one_line, plural
from workbench.checking.environment import run_in_sandbox
from workbench.engine.evaluators import EvaluatorResponse, ModelEvaluator
from workbench.engine.records import REPLAY, SessionCallLog, TrialLog
from workbench.engine.regenerate import RunRecord
from workbench.engine.task_rows import TaskItem
from workbench.models import Gateway
from workbench.models.types import EmptyAnswer, ModelError, Request
from workbench.orders.usage import AGENT_PREFIX
from workbench.plans.plan import Ask
from workbench.regeneration.environment import interpreter_folders
from workbench.regeneration.extraction import Extraction
from workbench.sandbox import Workspace
from workbench.session import SessionReader
from workbench.usage import reader_agent
from workbench.usage.bytecode import BytecodeCopy, bytecode_copy
from workbench.usage.prompts import extract_answer
from workbench.usage.reader_agent import ReaderPage
from workbench.usage.tasks import UsageTask

if TYPE_CHECKING:
    from workbench.engine.usage import UsageItem

AGENT = "reader"
"""The name of reader agents in the table of trials."""
_CALLS = CallForm((reader_agent.READ, reader_agent.RUN), "answer", '"answer" (text)', reader_agent.EXAMPLE)
_OBSERVATIONS = """
SELECT calls.digest, observation_blob FROM steps JOIN calls ON calls.id = steps.call_id WHERE observation_blob IS NOT NULL
"""
_TARGET = 80  # characters of the code, command or answer in a list of steps
_FOLDER = "/reader"
#: Runs code as an interactive session does, which shows the values of expressions.
_PYTHON = """import ast, sys
code = sys.argv.pop()
exec(compile(ast.Interactive(ast.parse(code, "<code>").body), "<code>", "single"), {"__name__": "__main__"})
"""
_LONGEST_ARGUMENT = 100_000  # bytes; the kernel's limit is 128 KiB
_STOPPED = {
    "time": f"It was stopped after {reader_agent.SECONDS} s.",
    "memory": "It was stopped, because it used too much memory.",
    "output": "It was stopped, because it printed too much.",
    "disk": "It was stopped, because it wrote too much.",
}
#: System folders with packages and manual pages that a distribution may have installed for the project.
_SYSTEM_PACKAGES = (
    "lib*/python3*/dist-packages",
    "lib*/python3*/site-packages",
    "share/doc",
    "share/man",
    "share/info",
)


@dataclass(eq=False)
class PackageSandbox:
    """Runs code and commands in a sandbox in which a project's package is installed as bytecode."""

    _workspace: Workspace
    _targets: Sequence[str]  # the files that define the project's public callables
    _places: asyncio.Semaphore
    _copy: BytecodeCopy | None = field(default=None, init=False)
    _copying: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def output(self, kind: str, text: str, files: Mapping[str, str]) -> str:
        """Return the output of Python code or of a shell command, followed by how it ended if it failed."""
        if len(text.encode("utf-8", "replace")) > _LONGEST_ARGUMENT or "\0" in text:
            return f"Error: it has more than {_LONGEST_ARGUMENT:,} bytes, or null characters."
        python = self._workspace.python
        command = [str(python), "-c", _PYTHON, text] if kind == "code" else ["sh", "-c", text]
        async with self._copying:
            if self._copy is None:
                self._copy = await asyncio.to_thread(bytecode_copy, self._workspace, self._targets)
        copy = self._copy
        async with self._places:
            with tempfile.TemporaryDirectory(prefix="reader-", ignore_cleanup_errors=True) as name:
                await asyncio.to_thread(_write, Path(name), files)
                ended = await run_in_sandbox(
                    [part.encode("utf-8", "replace").decode() for part in command],
                    folder=Path(name),
                    inside=_FOLDER,
                    python=python,
                    seconds=reader_agent.SECONDS,
                    mounts=(*self._workspace.mounts, copy.folder),
                    hidden=await asyncio.to_thread(lambda: tuple(_system_packages(python))),
                    variables={
                        **dict(self._workspace.variables),
                        "PATH": f"{copy.scripts}:{python.parent}:/usr/local/bin:/usr/bin:/bin",
                        "PYTHONPATH": str(copy.library),
                        "PYTHONDONTWRITEBYTECODE": "1",
                    },
                )
        shown = reader_agent.shortened_output(ended.output)
        end = _STOPPED.get(ended.stopped) or (f"Its exit status is {ended.status}." if ended.status else "")
        return f"{shown}\n({end})" if end else shown


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))


def _system_packages(python: Path) -> Iterator[Path]:
    for prefix in dict.fromkeys((Path("/usr"), Path("/usr/local"), *interpreter_folders(python))):
        for pattern in _SYSTEM_PACKAGES:
            yield from (path for path in prefix.glob(pattern) if path.is_dir() and not path.is_symlink())


class RecordedObservations:
    """The recorded observations of the steps that have a value in ``column``, by the preceding request."""

    def __init__(self, session: Path, column: str, value: object) -> None:
        self._session = session
        with SessionReader(session, surveyed=False) as reader:
            # # If a request has several observations, the first one counts, as with replayed answers.
            rows = reader.query(f"{_OBSERVATIONS} AND {column} = ? ORDER BY calls.id DESC", (value,))
        self._blobs = dict(rows)

    def of(self, request: Request) -> str | None:
        blob = self._blobs.get(request.digest)
        if blob is None:
            return None
        with SessionReader(self._session, surveyed=False) as reader:
            return reader.text_or_none(blob, "a recorded observation")


class ReaderSteps(AgentSteps):
    """The steps of an agent on one task, up to its answer."""

    form = _CALLS
    task: UsageTask
    page: ReaderPage
    context: str
    sandbox: PackageSandbox
    observations: RecordedObservations

    async def answer(self) -> str | None:
        """Return the answer that the agent submits, or None if it uses all steps without submitting one."""
        conversation = Conversation.begin(*reader_agent.first_messages(self.task, self.page, self.max_steps))
        while self.steps_left > 0:
            turn = await self.ask(conversation.messages)
            conversation.add_assistant(turn.answer.text)
            outcome = self._outcome(turn)
            if isinstance(outcome, UnusableAnswer):
                self._record("invalid", outcome.short, "asked again", turn.began, turn=turn, problem=outcome.sentence)
                conversation.add_user(problem_message(outcome, self.steps_left, self.form))
            elif outcome.name == RESPOND:
                text = str(outcome.kwargs["answer"])
                self._record("respond", RESPOND, one_line(text, _TARGET), turn.began, turn=turn)
                return text
            else:
                observation = await self._observation(outcome, turn.request)
                self._record("tool", outcome.name, observation.target, turn.began, turn=turn, observation=observation)
                conversation.add_user(tool_message(outcome.name, observation.text, self.steps_left))
        return None

    def _outcome(self, turn: Turn) -> Action | UnusableAnswer:
        """Return the call in an answer; in the last step, a code block without a call is an answer as well."""
        text = turn.answer.text
        is_last = isinstance(turn.outcome, UnusableAnswer) and self.steps_left == 1
        if is_last and "```" in text and extract_answer(text, self.task).valid:
            return Action(RESPOND, {"answer": text})
        return turn.outcome

    async def _observation(self, action: Action, request: Request) -> Observation:
        recorded = self.observations.of(request)
        if action.name == reader_agent.READ:
            text, lines = self.page.portion(action.kwargs)
            text = text if recorded is None else recorded
            read = self.context if lines and not text.startswith("Error:") else ""
            return Observation(text, lines, read=read, size=len(text.encode("utf-8", "surrogatepass")) if read else 0)
        if action.name != reader_agent.RUN:
            names = " and ".join(self.form.tools)
            return Observation(
                f"Error: unknown tool {one_line(action.name, 60)!r}. The tools are {names}.", action.name
            )
        found = reader_agent.code_or_command(action.kwargs)
        if found is None:
            return Observation("Error: 'code' or 'command' is required", "")
        if recorded is None:
            recorded = await self.sandbox.output(*found, reader_agent.case_files(self.task))
        return Observation(recorded, one_line(found[1], _TARGET))


class AgentReader(ModelEvaluator):
    """A reader agent with a model. The steps of a candidate are recorded as a trial with the candidate's id."""

    def __init__(
        self, ask: Ask, gateway: Gateway, calls: SessionCallLog, record: RunRecord, page: str, sandbox: PackageSandbox
    ) -> None:
        super().__init__(ask, gateway, calls)
        self._record = record
        self._page = ReaderPage(page, self._window)
        self._sandbox = sandbox
        self._model = ask.evaluator.removeprefix(AGENT_PREFIX)

    async def respond(self, item: TaskItem, candidate: str, sample: int) -> EvaluatorResponse:
        """Let the agent answer. An interrupted agent starts again and gets the recorded answers to its requests."""
        usage = cast("UsageItem", item)
        writer, steps_most = self._record.writer, reader_agent.steps_of(self._ask.prompt)
        assert steps_most is not None
        steps = ReaderSteps(
            self._gateway,
            TrialLog(writer, self._calls, candidate),
            model=self._model,
            sampling=self._sampling,
            sample=sample,
            scope=candidate,
            max_steps=steps_most,
        )
        steps.task, steps.page, steps.context = usage.task, self._page, self._ask.context
        steps.sandbox, steps.observations = self._sandbox, self._begin(usage, candidate, sample)
        self._gateway.forget(candidate)
        began = time.monotonic()
        try:
            text = await steps.answer()
        except EmptyAnswer as error:
            response = EvaluatorResponse(Extraction(None, (str(error),), "the answer is empty"))
        except WorkbenchError as error:
            kind = error.kind if isinstance(error, ModelError) else "sandbox"
            self._end(candidate, began, state="failed", error_kind=kind, error=str(error))
            raise
        else:
            if text is None:
                why = f"it submitted no answer within {plural(steps_most, 'step')}"
                response = EvaluatorResponse(Extraction(None, (), why))
            else:
                block = reader_agent.as_block(text, usage.task)
                response = EvaluatorResponse(usage.read_answer(block), block)
        self._end(candidate, began, state="done")
        return replace(response, call=self._calls.last_call(candidate))

    def _begin(self, item: UsageItem, candidate: str, sample: int) -> RecordedObservations:
        """Start or restart the trial, and return the observations recorded for its steps."""
        writer, model = self._record.writer, self._model
        if model.startswith(REPLAY):
            earlier = RecordedObservations(Path(model.removeprefix(REPLAY)), "calls.sample", sample)
        else:
            earlier = RecordedObservations(writer.path, "steps.trial_id", candidate)
        with writer.transaction():
            source = self._record.plan().source
            called = (source, f"{item.task.target.name} with {self._ask.context}")
            writer.add_trial(candidate, self._record.run, item.position, called, AGENT, model, sample)
            writer.forget_steps(candidate)
            writer.set_trial(
                candidate, state="running", started_at=time.time(), finished_at=None, error=None, error_kind=None
            )
        return earlier

    def _end(self, candidate: str, began: float, **values: object) -> None:
        seconds = time.monotonic() - began
        self._record.writer.set_trial(candidate, finished_at=time.time(), seconds=seconds, **values)
