"""``python -m workbench.engine --session FILE --run ID``, or ``--study NAME``, ``--improvement ID``, or ``--warm``: import everything, then wait for an order.

A run that waits in the queue is waited for before anything heavy is imported: ten of them are ten small processes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from pathlib import Path

from workbench.collecting import collect_rarely


def _warm() -> int:
    # The heavy imports happen now, while nobody waits for them. LiteLLM, the heaviest, goes on while an order is taken
    # up; where no provider is set up the embedded model will be asked, which does without.
    from workbench.engine.process import serve
    from workbench.models import provider
    from workbench.models.defaults import default_model, is_local

    if not is_local(default_model("agent")):
        threading.Thread(target=provider.load, daemon=True).start()
    line = sys.stdin.readline()
    if not line.strip():
        return 0
    order = json.loads(line)
    log = Path(order["log"])
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    return serve(Path(order["session"]), order["run"])


def _in_turn(session: Path, run: str) -> int:
    """Wait until a run's turn has come; returns the exit code with which its engine ends at once, 0 if it is to go on."""
    from workbench.engine.queue import come_to_turn
    from workbench.errors import WorkbenchError

    try:
        come_to_turn(session, run)
    except WorkbenchError as error:
        print(error, flush=True)
        return error.exit_code
    return 0


def _study(session: Path, name: str) -> int:
    from workbench.engine.study_execution import execute_study
    from workbench.errors import WorkbenchError

    try:
        return execute_study(session, name)
    except WorkbenchError as error:
        print(error, flush=True)
        return error.exit_code


def _improvement(session: Path, key: str) -> int:
    from workbench.engine.improvement_execution import execute_improvement
    from workbench.errors import WorkbenchError

    try:
        return execute_improvement(session, key)
    except WorkbenchError as error:
        print(error, flush=True)
        return error.exit_code


def main() -> int:
    collect_rarely()
    parser = argparse.ArgumentParser(prog="python -m workbench.engine")
    parser.add_argument("--warm", action="store_true", help="wait on standard input for one order")
    parser.add_argument("--session", type=Path)
    parser.add_argument("--run")
    parser.add_argument("--study", help="execute what a study lacks, run after run")
    parser.add_argument("--improvement", help="execute an order to improve docstrings, by its id")
    arguments = parser.parse_args()
    if arguments.warm:
        return _warm()
    if arguments.session is not None and arguments.study is not None:
        return _study(arguments.session, arguments.study)
    if arguments.session is not None and arguments.improvement is not None:
        return _improvement(arguments.session, arguments.improvement)
    if arguments.session is None or arguments.run is None:
        parser.error("--session and --run belong together")
    if code := _in_turn(arguments.session, arguments.run):
        return code
    from workbench.engine.process import serve

    return serve(arguments.session, arguments.run)


if __name__ == "__main__":
    sys.exit(main())
