"""What README and messages tell a person to press or to type exists: keys in the bindings, commands in the parser."""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path

from textual.binding import Binding

import workbench
import workbench.app
from workbench.app.key_table import KEY_TABLE, written
from workbench.base.bindings import KEYS, SECTIONS
from workbench.cli import COMMANDS, build_parser

ROOT = Path(__file__).parents[2]
MODES = ("cases", "trajectory", "sessions", "regeneration", "study")
SIGNS = {
    "?": "question_mark", "/": "slash", "!": "exclamation_mark", "+": "plus", "[": "left_square_bracket",
    "]": "right_square_bracket", "←": "left", "→": "right", "esc": "escape", "*": "asterisk",
    "#": "number_sign", ".": "full_stop", ">": "greater_than_sign", "&": "ampersand", "=": "equals_sign", "-": "minus", "$": "dollar_sign",
}  # fmt: skip
PLACES = {
    "Cases": ("cases/list", "cases"), "Trajectory": ("trajectory",), "all trials": ("trials",), "Sessions": ("sessions",), "runs": ("runs",),
    "Regeneration": ("regeneration",), "Study": ("study",), "side by side": ("compare",),
}  # fmt: skip
EVERYWHERE = {"enter", "escape", "tab", "shift+tab", "space"}
NAMED = {"enter", "tab", "escape", "space", "left", "right", "f2"}
#: Widgets and Textual itself bind these where a list or a button has the focus.
OF_WIDGETS = {"enter", "tab", "escape", "space"}
PRESS = re.compile(r"\b[Pp]ress (enter|esc|tab|[^\s\w]|\w)(?![\w'])|\b(?:then|or) (\w)(?= to )|[;:,] (\w)(?= to )")
COMMAND = re.compile(r"(?:`|with: |:  |: )workbench ((?:[a-z]+|--[a-z-]+)(?: [^`\n.;,()]*)?)")


def key_of(text: str) -> str:
    return SIGNS.get(text, text)


@cache
def keys() -> dict[str, set[str]]:
    """The keys bound in each mode; those of the app, of shared widgets and of dialogs count for every mode."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in pkgutil.walk_packages(workbench.app.__path__, "workbench.app."):
        loaded = importlib.import_module(module.name)
        mode = next((mode for mode in MODES if mode in module.name.split(".")[2:]), "everywhere")
        for one in vars(loaded).values():
            if not isinstance(one, type) or one.__module__ != module.name:
                continue
            for binding in vars(one).get("BINDINGS", ()):
                bound = binding if isinstance(binding, Binding) else Binding(*binding)
                found[mode].update(part.strip() for part in bound.key.split(","))
    return {mode: found[mode] | found["everywhere"] | OF_WIDGETS for mode in (*MODES, "everywhere")}


def backticked(text: str) -> list[str]:
    """Return the keys that stand in backticks."""
    parts = re.findall(r"`([^`]+)`", text)
    return [part for part in parts if len(part) == 1 or key_of(part) in NAMED or part.startswith("ctrl+")]


def section(heading: str) -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {heading}\n(.*?)^## ", text, re.M | re.S)
    assert found is not None
    return found[1]


def table_of_keys() -> str:
    """The tables of keys as README has them: what is the same everywhere, and what each mode has beside it."""
    known = {key for meaning in KEY_TABLE for key in meaning.keys} | EVERYWHERE
    rows = [(meaning.keys, meaning.means) for meaning in KEY_TABLE]
    rows += [(one.keys.split(",")[:1], one.title) for one in SECTIONS["app"] if one.keys not in known]
    cells = [
        f"{' '.join(f'`{written(key)}`' for key in keys if key not in {'left', 'right', 'delete'})} | {does}"
        for keys, does in rows
    ]
    lines = ["| key | does | key | does |", "|---|---|---|---|"]
    lines += [f"| {left} | {right} |" for left, right in zip_longest(cells[::2], cells[1::2], fillvalue=" | ")]
    lines += ["", "| in | beside these |", "|---|---|"]
    for title, sections in PLACES.items():
        own = {one.keys: one for section in sections for one in SECTIONS[section] if not known & {*one.keys.split(",")}}
        said = [f"`{written(keys.split(',')[0])}` {one.about or one.title}" for keys, one in own.items()]
        lines.append(f"| {title} | {' · '.join(said)} |")
    return "\n".join(lines)


def test_the_readme_s_table_of_keys_is_that_of_the_app() -> None:
    assert table_of_keys() in section("Keys")


def test_every_key_of_the_readme_s_tour_is_one_of_the_mode_that_the_step_is_about() -> None:
    text = re.sub(r"\(in (?:Cases|Trajectory|Sessions|Regeneration), [^)]*\)", "", section("A tour in five minutes"))
    steps = re.findall(r"^\*\*\d\. (.*?)(?=^\*\*\d\. |^!\[)", text, re.M | re.S)
    modes = ("cases", "cases", "trajectory", "trajectory", "regeneration", "study", "cases", "everywhere")
    assert len(steps) == len(modes)
    for step, mode in zip(steps, modes, strict=True):
        for item in re.split(r"^- ", step, flags=re.M):
            about = "sessions" if item.startswith("**Sessions**") else mode
            assert [key for key in backticked(item) if key_of(key) not in keys()[about]] == [], item


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the texts of a folder's modules that are no documentation; of one with values in it, its parts in one."""
    for file in sorted(folder.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield (
                    file,
                    "".join(str(part.value) if isinstance(part, ast.Constant) else "VALUE" for part in node.values),
                )
            elif (
                isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts | documentation
            ):
                yield file, node.value


def test_no_message_names_a_key_itself() -> None:
    """A message names an action, whose key a person may have moved; ``enter`` of a field is no binding of ours."""
    told = [
        (file.name, text, key)
        for file, text in texts(ROOT / "workbench" / "app")
        for found in PRESS.finditer(text)
        for key in found.groups()
        if key and key != "enter"
    ]
    assert told == []


def test_every_action_that_a_message_names_has_a_key() -> None:
    named = [
        name for _, text in texts(ROOT / "workbench" / "app") for name in re.findall(r"\{([a-z-]+\.[a-z-]+)\}", text)
    ]
    for file in (ROOT / "workbench" / "app").rglob("*.py"):
        named += re.findall(r"\bkey_of\([\"']([a-z.-]+)[\"']\)", file.read_text(encoding="utf-8"))
    assert len(named) > 100
    assert [name for name in named if name not in KEYS] == []


def verbs_of(command: argparse.ArgumentParser | None) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of a command's verbs, the one that is meant where none is named first."""
    found = [action.choices for action in command._actions if action.dest == "verb"] if command is not None else []
    return dict(found[0]) if found else {}


def test_every_command_that_a_message_names_exists_with_its_options() -> None:
    commands = {}
    for name in COMMANDS:
        actions = next(action for action in build_parser(name)._actions if action.dest == "command")
        assert isinstance(actions.choices, dict)
        commands[name] = actions.choices[name]
    wrong, count = [], 0
    for file, text in texts(ROOT / "workbench"):
        for found in COMMAND.finditer(text):
            words = found[1].split()
            count += 1
            command = commands.get(words[0])
            verbs = verbs_of(command)
            command = verbs.get(words[1] if words[1:] else "", next(iter(verbs.values()), command))
            options = {word.partition("=")[0] for word in words[1:] if word.startswith("--")}
            known = set(command._option_string_actions) if command is not None else set()
            if command is None or not options <= known:
                wrong.append((file.name, found[0]))
    assert count > 30
    assert wrong == []
    assert set(actions.choices) == set(COMMANDS)
