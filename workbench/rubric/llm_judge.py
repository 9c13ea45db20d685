"""The judge that asks a model: criteria in, schema-checked numbers out, unscored where no usable answer comes."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from workbench.errors import WorkbenchError
from workbench.json_answers import no_constant, objects_in
from workbench.models.reasoning import split_reasoning
from workbench.rubric import prompts, spans
from workbench.rubric.judging import FAILED, Brief, Question, unscored
from workbench.rubric.scorecard import Criterion, Evidence
from workbench.task_groups import task_group

if TYPE_CHECKING:
    from workbench.models.types import Answer, Request, Sampling

TRIES = 3
"""How often one repeat is asked before it stays unscored; each time with what was wrong with the answer before."""


class Asker(Protocol):
    """The part of the gateway that a judge needs."""

    async def complete(self, request: Request) -> Answer:
        """Return the model's answer or raise ``ModelError``."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """One repeat: the numbers by key, or why there are none; ``answered`` is whether the model said anything."""

    points: Mapping[str, float] | None
    reasoning: str
    answered: bool = True


class LLMJudge:
    """Scores by a model through the gateway, ``repeats`` times independently; points are the mean.

    A repeat without a usable answer is left out of the mean and counted in the reason; when all fail, the criteria
    are unscored.
    """

    def __init__(
        self,
        gateway: Asker,
        model: str,
        *,
        sampling: Sampling | None = None,
        repeats: int = 1,
        scope: str = "",
    ) -> None:
        """Make a judge; ``sampling`` defaults to the original's temperature of 0.3.

        Raises:
            ValueError: ``repeats`` is less than 1.
        """
        if repeats < 1:
            raise ValueError("repeats must be at least 1")
        from workbench.models.types import Sampling as _Sampling

        self.name = model
        self._gateway = gateway
        self._sampling = sampling if sampling is not None else _Sampling(temperature=0.3)
        self._repeats = repeats
        self._scope = scope

    async def judge_tier(self, tier: int, brief: Brief) -> list[Criterion]:
        """Return one criterion for each question of the brief."""
        fenced = prompts.question(tier, brief)
        async with task_group() as group:
            tasks = [group.create_task(self._ask(fenced.text, brief, sample)) for sample in range(self._repeats)]
        verdicts = [task.result() for task in tasks]
        usable = [verdict for verdict in verdicts if verdict.points is not None]
        if not usable:
            return unscored(tier, brief.questions, f"{FAILED}{verdicts[-1].reasoning}", self.name)
        failed = next((verdict.reasoning for verdict in verdicts if verdict.points is None), None)
        notes = list(fenced.cuts)
        if failed is not None:
            notes.append(f"{len(verdicts) - len(usable)} of {len(verdicts)} repeats failed: {failed}")
        return [self._criterion(tier, question, usable, notes) for question in brief.questions]

    async def _ask(self, text: str, brief: Brief, sample: int) -> _Verdict:
        """Ask for one repeat; recorded answers that were of no use are passed over, or a resume would fail by them again."""
        verdict, source = await self._conversation(text, brief, sample)
        while verdict.points is None and source in ("recorded", "replay"):
            again, source_then = await self._conversation(text, brief, sample)
            if source == "replay" and not again.answered:
                break  # no more was recorded: the judge of that session failed as well
            verdict, source = again, source_then
        return verdict

    async def _conversation(self, text: str, brief: Brief, sample: int) -> tuple[_Verdict, str]:
        """Return what came of up to three tries, and where the last answer came from."""
        from workbench.models.types import Message, Request

        messages = [Message("system", prompts.SYSTEM), Message("user", text)]
        shape = prompts.schema(brief)
        problem, source = "", ""
        for _ in range(TRIES):
            request = Request(
                model=self.name,
                messages=tuple(messages),
                purpose="judge",
                sampling=self._sampling,
                sample=sample,
                scope=self._scope,
                json_schema=shape,
            )
            try:
                answer = await self._gateway.complete(request)
            except WorkbenchError as error:
                # The gateway has retried already what is worth retrying.
                return _Verdict(None, str(error), answered=False), ""
            source = answer.source
            value, problem = read_answer(answer.text, shape)
            if value is not None:
                points = {question.key: float(value[question.key]) for question in brief.questions}
                return _Verdict(points, str(value["reasoning"])), source
            shown = spans.sound(answer.text[:2_000]) or "(empty)"
            messages += [Message("assistant", shown), Message("user", prompts.again(problem))]
        return _Verdict(None, f"no usable answer in {TRIES} tries, the last one: {problem}"), source

    def _criterion(self, tier: int, question: Question, usable: list[_Verdict], notes: list[str]) -> Criterion:
        samples = tuple(verdict.points[question.key] for verdict in usable if verdict.points is not None)
        mean = statistics.fmean(samples)
        reason = spans.quote(usable[0].reasoning, 400) or "the judge gave no reason"
        if len(samples) > 1:
            low, high, deviation = min(samples), max(samples), statistics.stdev(samples)
            reason = f"mean of {len(samples)} repeats, {low:g}–{high:g}, sd {deviation:.1f}: {reason}"
        if notes:
            reason = f"{reason} ({'; '.join(notes)})"
        evidence = tuple(
            Evidence("judge", f"{verdict.points[question.key]:g}: {spans.quote(verdict.reasoning, 400)}")
            for verdict in usable
            if verdict.points is not None
        )
        return Criterion(
            tier, question.key, question.title, mean, question.maximum, reason, evidence, self.name, samples
        )


def read_answer(text: str, shape: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """Return the last object in a judge's answer that fits the schema, or one in such an object; or None and what is wrong with the last."""
    import jsonschema

    text = split_reasoning(text).answer
    problem = ""
    whole = [found.value for found in reversed(objects_in(text))]
    for value in [*whole, *(part for one in whole for part in one.values() if isinstance(part, dict))]:
        try:
            jsonschema.validate(value, dict(shape))
        except jsonschema.ValidationError as error:
            where = "".join(f"{part}: " for part in error.absolute_path)
            problem = problem or spans.quote(f"{where}{error.message}", 200)
        else:
            return value, ""
    return None, problem or _why_none(text)


def _why_none(text: str) -> str:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return "there is no JSON object in it"
    try:
        json.loads(text[start : end + 1], parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        return f"it is not valid JSON ({spans.quote(str(error), 80)})"
    return "it is not valid JSON"
