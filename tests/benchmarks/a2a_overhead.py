"""What driving an agent over A2A costs a step, against the same agent in process: the agent answers at once.

The agent is written with a2a-sdk 1.x and runs in a process of its own. Prints milliseconds a step, on the wall and of the
processor on both sides, and what is allowed: 10 ms more than in process. The processor's time decides: it does not depend
on what else the machine does.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from figures import Figure, publish
from remote_agents.processes import peer_process

from workbench.agents.agent_context import AgentContext, AgentStep, Assignment
from workbench.interop.a2a.agent import RemoteAgent
from workbench.interop.a2a.card import fetch_card
from workbench.interop.a2a.peer import PeerClient
from workbench.models.types import Answer, CallRecord, Request, Usage
from workbench.repository import View

STEPS, ROUNDS = 60, 5
MOST_MS = 10.0
FORMS = ("message,JSONRPC,not", "message,JSONRPC,streaming", "task,HTTP+JSON,streaming")


class Here:
    """The agent in process, and a log that keeps nothing."""

    def __init__(self, texts: list[str]) -> None:
        self.texts, self.asked = texts, 0

    async def complete(self, request: Request) -> Answer:
        self.asked += 1
        return Answer(self.texts[self.asked - 1], "m", Usage(0, 0), None, 0.0, "stop")

    def step(self, step: AgentStep) -> None: ...

    def record(self, call: CallRecord) -> None: ...

    def recall(self, request: Request, nth: int) -> None: ...


def spent_by(process: int) -> float:
    """Return the seconds of processor that another process has taken so far, in hundredths."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def one_trial(folder: Path, model_client: object, log: Here, model: str) -> tuple[float, float]:
    """Return milliseconds a step of a trial of so many steps: on the wall, and of this process's processor time."""
    context = AgentContext(Assignment("demo", "x"), View(folder), model_client, log, model=model, max_steps=STEPS)  # type: ignore[arg-type]
    wall, cpu = time.perf_counter(), time.process_time()
    submission = await RemoteAgent().document(context)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert submission.parsed
    assert context.steps_taken == STEPS
    return wall * 1000 / STEPS, cpu * 1000 / STEPS


def middle(measured: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(wall for wall, _ in measured), statistics.median(cpu for _, cpu in measured)


async def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "repository"
        folder.mkdir()
        (folder / "demo.py").write_text("x = 1\n" * 200)
        read = json.dumps({"name": "read_file", "kwargs": {"path": "demo.py"}})
        done = json.dumps({"name": "respond", "kwargs": {"readme": "# demo", "metadata": {}}})
        texts = [f"<json>{read}</json>"] * (STEPS - 1) + [f"<json>{done}</json>"]
        answers = Path(name) / "answers.json"
        answers.write_text(json.dumps(texts))
        here = middle([await one_trial(folder, Here(texts), Here([]), "m") for _ in range(ROUNDS)])
        print(f"in process: {here[0]:.2f} ms a step, processor {here[1]:.2f} ms ({STEPS} steps, median of {ROUNDS})")
        figures = []
        with peer_process(sys.executable, "agent_v1.py", answers, *FORMS) as (process, found):
            for form, url in zip(FORMS, found, strict=True):
                measured, before = [], spent_by(process)
                for _ in range(ROUNDS):
                    model_client = PeerClient(f"a2a:{url}", Here([]))
                    model = (await fetch_card(url)).model
                    measured.append(await one_trial(folder, model_client, Here([]), model))
                    await model_client.aclose()
                theirs = (spent_by(process) - before) * 1000 / STEPS / ROUNDS
                wall, cpu = middle(measured)
                more = cpu + theirs - here[1]
                print(
                    f"{form}: {wall:.2f} ms a step by the clock, processor {cpu:.2f} ms here and {theirs:.2f} ms there"
                )
                what = f"a step over A2A ({form}), more than in process"
                figures.append(Figure(what, f"{more:.2f} ms", f"the limit, {MOST_MS:g} ms", more / MOST_MS, 1.0))
        return publish(figures)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
