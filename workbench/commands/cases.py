"""``workbench cases``: what can be worked on, and how to add to it."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from workbench.base.errors import UsageError
from workbench.catalog import TestCase, add_case, check_there, load_cases, resolve_case, snapshot_of, view_of
from workbench.commands.output import print_json, say, tell
from workbench.commands.terminal import Terminal
from workbench.pages.page import PageTable, table_of
from workbench.session.json_forms import picked

ARGUMENTS = {
    "[case]": "show this case: an id, or a source that is not a case yet",
    "--add SOURCE": "make a case of a folder, a git URL@revision or a source distribution NAME==VERSION",
    "--id ID": "with --add: the new case's id",
    "--fetch": "with CASE: fetch its repository now",
    "--json": "print JSON lines",
}


def run(arguments: argparse.Namespace) -> int:
    if arguments.add and (arguments.case or arguments.fetch):
        raise UsageError("--add makes a new case; show or fetch a case in a command of its own.")
    if arguments.id and not arguments.add:
        raise UsageError("--id names the case that --add makes: workbench cases --add SOURCE --id ID.")
    if arguments.fetch and not arguments.case:
        raise UsageError("--fetch needs the case to fetch: workbench cases CASE --fetch.")
    if arguments.add:
        return _add(arguments)
    if arguments.case:
        return _show(arguments)
    return _list(arguments)


def _add(arguments: argparse.Namespace) -> int:
    written = add_case(arguments.add, id=arguments.id or None)
    if arguments.json:
        print_json({"type": "added", "path": str(written)})
    else:
        say(f"Written: {written}\nFill in its facts to have tier 3 scored, then: workbench run {written.parent.name}")
    return 0


def _show(arguments: argparse.Namespace) -> int:
    case = resolve_case(arguments.case)
    check_there(case)
    shown: dict[str, object] = {
        "type": "case",
        **picked(case, "id", "name", "kind", "domain", "language"),
        "source": case.source or str(case.folder),
        "description": case.description,
        "agent_is_told": case.agent_description,
        "facts": case.facts is not None,
    }
    if arguments.fetch:
        snapshot = snapshot_of(case, progress=tell)
        view = view_of(case, snapshot)
        shown |= {
            "folder": str(snapshot.root),
            "digest": snapshot.digest,
            "files": len(snapshot.files),
            "visible_files": len(view.files),
        }
    if arguments.json:
        print_json(shown)
        return 0
    rows = tuple((key.replace("_", " "), str(value)) for key, value in shown.items() if key != "type")
    Terminal().parts([PageTable(("", ""), rows)])
    return 0


def _list(arguments: argparse.Namespace) -> int:
    cases, problems = load_cases()
    if arguments.json:
        for case in cases:
            values = picked(case, "id", "kind", "domain", "source")
            print_json({"type": "case", **values, "facts": bool(case.facts)})
        for problem in problems:
            print_json({"type": "problem", "sentence": str(problem)})
        return 1 if problems else 0

    columns: dict[str, Callable[[TestCase], str]] = {
        "case": lambda one: one.id,
        "origin": lambda one: one.kind,
        "domain": lambda one: one.domain,
        "source": lambda one: one.source or "in the program",
        "facts": lambda one: "yes" if one.facts else "no",
    }
    Terminal().parts([table_of(cases, columns)])
    for problem in problems:
        tell(f"! {problem}")
    return 1 if problems else 0
