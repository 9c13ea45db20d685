"""Validate plans and check the machine before anything is written."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from workbench.agents.names import agent_info
from workbench.base import numbers, paths
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extensions import is_dotted
from workbench.base.files import shown
from workbench.base.reasons import last_words
from workbench.plans.arguments import arguments_of
from workbench.plans.plan import CandidatePlan, DocumentPlan

_FEWEST_FILES = 64


def check_document(plan: DocumentPlan) -> None:
    agent_info(plan.agent)
    if not plan.cases:
        raise UsageError("Name at least one test case; `workbench cases` lists them.")
    check_scoring(plan)


def check_scoring(plan: DocumentPlan) -> None:
    """Raise UsageError for invalid numbers, rubrics or limits."""
    from workbench.rubric import rubrics

    _check_numbers(plan)
    known = [info.name for info in rubrics()]
    if strange := [name for name in plan.rubrics if name not in known]:
        raise UsageError(f"There is no rubric {strange[0]!r}. Known rubrics: {', '.join(known)}.")
    if not plan.rubrics:
        raise UsageError(f"Name at least one rubric: {', '.join(known)}.")
    _dollars(plan.spend_limit)


def check_regeneration(plan: CandidatePlan) -> None:
    # 0 stands for the default or "all", so the command line rejects an explicit 0.
    _check_numbers(plan)
    if not plan.k:
        raise UsageError("k must be 1 or more, for example --k 1,3.")
    for k in plan.k:
        _whole("k", k, 1)
    _dollars(plan.spend_limit)
    if not all(text.strip() and text.isprintable() for text in plan.tasks):
        raise UsageError("A task name is empty or contains control characters; `workbench tasks SOURCE` lists them.")


def _check_numbers(plan: object) -> None:
    for name, one in arguments_of(plan).items():
        if one.number is not None:
            what, least, most = one.number
            _whole(what, getattr(plan, name), least, most)


def check_place(session: Path) -> None:
    """Raise WorkbenchError if the session or the log cannot be written, or if an engine cannot run."""
    check_descriptors()
    _writable(session.absolute().parent, "The folder", "name another one with --session")
    _writable(paths.state_dir() / "engine", "The folder of logs", "set WORKBENCH_STATE_DIR to another one")


def check_descriptors() -> None:
    """Raise WorkbenchError if the limit of open files is too low for an engine and its sandboxes."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if most != resource.RLIM_INFINITY and most < _FEWEST_FILES:
        raise WorkbenchError(
            f"Only {most} files may be open at once here, but a run needs {_FEWEST_FILES}; raise the limit: "
            "ulimit -n 1024."
        )


def _writable(folder: Path, what: str, else_do: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise WorkbenchError(f"{what} {shown(folder)} cannot be created ({why}); {else_do}.") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise WorkbenchError(f"{what} {shown(folder)} cannot be written; {else_do}.")


def _whole(what: str, value: object, least: int, most: int = numbers.MOST_ITEMS) -> None:
    # A float or a string can only come from a program, so it is rejected instead of being converted.
    if isinstance(value, str):
        raise UsageError(f"{what} must be a number, not a text.")
    try:
        numbers.whole(value, least, most)
    except ValueError as expected:
        raise UsageError(f"{what} must be {expected}.") from None


def _dollars(value: object) -> None:
    try:
        if isinstance(value, str):
            raise ValueError("a number, not a text")
        numbers.amount(value)
    except ValueError as expected:
        raise UsageError(f"The spend limit must be {expected}.") from None


_SECONDS = 20


def check_sandbox(name: str, folders: Sequence[str] = ()) -> None:
    """Raise SandboxUnavailable if no sandbox works on this machine, or NoIsolation if none of them isolates."""
    # Imported here, because not every plan needs a sandbox.
    from workbench.sandbox.bubblewrap import Bubblewrap
    from workbench.sandbox.choose import backend_info, choose_backend
    from workbench.sandbox.docker import is_there
    from workbench.sandbox.types import NoIsolation, SandboxUnavailable

    name = backend_info(name).name if name else ""
    if name in ("", "bubblewrap") and Bubblewrap().problem() is None:
        return
    if name in ("bubblewrap", "process") or not (is_dotted(name) or is_there()):
        choose_backend(name or None)
        return
    # Run in a separate process: this is called by the app, which must import neither Docker nor foreign packages.
    command = [sys.executable, "-m", "workbench.sandbox", name, *folders]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise SandboxUnavailable(
            f"The Docker engine did not answer within {_SECONDS} s; start it again, or unset DOCKER_HOST."
        ) from None
    if done.returncode:
        raise SandboxUnavailable(f"The sandboxes could not be checked: {last_words(done.stderr)}.")
    said = json.loads(done.stdout)
    if "problem" in said:
        if said["promises"] is None:
            raise SandboxUnavailable(said["problem"])
        raise NoIsolation(said["problem"], said["promises"])
