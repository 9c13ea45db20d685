"""Test in a separate process that the external classes of a plan can be imported, before the plan is stored.

Imports in that process can neither slow down nor crash the calling program, and they work exactly as in the engine:
with the same interpreter, working directory and PYTHONPATH.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any

from workbench.base.errors import UsageError
from workbench.base.reasons import last_words

_PATIENCE = 60.0  # seconds; a package that imports a deep-learning library takes ten


def import_folders(named: Sequence[tuple[str, str]], folders: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the folders from which an engine must import the classes in ``named``, including ``folders``.

    ``named`` has pairs of kind and dotted path. Raises UsageError if one cannot be imported or instantiated, or lacks a
    member; the message says what is missing.
    """
    if not named:
        return tuple(folders)
    order = json.dumps({"named": list(named), "folders": list(folders)})
    command = [sys.executable, "-m", "workbench.base.extension_check", order]
    what = " and ".join(path for _, path in named)
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise UsageError(f"Importing {what} did not finish within {_PATIENCE:g} s.") from None
    try:
        answer = json.loads(done.stdout.decode().splitlines()[-1])
        problem, found = str(answer["problem"]), [str(folder) for folder in answer["folders"]]
    except (ValueError, IndexError, KeyError, TypeError):
        reason = last_words(done.stderr.decode("utf-8", "replace"))
        raise UsageError(
            f"Importing {what} ended the process ({reason or f'exit status {done.returncode}'})."
        ) from None
    if problem:
        raise UsageError(problem)
    return tuple(dict.fromkeys((*found, *folders)))


def main(order: str) -> int:
    """Import each requested class, and print as JSON what is wrong and which folders the classes came from."""
    # Output printed by the packages must not be mistaken for the answer.
    with redirect_stdout(sys.stderr):
        problem, folders = _tried(json.loads(order))
    print(json.dumps({"problem": problem, "folders": folders}))
    return 0


def _tried(order: dict[str, Any]) -> tuple[str, list[str]]:
    import sysconfig

    from workbench.base.extensions import ExtensionProblem, load, make

    installed = set(sysconfig.get_paths().values())
    found = []
    try:
        for kind, path in order["named"]:
            loaded = load(kind, path, protocol_of(kind), order["folders"])
            make(kind, loaded, {"model_client": None, "scope": ""})
            found.append(loaded.folder)
    except ExtensionProblem as problem:
        return str(problem), []
    # Installed packages can be imported without their folder.
    return "", [folder for folder in dict.fromkeys(found) if folder and folder not in installed]


def protocol_of(kind: str) -> Any:
    module, name = {
        "agent": ("workbench.agents", "Agent"),
        "judge": ("workbench.rubric", "Judge"),
        "sandbox": ("workbench.sandbox", "Backend"),
        "cluster": ("workbench.sandbox.choose", "Clusters"),
        "report format": ("workbench.pages.writing", "ReportFormat"),
        "importer": ("workbench.orders.import_files", "Importer"),
        "exporter": ("workbench.interop.formats.exporting", "Exporter"),
    }.get(kind, ("workbench.documenters", "DocSystem"))
    return getattr(importlib.import_module(module), name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
