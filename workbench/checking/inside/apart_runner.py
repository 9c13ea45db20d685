"""Runs chains of a page's steps apart from the page: ``python -I -B apart_runner.py STEPS RESULTS SECONDS PASSED``.

As process 1 of a sandbox of its own, standard library only. STEPS is a JSON object with all orders of the page and the chains to run, first
the last one of the page. Each chain begins as if nothing had been run before it: only what a reader would bring is there, and for
snippets the imports of those before it. PASSED is a file that the host writes: the last step that the page itself has come to. A chain
that leaves something behind ends it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(__file__))

from page_runner import STATE, Snippets, goes_on, proved, provide, result_of, traced  # type: ignore[import-not-found]
from traces import Traces, files, told  # type: ignore[import-not-found]


def run_chain(chain: list[int], steps: list[dict[str, Any]], seconds: float, traces: Traces) -> dict[str, Any]:
    """Run a chain; return the results of its steps, and whether it left nothing behind."""
    snippets, made, results, last = Snippets(), [], {}, -1
    traces.python = False
    clean = True
    for at in chain:
        for step in (one for one in steps if last < one["id"] <= at):
            made += provide(step, traces)
            if step["id"] != at:
                snippets.before += step.get("imports", ())
        step = next(one for one in steps if one["id"] == at)
        result = result_of({**step, "traced": True}, seconds, snippets)
        traces.note(step, result, goes_on(snippets))
        results[at] = result
        last = at
        clean = not (traces.rest or traces.python or result.get("timeout"))
        if not clean:
            break
    snippets.end()
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
        traces = traced()
        for chain in asked["chains"]:
            if chain[0] <= (told(passed) or 0):
                return
            results.write(json.dumps(run_chain(chain, asked["steps"], seconds, traces)) + "\n")
            results.flush()
            if traces.rest:
                return


main()
