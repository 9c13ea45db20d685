"""``workbench catalog``: the paper's 28 repositories, its counts beside those found here, and how to find them again."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

SUMMARY = "list the paper's repositories with published counts beside those found here, show one, or check some"
_CHECK = "check"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "names",
        nargs="*",
        metavar="[check] NAME",
        help="show these repositories (owner/name or name); with `check`: build their tasks and test both controls on "
        "every task (without a name: all that can be built)",
    )
    parser.add_argument(
        "--record",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="with check: write the counts down, among your own records or into FOLDER",
    )
    parser.add_argument("--sandbox", default="", help="with check: bubblewrap, docker, or process")
    parser.add_argument("--markdown", action="store_true", help="print the page of the catalogue for the documentation")
    parser.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """List, show or check; 1 if a check finds a control that is wrong or cannot be made."""
    from workbench.catalog.repositories import find_repository, load_repositories
    from workbench.errors import UsageError

    checking = arguments.names[:1] == [_CHECK]
    entries = [find_repository(name) for name in arguments.names[1 if checking else 0 :]]
    if not checking and (arguments.record is not None or arguments.sandbox):
        raise UsageError("--record and --sandbox belong to a check: workbench catalog check NAME.")
    if checking:
        from workbench.commands.catalog_check import check

        folder = Path(arguments.record).expanduser().absolute() if arguments.record else None
        wanted = entries or [entry for entry in load_repositories() if entry.usable]
        return check(wanted, arguments.sandbox, arguments.record is not None, folder, arguments.json)
    from workbench.commands import catalog_tables

    if arguments.markdown:
        print(catalog_tables.page(), end="")
    elif arguments.json:
        for line in catalog_tables.as_json(entries):
            print(json.dumps(line, ensure_ascii=False))
    elif entries:
        for entry in entries:
            catalog_tables.show(entry)
    else:
        catalog_tables.list_all()
    return 0
