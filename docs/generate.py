"""Write the pages of the reference that come from the program: its commands and its keys.

``python docs/generate.py`` writes them; a test says when they are out of date.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from workbench.app.keys import KEY_TABLE, key_label
from workbench.base.bindings import SECTIONS
from workbench.cli import COMMANDS, build_parser

REFERENCE = Path(__file__).with_name("reference")
EVERYWHERE = {"enter", "escape", "tab", "shift+tab", "space"}
SCREENS = {
    "Cases": ("cases/list", "cases"), "Trajectory": ("trajectory",), "all trials": ("trials",), "Sessions": ("sessions",),
    "runs": ("runs",), "Regeneration": ("regeneration",), "Study": ("study",), "side by side": ("compare",),
}  # fmt: skip


def cli() -> str:
    lines = [
        "# Commands",
        "",
        "`workbench COMMAND --help` prints the same. Exit codes are 0 for done, 1 for done with errors, 2 for wrong usage, and 130 for "
        "interrupted. `--json` prints one JSON object a line; the last one is a summary of what the command ordered.",
    ]
    for name in COMMANDS:
        action = next(action for action in build_parser(name)._actions if action.dest == "command")
        assert isinstance(action.choices, dict)
        lines += _command(action.choices[name], "##")
    return "\n".join(lines) + "\n"


def _command(parser: argparse.ArgumentParser, level: str) -> Iterator[str]:
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split()).replace("[-h] [--debug] ", "")
    yield from ("", f"{level} {parser.prog}", "", f"{_sentence(parser.description or '')}", "", "```text", usage, "```")
    shown = [one for one in parser._actions if one.dest not in {"help", "debug", "verb"}]
    if shown:
        yield from ("", "| argument | meaning |", "|---|---|")
        for one in shown:
            value = one.metavar or ("{" + ",".join(one.choices) + "}" if one.choices else "")
            name = ", ".join(one.option_strings) or value or one.dest
            named = f"{name} {value}" if one.option_strings and value and one.nargs != 0 else name
            yield f"| `{named}` | {_cell(one.help or '')} |"
    for one in parser._actions:
        if one.dest == "verb" and isinstance(one.choices, dict):
            for verb in one.choices.values():
                yield from _command(verb, level + "#")
    if parser.epilog:
        yield from ("", "```text", parser.epilog.strip(), "```")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _cell(text: str) -> str:
    return text.replace("%%", "%").replace("|", "\\|").replace("<", "&lt;")


def keys() -> str:
    known = {key for meaning in KEY_TABLE for key in meaning.keys} | EVERYWHERE
    rows = [(meaning.keys, meaning.means) for meaning in KEY_TABLE]
    rows += [(one.keys.split(",")[:1], one.title) for one in SECTIONS["app"] if one.keys not in known]
    cells = [
        f"{' '.join(f'`{key_label(key)}`' for key in keys if key not in {'left', 'right', 'delete'})} | {does}"
        for keys, does in rows
    ]
    lines = [
        "# Keys",
        "",
        "`j` `k` `g` `G` move, `enter` opens, `tab` goes to the next pane, and `esc` goes back, also to the list you came from. `?` lists the "
        "keys of the current screen, and `ctrl+p` finds every command, session, case, study, run, trial, task and file by its name.",
        "",
        "| key | does | key | does |",
        "|---|---|---|---|",
    ]
    lines += [f"| {left} | {right} |" for left, right in zip_longest(cells[::2], cells[1::2], fillvalue=" | ")]
    lines += ["", "Some screens have keys of their own:", "", "| screen | keys |", "|---|---|"]
    for title, sections in SCREENS.items():
        own = {one.keys: one for section in sections for one in SECTIONS[section] if not known & {*one.keys.split(",")}}
        said = [f"`{key_label(keys.split(',')[0])}` {one.about or one.title}" for keys, one in own.items()]
        lines.append(f"| {title} | {' · '.join(said)} |")
    lines += [
        "",
        "Every key can be changed: `[keymap]` in the [settings](settings.md) maps the id of a binding, which `?` shows, to a key.",
    ]
    return "\n".join(lines) + "\n"


PAGES = {"cli.md": cli, "keys.md": keys}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")
