"""What the project's commands say of themselves: ``--help`` of each and of its subcommands, run in the sandbox."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from workbench import paths
from workbench.checking.environment import Environment
from workbench.checking.project import Project
from workbench.checking.sandboxed import run_in_sandbox

_INSIDE = Path(__file__).resolve().parent / "inside"
_MOST_COMMANDS, _SECONDS = 8, 10.0


async def help_texts(project: Project, environment: Environment) -> dict[str, str]:
    """Return the help of each of the project's commands, its subcommands' included; "" for one that gives none."""
    commands = sorted(environment.commands)[:_MOST_COMMANDS]
    if not commands:
        return {}
    kept = environment.folder.parent / "helps.json"
    if kept.is_file():
        try:
            return {str(name): str(text) for name, text in json.loads(kept.read_text()).items()}
        except (OSError, ValueError, AttributeError):
            pass  # made again
    place = paths.cache_dir().absolute() / "checked"
    with tempfile.TemporaryDirectory(prefix=".help-", dir=place) as name:
        folder = Path(name)
        await run_in_sandbox(
            [
                str(environment.python),
                "-I",
                "-B",
                f"{_INSIDE}/help_runner.py",
                "/checked/help.json",
                str(_SECONDS),
                *commands,
            ],
            folder=folder,
            inside="/checked",
            python=environment.python,
            mounts=(environment.folder, _INSIDE),
            seconds=_SECONDS * 12,
            # A help in a table cuts long options off where it is narrow.
            variables={"COLUMNS": "300", "TERMINAL_WIDTH": "300"},
        )
        try:
            found = {str(key): str(text) for key, text in json.loads((folder / "help.json").read_text()).items()}
        except (OSError, ValueError, AttributeError):
            return {}  # not kept: it may have been an accident
    # A command that says nothing of options is a command all the same.
    helping = {name: text if re.search(r"\s--?\w", text) else "" for name, text in found.items()}
    found = {name: text for name, text in helping.items() if text or " " not in name}
    kept.write_text(json.dumps(found))
    return found
