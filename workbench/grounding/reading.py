"""Read the input of grounding from a session and the repository cache, skipping damaged parts."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.claims import known
from workbench.grounding.claims import claims_of
from workbench.grounding.exploration import Exploration, PublicFunction, Visit, explore
from workbench.grounding.items import TASK, Grounding, RepositoryFile, Shown
from workbench.grounding.linking import ground
from workbench.session.pending_work import is_imported
from workbench.session.row_reader import TextDamaged

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import RunRow, StepRow, TrialRow

MOST_BYTES = 400_000
"""Maximum number of bytes to read from a README; claims are taken from its first 100,000 characters."""
NOT_HERE = (
    "This trial's repository is not on this machine. Claims that no step supports are therefore marked 'not seen' "
    "rather than as inventions."
)
_MOST_CODE = 5_000_000
"""Maximum number of bytes of Python source in which functions are counted."""


@dataclass(frozen=True, slots=True)
class Why:
    """Where the claims of a README come from, and how much its agent saw.

    ``grounding`` is None if there is no README; ``note`` names anything that is missing.
    """

    grounding: Grounding | None
    exploration: Exploration
    note: str = ""


def read_trial(reader: SessionReader, trial: TrialRow) -> Why:
    """Ground the README of a trial, and measure how much its agent saw.

    Raises:
        SessionError: The session cannot be read at all.
    """
    steps = reader.steps(trial.id)
    shown, visits = _steps(reader, trial, steps)
    files = tuple(reader.files_of(trial.snapshot)) if trial.snapshot else ()
    root = repository_of(trial)
    functions = public_functions(str(root), files) if root is not None else None
    run = reader.run(trial.run_id)
    # An imported file does not record the agent's other tools or its step limit.
    complete = run is None or not is_imported(run)
    explored = explore(files, visits, functions, stopped=_stopped(run, trial, steps), complete=complete)
    note = "" if root is not None or not files else NOT_HERE
    readme = _readme(reader, trial)
    if not readme.strip():
        return Why(None, explored, note)
    found = _files(root, files) if root is not None else None
    claims = claims_of(readme, modules=known.modules_of(path for path, _ in files), names=names_of(trial))
    cut = reader.size(trial.readme_blob) > MOST_BYTES or len(readme) > 100_000
    return Why(ground(claims, shown, found, cut=cut), explored, note)


def names_of(trial: TrialRow) -> frozenset[str]:
    """Return the names of a trial's project. The task mentions them, so they are not claims."""
    name = (trial.case_name or trial.case_id).rstrip("/").rsplit("/", 1)[-1]
    return frozenset({name.partition("==")[0].partition("@")[0].removesuffix("_github").removesuffix(".git")} - {""})


_FOUND: dict[tuple[str, str], Path] = {}
"""Cache of (cache folder, digest) → folder; verifying all files for every trial would dominate the running time."""
_MISSING: dict[tuple[str, str], float] = {}
_RETRY_SECONDS = 5.0


def repository_of(trial: TrialRow) -> Path | None:
    """Return the folder with exactly the content that the agent worked on, or None if it is not on this machine."""
    if not trial.snapshot:
        return None
    cache = paths.cache_dir().absolute()
    key = (str(cache), trial.snapshot)
    known = _FOUND.get(key)
    if known is not None and known.is_dir():
        return known
    if monotonic() < _MISSING.get(key, 0.0):
        return None
    found = _folder(trial.snapshot, trial.case_id, cache)
    if found is not None:
        _FOUND[key] = found
    else:
        _MISSING[key] = monotonic() + _RETRY_SECONDS
    return found


def _folder(digest: str, case_id: str, cache: Path) -> Path | None:
    from workbench.repository.store import ResolvedSource, Store

    found = Store(cache).load(ResolvedSource("", digest, "", "", 0.0))
    if found is not None:
        return found.root
    from workbench.catalog import resolve_case, snapshot_of

    with contextlib.suppress(WorkbenchError, OSError):
        case = resolve_case(case_id)
        # A bundled case is on every machine; any other case would have to be fetched.
        if not case.source and not case.alternatives:
            snapshot = snapshot_of(case)
            return snapshot.root if snapshot.digest == digest else None
    return None


def _files(root: Path, files: tuple[tuple[str, int], ...]) -> list[RepositoryFile]:
    return [RepositoryFile(path, size, _content(str(root), path)) for path, size in files]


def _content(root: str, path: str) -> Callable[[], bytes]:
    return lambda: _read(root, path)


# The trials of a case search the same files one after another.
@lru_cache(maxsize=2_000)
def _read(root: str, path: str) -> bytes:
    with contextlib.suppress(OSError), (Path(root) / path).open("rb") as file:
        return file.read(2_000_000)
    return b""


@lru_cache(maxsize=64)
def public_functions(root: str, files: tuple[tuple[str, int], ...]) -> tuple[PublicFunction, ...]:
    """Return the public functions and methods in the first 5 MB of a repository's Python source."""
    from workbench.repository.functions import outline

    found: list[PublicFunction] = []
    left = _MOST_CODE
    for path, size in files:
        if not path.endswith(".py") or size > left:
            continue
        left -= size
        for item in outline(_read(root, path), path):
            if item.kind in {"function", "method"} and not any(
                part.startswith("_") for part in item.qualified_name.split(".")
            ):
                found.append(PublicFunction(path, item.qualified_name, item.start_line, item.end_line))
    return tuple(found)


def _readme(reader: SessionReader, trial: TrialRow) -> str:
    try:
        return reader.text(trial.readme_blob, MOST_BYTES, of=f"the README of trial {trial.id}")
    except TextDamaged:
        return ""


def _steps(reader: SessionReader, trial: TrialRow, steps: list[StepRow]) -> tuple[list[Shown], list[Visit]]:
    sizes = {row.path: row.size for row in reader.accessed_files(trial.id) if row.access == "read"}
    shown = [Shown(TASK, "", task) for task in [_task(reader, steps)] if task]
    visits: list[Visit] = []
    for step in steps:
        if step.kind != "tool" or step.observation_blob is None:
            continue
        try:
            data = reader.data(step.observation_blob, of=f"the observation of step {step.number}")
        except TextDamaged:
            continue
        listing = step.action == "list_directory"
        if data.startswith(b"Error:"):
            visits.append(Visit(step.number, step.action, step.target, failed=True))
            continue
        shown.append(Shown(step.number, step.target, data, listing))
        size = sizes.get(step.target, len(data)) if not listing else 0
        names = _names(data, step.target) if listing else ()
        visits.append(Visit(step.number, step.action, step.target, size, data.count(b"\n"), names))
    return shown, visits


def _names(data: bytes, folder: str) -> tuple[str, ...]:
    base = "" if folder in {"", "."} else folder.strip("/") + "/"
    with contextlib.suppress(ValueError, RecursionError):
        names = json.loads(data)
        if isinstance(names, list):
            return tuple(base + str(name) for name in names)
    return ()


def _task(reader: SessionReader, steps: list[StepRow]) -> bytes:
    """Return the agent's task: the first user message, without the part that explains the tools."""
    call = next((reader.call(step.call_id) for step in steps[:1] if step.call_id is not None), None)
    for role, text in reader.messages(call) if call is not None else ():
        if role == "user":
            return text.partition("\nTools:")[0].encode("utf-8", "surrogatepass")
    return b""


def _stopped(run: RunRow | None, trial: TrialRow, steps: list[StepRow]) -> bool:
    if not steps or trial.state != "done" or any(step.kind == "respond" for step in steps):
        return False
    with contextlib.suppress(ValueError, TypeError):
        most = run.plan.get("max_steps") if run is not None else None
        return len(steps) >= int(most) if most else not trial.parsed
    return not trial.parsed
