"""Evaluators are the sources of candidate bodies: a model, the controls, a replayed session, or a samples file."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from workbench.base.errors import UsageError, WorkbenchError
from workbench.engine.records import SessionCallLog
from workbench.engine.task_rows import FunctionItem, TaskItem
from workbench.models import Gateway
from workbench.models.defaults import context_window, is_local, sampling_for
from workbench.models.types import Answer, EmptyAnswer, Message, Request, Sampling
from workbench.plans.plan import Ask
from workbench.regeneration import build_prompt
from workbench.regeneration.extraction import Extraction, Sample, read_samples
from workbench.regeneration.prompts import DEFAULT_RESERVE, SHORT_PROMPT
from workbench.session.groups import CONTROLS, NO_SETTINGS, canonical

# The embedded model is restricted to the function's header, followed by indented lines. Without this restriction, it
# repeats the imports and the docstring and then explains itself at length, which takes four fifths of the time. This is
# part of the prompt ``short-1``.
_ONE_FUNCTION = r"""
root ::= "```python\n" {header} "\n" first line{0,40} "```"
first ::= "    " [^ `"'#\n] [^`\n]{0,160} "\n"
line ::= "    " " "{0,16} [^ `\n] [^`\n]{0,160} "\n"
"""
SAMPLES = "samples:"
CUT = {
    "length": "the answer was cut at the token limit",
    "content_filter": "the answer was cut by the provider's content filter",
}
"""Notes on incomplete answers, by finish reason."""


@dataclass(frozen=True, slots=True)
class EvaluatorResponse:
    """An evaluator's response for one candidate."""

    extraction: Extraction
    text: str | None = None  # The raw answer, or None if there was none
    answer: Answer | None = None  # None if no model was used
    call: int | None = None
    page_line: int | None = None  # line of the page on which the answer is based, if known


class Evaluator(Protocol):
    """A source of candidate bodies."""

    async def respond(self, item: TaskItem, candidate: str, sample: int) -> EvaluatorResponse:
        """Return the body numbered ``sample`` for a task. Raises WorkbenchError if an external problem prevents it."""
        ...


@dataclass(eq=False)
class ControlEvaluator:
    """The controls: ``reference`` returns the original body, ``stub`` a minimal one."""

    _name: str

    async def respond(self, item: TaskItem, candidate: str, sample: int) -> EvaluatorResponse:
        return EvaluatorResponse(Extraction(item.reference if self._name == "reference" else item.stub))


class ModelEvaluator:
    """A model that is used through the gateway."""

    def __init__(self, ask: Ask, gateway: Gateway, calls: SessionCallLog) -> None:
        self._ask = ask
        self._gateway = gateway
        self._calls = calls
        self._settings_of = ask.sampled_as or ask.evaluator
        self._sampling = sampling(ask)
        self._window = context_window(self._settings_of)
        self._shaped = is_local(self._settings_of) and ask.prompt == SHORT_PROMPT

    async def respond(self, item: TaskItem, candidate: str, sample: int) -> EvaluatorResponse:
        """Request an answer from the model, unless the session already contains it."""
        request = Request(
            model=self._ask.evaluator,
            messages=self._messages(item),
            purpose="evaluator",
            sampling=self._sampling,
            sample=sample,
            scope=candidate,
            grammar=self._grammar(item),
        )
        try:
            answer = await self._gateway.complete(request)
        except EmptyAnswer as error:
            # An empty answer yields a candidate without a body; it is not an error.
            return EvaluatorResponse(
                Extraction(None, (str(error),), "the answer is empty"), call=self._calls.last_call(candidate)
            )
        extraction = item.read_answer(answer.text)
        if cut := CUT.get(answer.finish_reason):
            extraction = Extraction(extraction.body, (*extraction.notes, cut), extraction.reason)
        return EvaluatorResponse(extraction, answer.text, answer, self._calls.last_call(candidate))

    def _messages(self, item: TaskItem) -> tuple[Message, ...]:
        assert isinstance(item, FunctionItem)
        prompt = build_prompt(
            item.shown,
            item.shown_function,
            item.docstring,
            policy=self._ask.context,
            version=self._ask.prompt,
            own=self._ask.prompt_text,
            window_tokens=self._window,
            reserve_tokens=self._sampling.max_tokens or DEFAULT_RESERVE,
        )
        return prompt.require_fit().messages

    def _grammar(self, item: TaskItem) -> str | None:
        """Return the grammar that restricts the embedded model's answer, or None."""
        if not self._shaped:
            return None
        assert isinstance(item, FunctionItem)
        # GBNF has the same escapes as JSON.
        return _ONE_FUNCTION.replace("{header}", json.dumps(item.function.signature))


def sampling(ask: Ask) -> Sampling:
    usual = sampling_for(ask.sampled_as or ask.evaluator, "evaluator")
    return replace(usual, extra_body=json.loads(ask.extra_body)) if ask.extra_body else usual


def sampling_text(ask: Ask) -> str:
    """Return the sampling settings of an ask as stored with its candidates, or "" if no model is used."""
    return canonical(sampling(ask).to_json()) if ask.prompt else NO_SETTINGS


class SamplesEvaluator:
    """A samples file; sample n of a task is the n-th line for that task."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._of: dict[str, list[Sample]] = defaultdict(list)
        self._unreadable: list[str] = []
        for sample in read_samples(path):
            if sample.task:
                self._of[sample.task].append(sample)
            else:
                self._unreadable.append(sample.problem)

    def count(self, item: TaskItem) -> int:
        return len(self._lines(item))

    def _lines(self, item: TaskItem) -> list[Sample]:
        return [sample for task in (item.name, item.id) for sample in self._of.get(task, ())]

    def require_some(self, items: Sequence[TaskItem]) -> None:
        if not any(self._lines(item) for item in items):
            raise UsageError(
                f"{self._path.name} contains no sample for any of the tasks: {next(iter(self._of))!r} is not one "
                "of them; "
                "`workbench tasks SOURCE --json` prints their ids."
            )

    def ignored(self, known: Collection[str]) -> str:
        """Return warnings about unreadable lines, and about lines for tasks that are not ``known``."""
        warnings = [f"{problem}; it was ignored." for problem in self._unreadable[:1]]
        if (more := len(self._unreadable) - 1) > 0:
            warnings.append(f"{more:,} more of its lines cannot be read.")
        unknown = {task: len(lines) for task, lines in self._of.items() if task not in known}
        if not unknown:
            return " ".join(warnings)
        count = sum(unknown.values())
        lines = f"{count} line{'s name' if count > 1 else ' names'} no task here and"
        warnings.append(
            f"{self._path.name}: {lines} {'were' if count > 1 else 'was'} ignored, the first {next(iter(unknown))!r}."
        )
        return " ".join(warnings)

    async def respond(self, item: TaskItem, candidate: str, sample: int) -> EvaluatorResponse:
        """Return the body in the file. Raises WorkbenchError if the sample no longer exists."""
        lines = self._lines(item)
        if sample >= len(lines):
            raise WorkbenchError(f"{self._path.name} contains no sample {sample} of {item.name}; restore the file.")
        line = lines[sample]
        if line.problem:
            return EvaluatorResponse(Extraction(None, (), f"in {line.problem}"), line.text)
        return EvaluatorResponse(item.read_answer(line.text, line.style), line.text)


@dataclass(eq=False)
class Evaluators:
    """The evaluators of a run, created when they are needed."""

    _gateway: Gateway
    _calls: SessionCallLog
    _made: dict[tuple[str, str, str], Evaluator] = field(default_factory=dict, init=False)

    def of(self, ask: Ask) -> Evaluator:
        key = (ask.evaluator, ask.prompt_version, ask.sampled_as)
        if key not in self._made:
            self._made[key] = self._make(ask)
        return self._made[key]

    def _make(self, ask: Ask) -> Evaluator:
        if ask.evaluator in CONTROLS:
            return ControlEvaluator(ask.evaluator)
        if ask.evaluator.startswith(SAMPLES):
            return SamplesEvaluator(Path(ask.evaluator.removeprefix(SAMPLES)))
        return ModelEvaluator(ask, self._gateway, self._calls)

    async def explain(self, item: TaskItem, ask: Ask) -> str | None:
        """Return a possible reason for the failure of an answer, which is stored with the answer, or None."""
        return None

    def billed(self, ask: Ask, candidate: str) -> dict[str, Any]:
        return self._calls.billed(candidate)
