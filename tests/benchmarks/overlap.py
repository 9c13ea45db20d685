"""Generation and testing overlap: 640 requests at concurrency 64 against a model that answers in two seconds.

Run: ``python tests/benchmarks/overlap.py [SECONDS_PER_ANSWER] [SAMPLES_PER_TASK]``. The same 640 bodies three times, in runs of a real engine:
asked for and not tested (every answer is prose), tested and not asked for (out of a samples file), asked for and tested.
Target: the last takes at most 1.25 times the longer of the other two. What is prepared before the first request or test is
not counted, it is the same for all three.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from engine.mutants import mutants
from figures import Figure, publish
from loopback.server import LoopbackServer, Reply

from workbench.engine.task_building import prepare
from workbench.orders import launching
from workbench.orders.regenerate import order_regeneration
from workbench.plans.plan import RegenerationPlan
from workbench.sandbox import choose_backend
from workbench.session import SessionReader

SOURCE, TASKS, CONCURRENCY, TARGET = "schema==0.7.7", 40, 64, 1.25
SAMPLES = int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdecimal() else 16
PROSE = "I would rather talk about the weather than write this function."


class Quiet:
    """Hears how far the stages are and says nothing."""

    def update(
        self, name: str, state: str = "running", *, done: int | None = None, total: int | None = None, note: str = ""
    ) -> None:
        """Take note."""


def serve(answers: Path, wait: float) -> None:
    """The model, in a process of its own: the n-th request for a function gets the n-th of its bodies, or prose."""
    bodies: dict[str, list[str]] = json.loads(answers.read_text())
    asked: Counter[str] = Counter()

    def answer(body: dict[str, object]) -> Reply:
        found = re.search(r"body of `([^`]+)` and nothing else", str(body["messages"]))
        if body["model"] == "talker" or found is None:
            return Reply(PROSE, wait=wait)
        name = found[1]
        mine = bodies[name]
        asked[name] += 1
        return Reply(f"```python\n{mine[(asked[name] - 1) % len(mine)]}\n```", wait=wait)

    with LoopbackServer(answer) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


def measure(session: Path, evaluator: str, samples: int) -> dict[str, object]:
    """Run an evaluator on the tasks; seconds from the first request or test to the last verdict."""
    plan = RegenerationPlan(SOURCE, evaluator=evaluator, samples=samples, limit=TASKS, controls=False)
    run = order_regeneration(session, plan).run
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = launching.launch(session, run)
    assert process is not None
    pause = threading.Event()
    first = last = 0.0
    with SessionReader(session) as reader:
        while last == 0.0:
            stages = {stage.name: stage for stage in reader.stages(run)}
            if not first and "documentation" in stages and stages["documentation"].state == "done":
                first = time.monotonic()
            row = reader.run(run)
            assert row is not None
            assert reader.run_state(row) not in {"failed", "interrupted", "cancelled"}, (
                row.error or launching.last_words(run)
            )
            if first:
                ((left,),) = reader.query("SELECT count(*) FROM candidates WHERE verdict IS NULL")
                ((every,),) = reader.query("SELECT count(*) FROM candidates")
                if every and not left:
                    last = time.monotonic()
            pause.wait(0.05)
        process.wait()
        verdicts = dict(reader.query("SELECT verdict, count(*) FROM candidates GROUP BY verdict"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The engine with its sandboxes, preparation and end included.
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(last - first, 2), "processor_s": round(spent, 1), "verdicts": verdicts}


def main() -> int:
    wait = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("DATA", "STATE", "CONFIG"):
            os.environ[f"WORKBENCH_{name}_DIR"] = str(Path(folder) / name.lower())
        prepared = asyncio.run(prepare(SOURCE, choose_backend(), Quiet()))
        bodies: dict[str, list[str]] = {}
        lines = []
        for task in prepared.built.tasks[:TASKS]:
            whole = textwrap.dedent(task.body.lstrip("\n"))
            # Endless loops are measured elsewhere; here they would hide what is to be seen.
            near = [] if "while" in whole else mutants(task.body)
            pool = [whole, "pass", "return None", whole, "raise KeyError", *near][:SAMPLES]
            indented = [textwrap.indent(body, "    ") for body in pool]
            bodies[task.qualified_name.replace(".<locals>", "")] = indented  # as the prompt names it
            lines += [
                json.dumps({"task_id": task.id, "completion": indented[n % len(indented)] + "\n"})
                for n in range(SAMPLES)
            ]
        file, answers = Path(folder) / "answers.jsonl", Path(folder) / "answers.json"
        file.write_text("\n".join(lines) + "\n")
        answers.write_text(json.dumps(bodies))
        with subprocess.Popen(
            [sys.executable, __file__, "--serve", str(answers), str(wait)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as server:
            assert server.stdout is not None
            os.environ["WORKBENCH_BASE_URL"] = server.stdout.readline().strip()
            os.environ["OPENAI_API_KEY"] = "not-needed"
            os.environ["WORKBENCH_CONCURRENCY"] = str(CONCURRENCY)
            found: dict[str, dict[str, object]] = {}
            for name, evaluator, samples in (
                ("generation", "openai/talker", SAMPLES),
                ("testing", f"samples:{file}", 0),
                ("both", "openai/writer", SAMPLES),
            ):
                found[name] = measure(Path(folder) / f"{name}.session", evaluator, samples)
                print(f"{name:<11} {found[name]}", flush=True)
            server.kill()
    longer = max(float(str(found[name]["seconds"])) for name in ("generation", "testing"))
    ratio = float(str(found["both"]["seconds"])) / longer
    both = f"{float(str(found['both']['seconds'])):.1f} s"
    return publish(
        [Figure(f"ask and test {TASKS * SAMPLES} samples", both, f"the longer half, {longer:.1f} s", ratio, TARGET)]
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(Path(sys.argv[2]), float(sys.argv[3]))
    else:
        sys.exit(main())
