"""Improve docstrings: find those that do not carry their function, let a writer write better ones, and test what it wrote.

Every sample is one of an ordinary regeneration run: with the original docs, and with the docs of a folder that holds what the
writer proposed. The writer sees samples of the first numbers; what it wrote is compared on numbers that it never saw. The same
order into the same session finds every answer and verdict that it has.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench import paths
from workbench.checking.project import Project
from workbench.engine.document import gateway_for
from workbench.engine.orders import Order, ordered_work
from workbench.engine.plan import Ask, RegenerationPlan
from workbench.errors import UsageError, WorkbenchError
from workbench.improving.answers import read_docstring
from workbench.improving.attempts import Attempt, Refusal, Refused
from workbench.improving.changes import Change, written
from workbench.improving.failing import failing_bodies
from workbench.improving.gain import Gain, Share, share_of
from workbench.improving.gates import check_docstring, longest_for
from workbench.improving.standing import Kind, Standing, standings
from workbench.improving.writer_prompt import ONE_LITERAL, writer_prompt
from workbench.models import Gateway
from workbench.models.defaults import LOCAL_DOCSTRING_TOKENS, is_local, sampling_for
from workbench.models.types import EmptyAnswer, ModelError, Request
from workbench.repository.functions import Function, find_functions
from workbench.session import SessionReader, SessionWriter
from workbench.session.rows import CandidateRow, TaskRow
from workbench.session.task_names import row_id
from workbench.settings import load

PURPOSE = "writer"
CarryOut = Callable[[RegenerationPlan], Order]


@dataclass(frozen=True, slots=True)
class ImprovementPlan:
    """What is asked for.

    Attributes:
        base: The regeneration with the original docs; its ``samples`` are those that the writer sees.
        writer: The model that writes docstrings.
        held_out: Samples of each docstring that the writer never sees.
        below: A pass@1 below this is bad.
        attempts: Docstrings that are tried for a function at most.
        most: Functions that are tried at most; 0 = all that are badly documented.
    """

    base: RegenerationPlan
    writer: str
    held_out: int = 5
    below: float = 0.5
    attempts: int = 2
    most: int = 0


@dataclass(frozen=True, slots=True)
class Improved:
    """What came of it.

    Attributes:
        standings: Every function of the repository.
        attempts: Every attempt, in the order of the functions, then by number.
        changes: The files with the docstrings that were kept.
        evaluator: Who wrote the bodies.
        run: The run with the original docs.
    """

    standings: tuple[Standing, ...]
    attempts: tuple[Attempt, ...]
    changes: tuple[Change, ...]
    evaluator: str
    run: str

    @property
    def kept(self) -> tuple[Attempt, ...]:
        """The attempts that passed every gate, at most one of each function."""
        return tuple(attempt for attempt in self.attempts if attempt.is_kept)

    @property
    def tried(self) -> tuple[str, ...]:
        """Ids of the tasks that were tried."""
        return tuple(dict.fromkeys(attempt.task.id for attempt in self.attempts))


@dataclass(slots=True)
class _Proposal:
    """A function under way."""

    task: TaskRow
    function: Function
    source: bytes
    rows: tuple[CandidateRow, ...]
    seen: Share
    attempts: list[Attempt]
    changed: bytes = b""

    @property
    def last(self) -> Attempt:
        return self.attempts[-1]

    def refuse(self, refusal: Refusal) -> None:
        self.attempts[-1] = replace(self.last, refusal=refusal)


class Improvement:
    """One order to improve docstrings.

    Args:
        session: The session file; the runs are ordered into it.
        plan: What is asked for.
        carry_out: Orders a regeneration into the session and returns when it has ended; raises where it failed.
        tell: Is told what became of each attempt, as soon as that is known.
    """

    def __init__(
        self,
        session: Path,
        plan: ImprovementPlan,
        carry_out: CarryOut,
        tell: Callable[[Attempt], None] = lambda _: None,
    ) -> None:
        self._session = session
        self._plan = plan
        self._carry_out = carry_out
        self._tell = tell

    def run(self) -> Improved:
        """Do all of it.

        Raises:
            WorkbenchError: A run failed, or the writer cannot be asked at all.
        """
        plan = self._plan
        order = self._carry_out(plan.base)
        found, proposals = self._standings(order)
        # What is ordered from here on is asked as these samples were.
        self._base = replace(
            plan.base,
            asks=(order.ask,),
            evaluator=order.ask.evaluator,
            prompt=order.ask.prompt,
            context=order.ask.context,
        )
        if proposals:
            self._project = Project(self._root(order.run))
        waiting = list(proposals)
        for number in range(1, plan.attempts + 1):
            if not waiting:
                break
            self._ask(order.run, waiting, number)
            passed = [one for one in waiting if one.last.refusal is None]
            if passed:
                self._test(order.run, passed)
            for one in waiting:
                self._keep(one.last)
            waiting = [one for one in waiting if not one.last.is_kept]
        changes = _changes(proposals)
        return Improved(
            found, tuple(each for one in proposals for each in one.attempts), changes, order.ask.evaluator, order.run
        )

    # -- which functions

    def _standings(self, order: Order) -> tuple[tuple[Standing, ...], list[_Proposal]]:
        plan = self._plan
        with SessionReader(self._session) as reader:
            work = ordered_work(reader, order)
            found = standings(
                work.tasks, work.candidates, reader.dropped(order.run), below=plan.below, samples=plan.base.samples
            )
            bad = [one for one in found if one.kind is Kind.BADLY and one.task is not None]
            proposals = []
            for one in bad[: plan.most or len(bad)]:
                task = one.task
                assert task is not None
                assert task.source_blob is not None
                source = reader.data(task.source_blob)
                names = (task.qualified_name, task.occurrence)
                function = next(
                    each
                    for each in find_functions(source, task.path)
                    if (each.qualified_name, each.occurrence) == names
                )
                proposals.append(_Proposal(task, function, source, tuple(work.candidates[task.id]), one.seen, []))
        return found, proposals

    def _root(self, run: str) -> Path:
        from workbench.catalog import kept_snapshot, resolve_case, snapshot_of

        with SessionReader(self._session) as reader:
            row = reader.run(run)
        assert row is not None
        base = RegenerationPlan.from_json(row.config)
        case = resolve_case(base.source)
        return (kept_snapshot(case, base.snapshot) or snapshot_of(case)).root

    # -- what the writer says, and the gates that need no sample

    def _ask(self, run: str, proposals: Sequence[_Proposal], number: int) -> None:
        """Ask for a docstring of each function and let it pass the gates that need no sample."""
        with SessionWriter(self._session) as writer, SessionReader(self._session) as reader:
            row = reader.run(run)
            assert row is not None
            requests = [self._request(reader, one, number) for one in proposals]

            async def ask_all() -> list[str | Refusal]:
                gateway, _ = gateway_for(writer, row, self._plan.base.spend_limit, load())
                try:
                    return list(await asyncio.gather(*(_answer(gateway, request) for request in requests)))
                finally:
                    with contextlib.suppress(Exception):
                        await gateway.aclose()

            answers = asyncio.run(ask_all())
        for one, answer in zip(proposals, answers, strict=True):
            attempt = Attempt(one.task, number)
            if isinstance(answer, Refusal):
                one.attempts.append(replace(attempt, refusal=answer))
                continue
            try:
                text = read_docstring(answer)
                attempt = replace(attempt, docstring=text)
                docstring, one.changed = check_docstring(one.source, one.function, text, self._project)
                attempt = replace(attempt, docstring=docstring)
                if docstring == one.function.docstring:
                    raise Refused("code", "it is the docstring that is there already")
            except Refused as refused:
                attempt = replace(attempt, refusal=refused.refusal)
            one.attempts.append(attempt)

    def _request(self, reader: SessionReader, one: _Proposal, number: int) -> Request:
        writer = self._plan.writer
        small = is_local(writer)
        return Request(
            model=writer,
            messages=writer_prompt(
                one.source,
                one.function,
                failing_bodies(reader, one.task, one.rows, self._plan.base.samples),
                [(each.docstring, each.refusal) for each in one.attempts if each.refusal is not None],
                longest=longest_for(one.source, one.function),
                short=small,
            ),
            purpose=PURPOSE,
            sampling=replace(sampling_for(writer, "documenter"), max_tokens=LOCAL_DOCSTRING_TOKENS if small else None),
            scope=f"improve:{one.task.id}:{number}",
            grammar=ONE_LITERAL if small else None,
        )

    # -- the gates that need samples

    def _test(self, run: str, proposals: Sequence[_Proposal]) -> None:
        """Ask for samples of new docstrings: of the numbers that the writer saw, and of the rest where these are better."""
        base = self._base
        folder = _documented(proposals)
        # Only its own docstring is another one in the prompt of a function, whatever else is proposed in its file.
        new = replace(
            base, docs=f"folder:{folder}", docs_scope="target", controls=False, tasks=_names(proposals), limit=0
        )
        order = self._carry_out(new)
        with SessionWriter(self._session) as writer:
            writer.name_run(order.run, f"docstrings of attempt {proposals[0].last.number}")
        seen = self._rows(order)
        better = []
        for one in proposals:
            share = share_of(seen[row_id(one.task)], range(base.samples))
            one.attempts[-1] = replace(one.last, run=order.run, seen=share)
            if (share.at(1) or 0.0) <= (one.seen.at(1) or 0.0):
                said = f"of the samples {one.seen.words} passed before, {share.words} now"
                one.refuse(Refusal("seen samples", said))
            else:
                better.append(one)
        if not better:
            return
        names, most = _names(better), base.samples + self._plan.held_out
        held_out = range(base.samples, most)
        before = self._rows(self._carry_out(replace(base, samples=most, tasks=names, limit=0)))
        after = self._rows(self._carry_out(replace(new, samples=most, tasks=names)))
        for one in better:
            name = row_id(one.task)
            gain = Gain(share_of(before[name], held_out), share_of(after[name], held_out))
            one.attempts[-1] = replace(one.last, gain=gain)
            if gain.problem:
                one.refuse(Refusal("held-out samples", gain.problem))

    def _rows(self, order: Order) -> dict[str, tuple[CandidateRow, ...]]:
        with SessionReader(self._session) as reader:
            work = ordered_work(reader, order)
        return {row_id(task): tuple(work.candidates[task.id]) for task in work.tasks if task.state != "excluded"}

    def _keep(self, attempt: Attempt) -> None:
        """Write what became of an attempt as a remark on the task, once, and tell of it."""
        text = f"docstring by {self._plan.writer}: {attempt.words}"
        with SessionWriter(self._session) as writer, writer.transaction() as connection:
            there = connection.execute(
                "SELECT 1 FROM annotations WHERE item = ? AND text = ?", (attempt.task.id, text)
            ).fetchone()
            if there is None:
                writer.annotate(attempt.task.id, text)
        self._tell(attempt)


async def _answer(gateway: Gateway, request: Request) -> str | Refusal:
    """Return what a writer says, or why it said nothing; what every request would meet ends the order."""
    try:
        return (await gateway.complete(request)).text
    except EmptyAnswer:
        return Refusal("answer", "the writer answered nothing")
    except ModelError as error:
        if error.lasting:
            raise
        return Refusal("answer", str(error).rstrip("."))


def _names(proposals: Iterable[_Proposal]) -> tuple[str, ...]:
    return tuple(row_id(one.task) for one in proposals)


def _spliced(proposals: Iterable[_Proposal]) -> dict[str, tuple[bytes, bytes]]:
    """Return files before and after, each with the last docstring of its functions."""
    from workbench.regeneration.grafting import graft_file

    files: dict[str, tuple[bytes, dict[tuple[str, str, int], str | None]]] = {}
    for one in proposals:
        key = (one.task.path, one.task.qualified_name, one.task.occurrence)
        files.setdefault(one.task.path, (one.source, {}))[1][key] = one.last.docstring
    return {path: (source, graft_file(source, path, texts)) for path, (source, texts) in files.items()}


def _documented(proposals: Iterable[_Proposal]) -> Path:
    """Write the files with what was proposed into a folder that is named by its content; returns it."""
    files = {path: after for path, (_, after) in _spliced(proposals).items()}
    digest = hashlib.sha256(
        json.dumps([[path, hashlib.sha256(text).hexdigest()] for path, text in sorted(files.items())]).encode()
    )
    return written(paths.data_dir() / "proposed_docstrings" / digest.hexdigest()[:16], files)


def _changes(proposals: Iterable[_Proposal]) -> tuple[Change, ...]:
    kept = [one for one in proposals if one.attempts and one.last.is_kept]
    return tuple(Change(path, before, after) for path, (before, after) in sorted(_spliced(kept).items()))


def resolved_improvement(session: Path, plan: ImprovementPlan) -> ImprovementPlan:
    """Return a plan with what it leaves open filled in: by the run that the session has of it, else this machine's defaults.

    Raises:
        UsageError: A model, a source or a number cannot be meant.
    """
    from workbench.engine import defaults
    from workbench.engine.regeneration_client import resolved
    from workbench.models.names import check_model

    settings = load()
    writer = plan.writer or defaults.agent_model(settings)
    check_model(writer, "the writer", base_url=settings.base_url, local_model_path=settings.local_model_path)
    base = plan.base
    if (known := _recorded_ask(session, base)) is not None:
        base = replace(
            base,
            evaluator=known.evaluator,
            prompt=base.prompt or known.prompt,
            context=base.context or known.context,
            asks=(known,),
        )
    base = replace(base, samples=base.samples or defaults.SAMPLES)
    if base.evaluator in ("reference", "stub") or base.evaluator.startswith("samples:"):
        raise UsageError(
            f"{base.evaluator.partition(':')[0]} is no evaluator that reads docstrings, so none can be improved by it; name a model."
        )
    return replace(plan, base=resolved(base), writer=writer)


def _recorded_ask(session: Path, base: RegenerationPlan) -> Ask | None:
    """Return the first ask of a model in the run of a session that an order continues; None where it has none."""
    from workbench.engine.regeneration_client import resolved
    from workbench.engine.same_work import is_same_work

    if not session.exists():
        return None
    plan = resolved(base)
    with SessionReader(session) as reader:
        runs = [run for run in reader.runs() if is_same_work(run, plan)]
    asks = [ask for run in runs for ask in RegenerationPlan.from_json(run.config).asks if ask.prompt]
    meant = [ask for ask in asks if not base.evaluator or ask.evaluator == base.evaluator]
    # Later ones may be those of held-out samples.
    return meant[0] if meant else None


def failed_run(session: Path, order: Order, state: str) -> WorkbenchError | None:
    """Return why an order of an improvement did not come to its end, None where it did."""
    from workbench.engine.orders import is_finished, refusal

    with SessionReader(session) as reader:
        row = reader.run(order.run)
        if said := refusal(reader, order):
            return UsageError(said)
        if is_finished(reader, order) or state == "done":
            return None
        why = (row.error if row is not None else "") or f"The regeneration ended {state}."
    return WorkbenchError(f"{why.rstrip('.')}; order the same once more into {session} to go on.")
