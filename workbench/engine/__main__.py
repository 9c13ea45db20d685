"""The engine's entry point, ``python -m workbench.engine --session FILE``.

One of ``--run ID``, ``--study NAME`` and ``--improvement ID`` selects the work; ``--warm`` waits for an order.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from workbench.base.errors import WorkbenchError
from workbench.base.garbage_collection import collect_rarely


def _warm() -> int:
    # Import heavy modules now, while nobody is waiting for them. LiteLLM, the heaviest, is imported in a thread, unless
    # the default model is the embedded one, which does not need it.
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


def _execute(session: Path, arguments: argparse.Namespace) -> int:
    from workbench.orders.launching import require_turn, wait_for_others

    if arguments.study is not None:
        from workbench.orders.study import execute_study, wait_for_other_runs

        if arguments.queue:
            wait_for_other_runs(session, arguments.study)
        return execute_study(session, arguments.study)
    if arguments.queue:
        wait_for_others(session)
    if arguments.improvement is not None:
        from workbench.engine.improvement import execute_improvement

        return execute_improvement(session, arguments.improvement)
    require_turn(session, arguments.run)
    from workbench.engine.process import serve

    return serve(session, arguments.run)


def main(words: Sequence[str] | None = None) -> int:
    collect_rarely()
    parser = argparse.ArgumentParser(prog="python -m workbench.engine")
    parser.add_argument("--warm", action="store_true", help="wait on standard input for one order")
    parser.add_argument("--session", type=Path)
    parser.add_argument("--run")
    parser.add_argument("--study", help="execute the incomplete runs of a study")
    parser.add_argument("--queue", action="store_true", help="start a study or improvement after the other runs")
    parser.add_argument("--improvement", help="execute an order to improve docstrings")
    arguments = parser.parse_args(words)
    if arguments.warm:
        return _warm()
    if arguments.session is None or not (arguments.study or arguments.improvement or arguments.run):
        parser.error("--session and one of --run, --study and --improvement belong together")
    try:
        return _execute(arguments.session, arguments)
    except WorkbenchError as error:
        print(error, flush=True)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
