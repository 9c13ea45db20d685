"""``workbench docs``: the doc systems that there are, and installing those that are other people's programs."""

from __future__ import annotations

import argparse

from workbench.commands.output import print_json, say, sign, tell
from workbench.commands.verbs import Verbs
from workbench.glyphs import VERDICTS, WAITING

SUMMARY = "list the doc systems (--docs), and install RepoAgent or OSA"
VERBS = ("list", "install", "remove")
DEFAULT_TAKES_WORDS = False
_OTHERS = (
    ("original", "the docstrings that the repository has"),
    ("none", "no docstring anywhere"),
    ("llm:MODEL", "a model, asked function by function"),
    ("folder:PATH", "a documented copy, such as DocAgent's output"),
    ("source:SOURCE", "a documented copy, fetched"),
    ("command:PROGRAM…", "any program that documents a folder in place"),
    ("package.module:Class", "a class of your own"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's verbs."""
    from workbench.documenters.names import INSTALLED

    verbs = Verbs(parser, VERBS[0])
    listing = verbs.add("list", "which there are, and what is installed of those that are programs", run_list)
    listing.add_argument("--json", action="store_true", help="print one JSON object a line")
    installing = verbs.add(
        "install", "install one into an environment of its own; goes on where it was stopped", run_install
    )
    removing = verbs.add("remove", "remove what install made", run_remove)
    for verb in (installing, removing):
        verb.add_argument("name", choices=INSTALLED, help="which one")


def run_list(arguments: argparse.Namespace) -> int:
    """Print the doc systems, one a line."""
    from workbench.documenters.programs import INSTALLABLE, installed

    for name, program in INSTALLABLE.items():
        found = installed(program)
        if arguments.json:
            print_json({
                "type": "doc_system", "name": f"{name}:MODEL", "title": program.title, "version": program.version,
                "installed": found is not None, "bytes": found.bytes if found else None,
                "folder": str(found.folder) if found else None,
            })  # fmt: skip
            continue
        mark = sign(VERDICTS["passed"], "installed:") if found else sign(WAITING, "not installed:")
        state = (
            f"{found.bytes / 1e6:,.0f} MB, {found.packages} packages"
            if found
            else f"about {program.megabytes:,} MB; workbench docs install {name}"
        )
        say(f"{mark} {f'{name}:MODEL':<21} {program.title} {program.version} · {state}")
    for name, what in _OTHERS:
        if arguments.json:
            print_json({"type": "doc_system", "name": name, "title": what, "installed": True})
        else:
            say(f"  {name:<21} {what}")
    return 0


def run_install(arguments: argparse.Namespace) -> int:
    """Install a program; raises the sentence that says why it failed."""
    from workbench.documenters.programs import INSTALLABLE, install

    program = INSTALLABLE[arguments.name]
    found = install(program, tell)
    say(f"{program.title} {found.version} is installed: {found.bytes / 1e6:,.0f} MB in {found.folder}.")
    return 0


def run_remove(arguments: argparse.Namespace) -> int:
    """Remove a program's environment; 1 if there was none."""
    from workbench.documenters.programs import INSTALLABLE, remove

    program = INSTALLABLE[arguments.name]
    there = remove(program)
    say(f"{program.title} was {'removed' if there else 'not installed'}.")
    return 0 if there else 1
