"""Determine the verdict on a candidate from the report of its process and how the process ended.

These are pure functions that use no processes or files.

Passed means: the report is complete and carries the job's nonce, every required test ran and passed, pytest's own exit
status is 0, the process's exit status is the same, the tested module came from the tree, and pytest is unpatched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: The entry for started processes among a report's changes.
PROCESSES = "other processes"

#: Python's messages when a disk, a quota or the largest file is full (``ENOSPC``, ``EDQUOT``, ``EFBIG``).
_FULL = ("OSError: [Errno 28]", "OSError: [Errno 122]", "OSError: [Errno 27]")


def judge(
    events: list[dict[str, Any]], required: Sequence[str], status: int | None, ended: str, memory_exceeded: bool = False
) -> dict[str, Any]:
    """Return ``{"verdict", "reason", "detail", "tests", "suspicious", "changed", "restart"}`` and more.

    ``events`` are the process's events with the right nonce, ``required`` the node ids that must pass (empty: every
    collected test), ``status`` the wait status or None if it had to be killed. ``ended`` is ``exit`` if the process
    ended by itself, or ``timeout`` or ``flood`` if it was stopped.
    """
    tests = {}
    started = []
    last = None
    problems = []
    for event in events:
        kind = event.get("e")
        if kind == "test":
            tests[event["id"]] = {key: value for key, value in event.items() if key not in ("e", "n")}
        elif kind == "start":
            started.append(event["id"])
        elif kind == "collect":
            problems.append(event)
        elif kind in ("invalid", "end", "internal"):
            last = event if last is None or kind != "end" else dict(event, e=last["e"], message=last.get("message", ""))
    for name in required:
        if name not in tests:
            running = bool(started) and started[-1] == name
            message = "was running when the process ended" if running else "did not run"
            tests[name] = {"id": name, "outcome": "missing", "seconds": 0.0, "message": message, "traceback": ""}
    outcomes = list(tests.values())
    unfinished = [name for name in started if name not in tests or tests[name]["outcome"] == "missing"]
    where = " in " + unfinished[-1] if unfinished else _before_tests(events, required) if not started else ""
    if ended == "timeout" and required and _failed_to_the_last(outcomes):
        # All tests are reported and only the exit is missing, so judge by the tests: the machine's load must not decide
        # the verdict.
        ended, last = "exit", {"e": "end", **(last or {})}
    verdict, reason, detail = _decide(outcomes, problems, last, status, ended, memory_exceeded, where)
    if reason == "collection" and problems:
        for outcome in outcomes:
            if outcome["outcome"] == "missing":
                outcome["message"] = problems[0]["message"]
                outcome["traceback"] = problems[0]["traceback"]
    told = (event["name"] for event in events if event["e"] == "changed")
    return {
        # Some engines report the kernel's kill much later, when it would be attributed to the next candidate.
        "restart": memory_exceeded and ended == "exit",
        "verdict": verdict,
        "reason": reason,
        "detail": detail,
        "tests": outcomes,
        "suspicious": list(last.get("patched", ())) if last else [],
        "changed": sorted({*last.get("changed", ()), *told}) if last else [],
        "running": unfinished[-1] if (unfinished and ended != "exit") or (unfinished and last is None) else "",
        "notes": [f"{problem['id']}: {problem['message']}" for problem in problems],
    }


def _before_tests(events: list[dict[str, Any]], required: Sequence[str]) -> str:
    """Return the phase in which the process ended before the first test; runs of the whole suite report it."""
    if required or any(event.get("e") == "collect" for event in events):
        return " while importing the tests"
    files = [event["id"] for event in events if event.get("e") == "collecting" and event["id"] not in ("", ".")]
    if files:
        return f" while importing {files[-1]}"
    if any(event.get("e") == "collecting" for event in events):
        return " while looking for tests"
    return " while pytest loaded its plugins and conftest.py"


def _failed_to_the_last(outcomes: list[dict[str, Any]]) -> bool:
    found = [outcome["outcome"] for outcome in outcomes]
    return "missing" not in found and ("failed" in found or "error" in found)


def _decide(
    outcomes: list[dict[str, Any]],
    problems: list[dict[str, Any]],
    last: dict[str, Any] | None,
    status: int | None,
    ended: str,
    memory_exceeded: bool,
    where: str,
) -> tuple[str, str, str]:
    if memory_exceeded:
        return "crashed", "out_of_memory", f"It used more memory than allowed{where}."
    if ended == "timeout":
        return "timeout", "", f"It ran out of time{where}."
    if ended == "flood":
        return "crashed", "output_flood", f"It wrote more than allowed into the report{where}."
    if last is not None and last["e"] == "invalid":
        return "invalid", "syntax", last["message"]
    if last is None:
        return _died(status, where)
    if last["e"] == "internal" and any(words in last["message"] for words in _FULL):
        return "crashed", "disk_full", f"It wrote more than allowed{where}."
    if last["e"] == "internal":
        return "crashed", "early_exit", "pytest stopped with an internal error: {}".format(last["message"])
    return _compare(outcomes, problems, last, status)


def _died(status: int | None, where: str) -> tuple[str, str, str]:
    if status is not None and status & 0x7F:
        number = status & 0x7F
        return "crashed", "signal", f"The process was killed by signal {number}{where}."
    code = (status >> 8) if status is not None else -1
    return "crashed", "early_exit", f"The process ended with status {code} before the report was complete{where}."


def _compare(
    outcomes: list[dict[str, Any]], problems: list[dict[str, Any]], last: dict[str, Any], status: int | None
) -> tuple[str, str, str]:
    if last.get("wrong_copy"):
        first = last["wrong_copy"][0]
        return "error", "wrong_copy", f"The tests imported {first[0]} from outside the tree: {first[1]}."
    bad = [outcome for outcome in outcomes if outcome["outcome"] in ("failed", "error")]
    if any(outcome["message"].startswith("MemoryError") for outcome in bad):
        return "crashed", "out_of_memory", "It requested more memory than allowed in {}.".format(bad[0]["id"])
    full = [outcome for outcome in bad if outcome["message"].startswith(_FULL)]
    if full:
        return "crashed", "disk_full", "It wrote more than allowed in {}.".format(full[0]["id"])
    if bad:
        return "failed", "tests_failed", f"{len(bad)} of {len(outcomes)} tests failed."
    missing = [outcome for outcome in outcomes if outcome["outcome"] == "missing"]
    if missing and problems:
        return "failed", "collection", "The tests could not be imported: {}".format(problems[0]["message"])
    if missing:
        return "failed", "missing_tests", f"{len(missing)} of {len(outcomes)} required tests did not run."
    unsure = [outcome for outcome in outcomes if outcome["outcome"] != "passed"]
    if unsure:
        first = unsure[0]
        return "failed", "skipped", "{} was not passed but {}.".format(first["id"], first["outcome"])
    if last.get("patched"):
        return "failed", "tampered", "It changed the test framework: {}.".format(", ".join(last["patched"][:3]))
    if not last.get("compared"):
        return "failed", "tampered", "It passed, but the test framework was not compared with its original state."
    if last.get("exit") != 0 or status != 0:
        return "failed", "exit_status", "Every test passed, but pytest ended with status {}.".format(last.get("exit"))
    if not outcomes:
        return "failed", "missing_tests", "No test ran."
    return "passed", "", ""
