"""``workbench doctor``: what this machine has of what the workbench needs, and what to do about the rest."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.commands.checks import Check

SUMMARY = "check the machine: interpreter, terminal, models and keys, sandboxes, Docker, git, disk"
MARKS = {"ok": "✓ ok", "note": "· not used", "warning": "! attention", "missing": "✗ missing"}
_STYLES = {"ok": "green", "note": "dim", "warning": "yellow", "missing": "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--json", action="store_true", help="print a JSON line per check; the last is the summary")


def run(arguments: argparse.Namespace) -> int:
    """Check and print; 0 unless something needed is missing, then 1."""
    from workbench.commands.checks import check_machine

    found = check_machine()
    missing = [check for check in found if check.status == "missing"]
    if arguments.json:
        for check in found:
            print(json.dumps({"type": "check", **asdict(check)}, ensure_ascii=False))
        attention = sum(check.status == "warning" for check in found)
        print(json.dumps({"type": "summary", "ok": not missing, "missing": len(missing), "warnings": attention}))
        return 1 if missing else 0
    _print(found)
    return 1 if missing else 0


def _print(found: Sequence[Check]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from workbench.text import clean

    console = Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 160)
    for group in dict.fromkeys(check.group for check in found):
        console.print(Text(group, style="bold"))
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(min_width=13, no_wrap=True)
        table.add_column(min_width=20, max_width=28, overflow="fold")
        table.add_column(overflow="fold")
        for check in (check for check in found if check.group == group):
            said = Text(clean(check.detail), style="dim" if check.status == "note" else "")
            for line in check.lines:
                said.append(f"\n{clean(line)}", "dim")
            if check.advice:
                said.append(f"\n→ {clean(check.advice)}", _STYLES[check.status])
            table.add_row(Text(f"  {MARKS[check.status]}", style=_STYLES[check.status]), Text(check.name), said)
        console.print(table)
        console.print()
    missing = [check.name for check in found if check.status == "missing"]
    if missing:
        console.print(Text(f"✗ {len(missing)} needed: {', '.join(missing)}.", "red"))
    else:
        console.print(Text("✓ Everything needed is here.", "green"))
