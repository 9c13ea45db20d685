"""Runs chains apart from the page: ``python -I -B apart_runner.py STEPS RESULTS SECONDS PASSED``.

Runs as process 1 of its own sandbox, standard library only. STEPS is a JSON object with all steps of the page and the
chains to run, the last one first. Each chain starts afresh: only the reader's files are there, and for snippets the imports
of those before. Snippets with the same imports share a process as long as nothing is left behind in it. The host writes the
last step that the page has reached to PASSED. A chain that leaves something behind ends this process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(__file__))

from page_runner import STATE, Snippets, goes_on, proved, provide, result_of, traced  # type: ignore[import-not-found]
from traces import Traces, files, told  # type: ignore[import-not-found]


class Kept:
    """The process of the last chain of snippets; the next one may reuse it where it is as good as new."""

    def __init__(self) -> None:
        self.snippets = Snippets()
        self.imports: set[str] = set()

    def ready(self, chain: list[int], steps: list[dict[str, Any]]) -> bool:
        """Prepare for a chain; return whether it reuses a process."""
        before = [one for one in steps if one["id"] <= chain[-1]]
        imports = {text for one in before for text in one.get("imports", ())}
        is_python = any(one["id"] == chain[0] and one["kind"] != "shell" for one in steps)
        used = self.snippets.process is not None and is_python and imports == self.imports
        if not used:
            self.end()
        self.imports = imports
        return used

    def end(self) -> None:
        self.snippets.end()
        self.snippets = Snippets()


def run_chain(
    chain: list[int], steps: list[dict[str, Any]], seconds: float, traces: Traces, kept: Kept
) -> dict[str, Any]:
    """Run a chain; return the results of its steps and whether it left nothing behind."""
    renewed = kept.ready(chain, steps)
    made, results, last = [], {}, -1
    traces.python = False
    clean, grown = True, False
    for at in chain:
        for step in (one for one in steps if last < one["id"] <= at):
            made += provide(step, traces)
            if step["id"] != at:
                kept.snippets.before += step.get("imports", ())
        step = next(one for one in steps if one["id"] == at)
        result = result_of({**step, "traced": True, "renewed": renewed}, seconds, kept.snippets)
        traces.note(step, result, goes_on(kept.snippets))
        results[at] = result
        last, renewed = at, False
        grown = grown or bool(result.get("grown"))
        clean = not (traces.rest or traces.python or result.get("timeout"))
        if not clean:
            break
    if grown or not clean:
        kept.end()
    for path in made:
        os.unlink(path)
    if os.path.exists(STATE):
        os.unlink(STATE)
    if made:
        traces.before = files(traces.folder)
    return {"id": chain[0], "clean": clean, "results": results}


def main() -> None:
    steps_path, results_path, seconds, passed = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    with open(steps_path) as file:
        asked = json.load(file)
    with open(results_path, "w") as results:
        if not proved(results):
            return
        traces, kept = traced(), Kept()
        for chain in asked["chains"]:
            if chain[0] <= (told(passed) or 0):
                return
            results.write(json.dumps(run_chain(chain, asked["steps"], seconds, traces, kept)) + "\n")
            results.flush()
            if traces.rest:
                return


main()
