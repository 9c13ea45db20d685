"""Follow usage runs and print their results."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Sequence
from pathlib import Path

from workbench.commands.output import interrupted, print_json
from workbench.commands.terminal import Terminal
from workbench.commands.watching import RegenerationWatch, follow, showing, stop
from workbench.pages.page import Note
from workbench.pages.usage_page import usage_json, usage_lines, usage_parts
from workbench.results.usage import UsageResults
from workbench.session import SessionReader


def watch_usage(
    session: Path,
    runs: Sequence[str],
    process: subprocess.Popen[bytes] | None,
    since: int,
    *,
    as_json: bool,
    contexts: Sequence[str] = (),
) -> int:
    """Follow usage runs one after another, print their results, and return the exit code.

    ``contexts`` has, for each run, the page whose figures its JSON summary gives.
    """
    code = 0
    for run, context in itertools.zip_longest(runs, contexts[: len(runs)], fillvalue=""):
        with showing(as_json) as show:
            show({"type": "run", "run": run, "session": str(session)})
            try:
                state = follow(session, run, process if len(runs) == 1 else None, show, RegenerationWatch(since))
            except KeyboardInterrupt:
                stop(session, run)
                return interrupted("Some answers", f"To continue: workbench resume {session}")
        with SessionReader(session) as reader:
            row = reader.run(run)
            if row is None:
                return 1
            results = UsageResults.read(reader, row)
        if as_json:
            for line in usage_lines(results):
                print_json(line)
            print_json(usage_json(results, context))
        elif results.rows:
            Terminal().parts((*usage_parts(results), Note(f"session: {session}")))
        code = max(code, int(state != "done" or bool(results.unfinished)))
    return code
