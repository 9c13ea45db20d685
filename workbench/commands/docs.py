"""``workbench docs``: list doc systems, and install those that are programs.

It also manages the docs that programs have written.
"""

from __future__ import annotations

import argparse

from workbench.base.glyphs import VERDICTS, WAITING
from workbench.base.text import plural, size_of, when
from workbench.commands.arguments import Verb
from workbench.commands.output import print_json, say, sign, tell
from workbench.commands.terminal import Terminal
from workbench.documenters.program_cache import cached_docs, remove_cached, summary_of
from workbench.interop.doc_programs.installing import install, installed, remove
from workbench.interop.doc_programs.programs import INSTALLABLE
from workbench.pages.page import PageTable
from workbench.session.json_forms import picked

_OTHERS = (
    ("original", "the docstrings of the repository"),
    ("none", "no docstrings"),
    ("llm:MODEL", "a model, called for each function"),
    ("folder:PATH", "a documented copy, such as DocAgent's output"),
    ("source:SOURCE", "a documented copy, fetched"),
    ("command:PROGRAM…", "any program that documents a folder in place"),
    ("package.module:Class", "a class of your own"),
)


def run_list(arguments: argparse.Namespace) -> int:
    rows = []
    for name, program in INSTALLABLE.items():
        found = installed(program)
        if arguments.json:
            values = {**picked(program, "title", "version"), "installed": found is not None, **picked(found, "bytes")}
            place = str(found.folder) if found else None
            print_json({"type": "doc_system", "name": f"{name}:MODEL", **values, "folder": place})
        mark = sign(VERDICTS["passed"], "installed:") if found else sign(WAITING, "not installed:")
        state = f"about {program.megabytes:,} MB; workbench docs install {name}"
        state = f"{size_of(found.bytes)}, {plural(found.packages, 'package')}" if found else state
        rows.append((f"{mark} {name}:MODEL", f"{program.title} {program.version} · {state}"))
    for name, what in _OTHERS:
        if arguments.json:
            print_json({"type": "doc_system", "name": name, "title": what, "installed": True})
        rows.append((f"  {name}", what))
    if not arguments.json:
        Terminal().parts([PageTable(("", ""), tuple(rows))])
    return 0


def run_install(arguments: argparse.Namespace) -> int:
    program = INSTALLABLE[arguments.name]
    found = install(program, tell)
    say(f"{program.title} {found.version} is installed: {size_of(found.bytes)} in {found.folder}.")
    return 0


def run_remove(arguments: argparse.Namespace) -> int:
    program = INSTALLABLE[arguments.name]
    there = remove(program)
    say(f"{program.title} was {'removed' if there else 'not installed'}.")
    return 0 if there else 1


def run_kept(arguments: argparse.Namespace) -> int:
    found, rows = cached_docs(), []
    for one in found:
        documented = one.documented
        if arguments.json:
            values = {**picked(documented, "program", "source", "digest"), **picked(one, "bytes", "changed_at")}
            values |= {**picked(documented, "counts"), "folder": str(one.folder)}
            print_json({"type": "kept_docs", "name": one.folder.name, **values})
            continue
        what = " × ".join(filter(None, (documented.source, documented.program))) if documented else "not finished"
        if documented and not what:
            what = "by an older version, which recorded no names"
        counts = summary_of(documented) if documented else ""
        rows.append((one.id, when(one.changed_at), f"{what} · {size_of(one.bytes)}\n{counts}".rstrip()))
    if rows:
        Terminal().parts([PageTable(("", "", ""), tuple(rows))])
    elif not found and not arguments.json:
        say("Nothing is stored: no program has documented a repository here.")
    return 0


def run_forget(arguments: argparse.Namespace) -> int:
    gone = remove_cached(arguments.names)
    say(f"Deleted: {len(gone)}, {size_of(sum(one.bytes for one in gone))}." if gone else "Nothing is stored.")
    return 0


_JSON = {"--json": "print JSON lines"}
_NAME = {"name": ("the program", {"choices": tuple(INSTALLABLE)})}
_FORGOTTEN = {"names NAME…": "prefixes of names in `workbench docs kept`, or all"}
VERBS: dict[str, Verb] = {
    "list": ("list doc systems, and which programs are installed", _JSON, run_list),
    "install": (
        "install a program into its own environment; continues an interrupted installation",
        _NAME,
        run_install,
    ),
    "remove": ("remove an installed program", _NAME, run_remove),
    "kept": ("list the docs that programs wrote and the cache stores, newest first", _JSON, run_kept),
    "forget": ("delete some of these docs; the next run writes them, and pays for them, again", _FORGOTTEN, run_forget),
}
