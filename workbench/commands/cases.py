"""``workbench cases``: what can be worked on, and how to add to it."""

from __future__ import annotations

import argparse
import json
import sys

SUMMARY = "list the test cases, show one, or add a repository as a case"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("case", nargs="?", help="show this case: an id, or a source that is not a case yet")
    parser.add_argument(
        "--add",
        metavar="SOURCE",
        help="make a case of a folder, a git URL@revision or a source distribution NAME==VERSION",
    )
    parser.add_argument("--id", help="with --add: the new case's id")
    parser.add_argument("--fetch", action="store_true", help="with CASE: fetch its repository now")
    parser.add_argument("--json", action="store_true", help="print JSON lines")


def run(arguments: argparse.Namespace) -> int:
    """List, show or add."""
    if arguments.add:
        return _add(arguments)
    if arguments.case:
        return _show(arguments)
    return _list(arguments)


def _add(arguments: argparse.Namespace) -> int:
    from workbench.catalog import add_case

    written = add_case(arguments.add, id=arguments.id)
    if arguments.json:
        print(json.dumps({"type": "added", "path": str(written)}))
    else:
        print(f"Written: {written}\nFill in its facts to have tier 3 scored, then: workbench run {written.parent.name}")
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from workbench.catalog import resolve_case, snapshot_of, view_of

    case = resolve_case(arguments.case)
    shown: dict[str, object] = {
        "type": "case",
        "id": case.id,
        "name": case.name,
        "kind": case.kind,
        "domain": case.domain,
        "language": case.language,
        "source": case.source or str(case.folder),
        "description": case.description,
        "agent_is_told": case.agent_description,
        "facts": case.facts is not None,
    }
    if arguments.fetch:
        snapshot = snapshot_of(case, progress=lambda line: print(line, file=sys.stderr))
        view = view_of(case, snapshot)
        shown |= {
            "folder": str(snapshot.root),
            "digest": snapshot.digest,
            "files": len(snapshot.files),
            "visible_files": len(view.files),
        }
    if arguments.json:
        print(json.dumps(shown, ensure_ascii=False))
        return 0
    for key, value in shown.items():
        if key != "type":
            print(f"{key.replace('_', ' '):<14} {value}")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from workbench.catalog import load_cases

    cases, problems = load_cases()
    if arguments.json:
        for case in cases:
            values = {
                "id": case.id,
                "kind": case.kind,
                "domain": case.domain,
                "source": case.source,
                "facts": bool(case.facts),
            }
            print(json.dumps({"type": "case", **values}, ensure_ascii=False))
        for problem in problems:
            print(json.dumps({"type": "problem", "sentence": str(problem)}, ensure_ascii=False))
        return 1 if problems else 0
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("case", "kind", "domain", "source", "facts"):
        table.add_column(heading, overflow="fold")
    for case in cases:
        table.add_row(case.id, case.kind, case.domain, case.source or "in the program", "yes" if case.facts else "no")
    Console().print(table)
    for problem in problems:
        print(f"! {problem}", file=sys.stderr)
    return 1 if problems else 0
