"""Carry out an assessment: a session with a run for each agent, executed by the ordinary engine, followed, and summed up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from workbench import paths
from workbench.engine import client, launching
from workbench.engine.plan import DocumentPlan
from workbench.engine.queue import enqueue
from workbench.errors import WorkbenchError
from workbench.reports import records, write_report
from workbench.reports.contents import read_contents
from workbench.serving.requests import Assessment
from workbench.session import SessionReader
from workbench.session.pending_work import trial_state
from workbench.session.rows import TrialRow
from workbench.text import one_line

_LOOK_SECONDS = 0.3
_GOING = frozenset({"queued", "running"})


@dataclass(frozen=True, slots=True)
class Refused:
    """An agent that could not be assessed, and why."""

    agent: str
    problem: str


@dataclass(slots=True)
class Assessed:
    """An assessment under way.

    Attributes:
        session: The session file; the app follows it like any other.
        runs: Its runs, one for each agent that could be planned.
        refused: The agents that could not.
    """

    session: Path
    runs: list[str] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    _told: dict[str, str] = field(default_factory=dict)

    async def progress(self) -> AsyncIterator[str]:
        """Yield a line for each step and each change of a trial, until every run is over."""
        for one in self.refused:
            yield f"{one.agent}: {one.problem}"
        while True:
            lines, over = await asyncio.to_thread(self._look)
            for line in lines:
                yield line
            if over:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    def cancel(self) -> None:
        """Stop what is under way; what is done is kept."""
        for run in self.runs:
            client.cancel(self.session, run)

    def result(self) -> dict[str, Any]:
        """Return the scorecards as JSON values, exactly those of the session."""
        with SessionReader(self.session) as reader:
            contents = read_contents(reader)
            return {
                "type": "assessment",
                "session": self.session.stem,
                "means": records.spread_values(contents),
                "trials": [
                    {**records.trial_values(one), **records.trial_details(reader, one)} for one in contents.trials
                ],
                "refused": [{"agent": one.agent, "problem": one.problem} for one in self.refused],
            }

    def markdown(self) -> str:
        """Return the session's report as Markdown."""
        return str(write_report(self.session, "md", None))

    def _look(self) -> tuple[list[str], bool]:
        with SessionReader(self.session) as reader:
            # The states first: a trial that changes afterwards is told at the next look.
            states = [reader.run_state(row) for run in self.runs if (row := reader.run(run)) is not None]
            lines = [line for run in self.runs for trial in reader.trials(run) for line in self._new(reader, trial)]
        return lines, not _GOING.intersection(states)

    def _new(self, reader: SessionReader, trial: TrialRow) -> Iterator[str]:
        state = trial_state(reader, trial)
        line = f"{trial.case_name} · {trial.agent} · {trial.repeat}: {_standing(reader, trial, state)}"
        if state != "queued" and self._told.get(trial.id) != line:
            self._told[trial.id] = line
            yield line


def _standing(reader: SessionReader, trial: TrialRow, state: str) -> str:
    if state == "running":
        return f"step {trial.steps}" if trial.steps else "started"
    if state == "done":
        return ", ".join(
            f"{score.rubric} {'unscored' if score.total is None else f'{score.total:.1f}'} of {score.out_of:.0f}"
            for score in reader.scores(trial.id)
        )
    return f"{state}{f': {one_line(trial.error, 300)}' if trial.error else ''}"


def begin(assessment: Assessment, judge: str) -> Assessed:
    """Plan the runs of an assessment in a new session and start engines for them; the second waits for the first.

    Raises:
        WorkbenchError: Nothing of it can be planned: no agent is there, or the session cannot be written.
    """
    stamp = time.strftime("assessment-%Y-%m-%d-%H%M%S")
    assessed = Assessed(paths.sessions_dir() / f"{stamp}-{uuid4().hex[:4]}.session")
    for agent in assessment.agents:
        plan = DocumentPlan(assessment.cases, agent=agent, judge=judge, repeats=assessment.repeats)
        try:
            run = client.plan_document(assessed.session, plan)
        except WorkbenchError as error:
            assessed.refused.append(Refused(agent, str(error)))
            continue
        if assessed.runs:
            enqueue(assessed.session, run)
        assessed.runs.append(run)
        launching.launch(assessed.session, run)
    if not assessed.runs:
        raise WorkbenchError(" ".join(dict.fromkeys(one.problem for one in assessed.refused)))
    return assessed
