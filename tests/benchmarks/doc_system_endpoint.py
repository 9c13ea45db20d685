"""RepoAgent through our endpoint (sandbox, gateway, session) beside RepoAgent against the model server directly.

Run: ``python tests/benchmarks/doc_system_endpoint.py [ANSWER_SECONDS] [ROUNDS]``. A loopback server in another process answers
each of its 91 requests about word_counter after ANSWER_SECONDS (0.5, which is quick for a model that writes some hundred tokens).
Both ways are measured in turns; the target is 1.1 times the wall time, which means something on an idle machine only: the
processor seconds of the program and of this process stand beside it. Where RepoAgent is not installed
(``workbench docs install repoagent``), nothing is measured.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workbench.documenters.kept import WorkFolder
from workbench.engine.records import SessionCallLog
from workbench.interop.doc_programs.installing import environment, installed
from workbench.interop.doc_programs.program import DocProgram
from workbench.interop.doc_programs.programs import INSTALLABLE, RepoAgent
from workbench.models import Limits
from workbench.models.gateway import Gateway
from workbench.repository import Snapshot, fetch
from workbench.session import SessionWriter
from workbench.session.file import create

ROOT = Path(__file__).parents[2]
TARGET = 1.1


def of_children() -> float:
    """Return the processor seconds of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def directly(snapshot: Snapshot, url: str) -> float:
    """Return the seconds that RepoAgent takes on its own, on a copy like ours, unconfined."""
    work = WorkFolder(snapshot, "directly", "")
    work.folder.mkdir(parents=True, exist_ok=True)
    copy = work.fresh_copy()
    python = environment(INSTALLABLE["repoagent"]) / "bin" / "python"
    command = [python, "-m", "repo_agent", "run", "-tp", copy, "-m", "m", "-b", url, "-l", "English", "-mtc", "4"]
    # An empty home folder, as in the sandbox: the program's libraries keep caches there.
    home = work.folder / "home"
    home.mkdir()
    variables = {**os.environ, "HOME": str(home), "OPENAI_API_KEY": "k", "PYTHONDONTWRITEBYTECODE": "1"}
    began = time.perf_counter()
    subprocess.run(command, cwd=copy, env=variables, check=True, capture_output=True)
    return time.perf_counter() - began


async def through_us(snapshot: Snapshot, url: str, session: Path) -> tuple[float, float]:
    """Return the seconds that it takes through sandbox, endpoint, gateway and session, and this process's processor seconds."""
    create(session)
    with SessionWriter(session) as writer:
        writer.add_run("run", "regenerate", {})
        gateway = Gateway(SessionCallLog(writer, "run"), Limits(), base_url=url)
        await gateway.warm_up("openai/m")  # an engine has done so long before
        system = DocProgram(RepoAgent("openai/m"), gateway)
        processor, began = time.process_time(), time.perf_counter()
        await system.prepare(snapshot, lambda step: None)
        seconds = time.perf_counter() - began
        assert "91 requests" in system.summary, system.summary
        return seconds, time.process_time() - processor


def main() -> None:
    """Measure and print."""
    if installed(INSTALLABLE["repoagent"]) is None:
        print("RepoAgent is not installed (workbench docs install repoagent): nothing was measured.")
        return
    wait = float(sys.argv[1]) if len(sys.argv) > 1 else 0.5
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    os.environ.setdefault("OPENAI_API_KEY", "not-needed")
    pairs: list[tuple[float, float]] = []
    processors: list[dict[str, float]] = []
    order = [sys.executable, str(ROOT / "tests" / "loopback" / "server.py"), "--wait", str(wait)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(order, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        snapshot = fetch(str(ROOT / "test_cases" / "word_counter" / "repository"))
        for number in range(rounds):
            os.environ["WORKBENCH_CACHE_DIR"] = str(Path(folder, str(number)))
            marks = [of_children()]
            alone = directly(snapshot, url)
            marks.append(of_children())
            ours, processor = asyncio.run(through_us(snapshot, url, Path(folder, f"{number}.session")))
            marks.append(of_children())
            pairs.append((alone, ours))
            used = {"directly": marks[1] - marks[0], "confined": marks[2] - marks[1], "us": processor}
            processors.append({name: round(value, 2) for name, value in used.items()})
        server.kill()
    ratio = statistics.median(ours / alone for alone, ours in pairs)
    print(json.dumps({"answer_s": wait, "directly_s": [round(a, 2) for a, _ in pairs], "ours_s": [round(o, 2) for _, o in pairs],
                      "processor_s": processors, "ratio": round(ratio, 3), "target": TARGET}))  # fmt: skip
    print(f"RepoAgent through our endpoint takes {ratio:.2f} times as long: {'met' if ratio <= TARGET else 'MISSED'}")


if __name__ == "__main__":
    main()
