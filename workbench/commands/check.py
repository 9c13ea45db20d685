"""``workbench check [README.md…]``: run what a documentation says, and look up what it names."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.catalog import resolve_case, snapshot_of
from workbench.checking import Checked, check, fixed
from workbench.commands import check_formats
from workbench.commands.arguments import path, whole
from workbench.commands.check_session import run_on_session
from workbench.commands.output import say, tell, tell_over
from workbench.errors import UsageError
from workbench.read_only import must_write

FORMATS = ("text", "junit", "github", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("pages", nargs="*", type=path, metavar="README.md", help="pages; README and docs unless given")
    parser.add_argument(
        "--source",
        metavar="SOURCE",
        help="the repository: a folder, git URL, NAME==VERSION or case; this folder unless given",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="how to print it: text (default), junit, github, json"
    )
    parser.add_argument(
        "--session",
        metavar="NAME",
        help="check the READMEs that this session's trials handed in, and keep the results there",
    )
    parser.add_argument(
        "--trial", action="append", default=[], metavar="ID", help="with --session: only this trial, or those of a case"
    )
    parser.add_argument("--again", action="store_true", help="with --session: also what has been checked already")
    parser.add_argument("--no-run", action="store_true", help="run nothing: only look up what pages name")
    parser.add_argument(
        "--fix-claims", action="store_true", help="write the nearest true name where only one can be meant"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="also what was not run and what cannot be said, with the reasons"
    )
    parser.add_argument(
        "--seconds", type=whole(1, 600), default=10, metavar="N", help="how long a command or snippet may take (10)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Check and print; 0 when everything that could be checked holds, 1 when something does not or could not be read."""
    if arguments.session:
        return run_on_session(arguments)
    if arguments.trial or arguments.again:
        raise UsageError("--trial and --again belong to --session.")
    root, files = _located(arguments.source, arguments.pages)
    if arguments.fix_claims and arguments.source and not Path(arguments.source).is_dir():
        raise UsageError("--fix-claims writes into the pages of a folder; name one as --source, or none.")
    on_progress = _progress if sys.stderr.isatty() else _silent
    checked = asyncio.run(
        check(root, files, run=not arguments.no_run, seconds=float(arguments.seconds), on_progress=on_progress)
    )
    if sys.stderr.isatty():
        tell_over("")
    printer: Callable[[Checked], Sequence[str]] = check_formats.PRINTERS[arguments.format]
    lines = (
        check_formats.text(checked, verbose=True)
        if arguments.format == "text" and arguments.verbose
        else printer(checked)
    )
    for line in lines:
        say(line)
    if arguments.fix_claims:
        _fix(root, checked)
    return 1 if checked.alarms else 0


def _silent(line: str) -> None:
    pass


def _progress(line: str) -> None:
    tell_over(f"{line[:100]}…")


def _located(source: str | None, pages: Sequence[Path]) -> tuple[Path, tuple[Path, ...]]:
    if source is None:
        return _checkout(pages[0].absolute().parent if pages else Path.cwd()), tuple(pages)
    folder = Path(source).expanduser()
    root = folder.absolute() if folder.is_dir() else snapshot_of(resolve_case(source)).root
    return root, tuple(page if page.is_file() or not (root / page).is_file() else root / page for page in pages)


def _checkout(folder: Path) -> Path:
    for one in (folder, *folder.parents):
        if any((one / name).exists() for name in (".git", "pyproject.toml", "setup.py", "setup.cfg")):
            return one
    return folder


def _fix(root: Path, checked: Checked) -> None:
    must_write("write into pages")
    for page in checked.pages:
        text = (root / page).read_bytes().decode("utf-8", "surrogateescape")
        mended, claims = fixed(text, [claim for claim in checked.claims if claim.path == page])
        if claims:
            (root / page).write_bytes(mended.encode("utf-8", "surrogateescape"))
        for claim in claims:
            tell(f"{page}:{claim.line}: {claim.text} is now {claim.nearest}")
