"""``workbench pack SESSION``: a session as one file that can be copied and sent, also while it is being written."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.base.errors import UsageError
from workbench.commands.arguments import Argument, shared
from workbench.commands.output import say_path, tell
from workbench.session import SUFFIX, SessionReader
from workbench.session.session_names import resolve_session

ARGUMENTS: dict[str, Argument] = {
    **shared("session"),
    "-o --output FILE": ("where to write the copy; NAME.copy.session here if not given", Path),
}


def run(arguments: argparse.Namespace) -> int:
    path = resolve_session(arguments.session)
    target: Path = (arguments.output or Path(f"{path.stem}.copy{SUFFIX}")).expanduser()
    if target.suffix != SUFFIX:
        target = target.with_name(target.name + SUFFIX)
    if target.exists():
        raise UsageError(f"{target} exists already; name another file with -o.")
    if not target.parent.is_dir():
        raise UsageError(f"There is no folder {target.parent}; make it first, or name another file with -o.")
    with SessionReader(path) as reader:
        reader.copy_to(target)
        running = [run.id for run in reader.runs() if reader.run_state(run) == "running"]
    say_path(target)
    if running:
        tell(f"{path.name} is still being written: the copy has all that was finished by now.")
    return 0
