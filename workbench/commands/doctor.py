"""``workbench doctor``: what this machine has of what the workbench needs, and what to do about the rest."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table

from workbench.commands.checks import Check, check_machine
from workbench.commands.output import print_json, sign
from workbench.commands.terminal import Terminal
from workbench.glyphs import VERDICTS, WAITING

MARKS = {
    "ok": f"{VERDICTS['passed']} ok",
    "note": f"{WAITING} not used",
    "warning": f"{VERDICTS['crashed']} attention",
    "missing": f"{VERDICTS['failed']} missing",
}
_STYLES = {"ok": "green", "note": "dim", "warning": "yellow", "missing": "red"}


ARGUMENTS = {
    "--json": "print a JSON line per check; the last is the summary",
}


def run(arguments: argparse.Namespace) -> int:
    """Check and print; 0 unless something needed is missing, then 1. What only deserves attention is in the last line."""
    found = check_machine()
    missing = [check for check in found if check.status == "missing"]
    if arguments.json:
        for check in found:
            print_json({"type": "check", **asdict(check)})
        attention = sum(check.status == "warning" for check in found)
        print_json({"type": "summary", "ok": not missing, "missing": len(missing), "warnings": attention})
        return 1 if missing else 0
    _print(found)
    return 1 if missing else 0


def _print(found: Sequence[Check]) -> None:
    console = Terminal(piped_width=160)
    for group in dict.fromkeys(check.group for check in found):
        console.print(group, style="bold")
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(min_width=13, no_wrap=True)
        table.add_column(min_width=20, max_width=28, overflow="fold")
        table.add_column(overflow="fold")
        for check in (check for check in found if check.group == group):
            said = console.literal(check.detail, "dim" if check.status == "note" else "")
            for line in check.lines:
                said.append_text(console.literal(f"\n{line}", "dim"))
            if check.advice:
                said.append_text(console.literal(f"\n→ {check.advice}", _STYLES[check.status]))
            table.add_row(console.literal(f"  {MARKS[check.status]}", _STYLES[check.status]), check.name, said)
        console.print(table)
        console.print()
    mark, word, sentence, style = closing(found)
    console.print(f"{sign(mark, word)} {sentence}", style=style)


def closing(found: Sequence[Check]) -> tuple[str, str, str, str]:
    """Return what the findings come to: a sign, the word that stands for it, a sentence, and its colour."""
    missing = [check.name for check in found if check.status == "missing"]
    attention = [check.name for check in found if check.status == "warning"]
    if missing:
        also = f" Look also at: {', '.join(attention)}." if attention else ""
        return VERDICTS["failed"], "missing:", f"{len(missing)} needed: {', '.join(missing)}.{also}", "red"
    if attention:
        sentence = f"What cannot be done without is here; {len(attention)} to look at: {', '.join(attention)}."
        return VERDICTS["crashed"], "attention:", sentence, "yellow"
    return VERDICTS["passed"], "ok:", "Everything needed is here.", "green"
