"""``workbench catalog``: the paper's 28 repositories, its counts beside those found here, and how to find them again."""

from __future__ import annotations

import argparse

from workbench.catalog.repositories import find_repository, load_repositories
from workbench.commands import catalog_tables
from workbench.commands.catalog_check import check
from workbench.commands.output import print_json, print_page
from workbench.commands.verbs import Verbs
from workbench.errors import UsageError
from workbench.files import expanded

VERBS = ("list", "check")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's verbs."""
    verbs = Verbs(parser, VERBS[0])
    listing = verbs.add("list", "list the repositories, or show those that are named", _list)
    listing.add_argument("names", nargs="*", metavar="NAME", help="show these repositories (owner/name or name)")
    listing.add_argument(
        "--markdown", action="store_true", help="print the page of the catalogue for the documentation"
    )
    checking = verbs.add("check", "build the tasks of repositories and test both controls on every task", _check)
    checking.add_argument(
        "names", nargs="*", metavar="NAME", help="these repositories; all that can be built unless given"
    )
    checking.add_argument(
        "--record",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="write the counts down, among your own records or into FOLDER",
    )
    checking.add_argument("--sandbox", default="", help="bubblewrap, docker, process, or package.module:Class")
    for verb in (listing, checking):
        verb.add_argument("--json", action="store_true", help="print JSON lines; the last is the summary")


def _check(arguments: argparse.Namespace) -> int:
    entries = [find_repository(name) for name in arguments.names]
    folder = expanded(arguments.record).absolute() if arguments.record else None
    if folder is not None and folder.exists() and not folder.is_dir():
        raise UsageError(f"--record takes a folder, and {folder} is none.")
    wanted = entries or [entry for entry in load_repositories() if entry.usable]
    return check(wanted, arguments.sandbox, arguments.record is not None, folder, arguments.json)


def _list(arguments: argparse.Namespace) -> int:
    entries = [find_repository(name) for name in arguments.names]
    if arguments.markdown:
        print_page(catalog_tables.page())
    elif arguments.json:
        for line in catalog_tables.as_json(entries):
            print_json(line)
    elif entries:
        for entry in entries:
            catalog_tables.show(entry)
    else:
        catalog_tables.list_all()
    return 0
