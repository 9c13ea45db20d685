"""What pages and messages tell a person to press or to type exists: keys in the bindings, commands in the parser."""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
import re
import runpy
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from textual.binding import Binding

import workbench
import workbench.app
from workbench.base.bindings import KEYS
from workbench.cli import COMMANDS, build_parser

ROOT = Path(__file__).parents[2]
MODES = ("cases", "trajectory", "sessions", "regeneration", "study")
SIGNS = {
    "?": "question_mark", "/": "slash", "!": "exclamation_mark", "+": "plus", "[": "left_square_bracket",
    "]": "right_square_bracket", "←": "left", "→": "right", "esc": "escape", "*": "asterisk",
    "#": "number_sign", ".": "full_stop", ">": "greater_than_sign", "&": "ampersand", "=": "equals_sign", "-": "minus", "$": "dollar_sign",
}  # fmt: skip
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
    return [
        part
        for part in parts
        if (len(part) == 1 and part.isascii()) or key_of(part) in NAMED or part.startswith("ctrl+")
    ]


@pytest.mark.parametrize("name", ["cli.md", "keys.md"])
def test_the_reference_is_what_the_program_says(name: str) -> None:
    pages = runpy.run_path(str(ROOT / "docs" / "generate.py"))["PAGES"]
    page = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert page == pages[name](), "write it again: python docs/generate.py"


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/guides/studies.md", "docs/guides/check.md"])
def test_a_page_names_keys_that_there_are(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    assert [key for key in backticked(text) if key_of(key) not in set().union(*keys().values())] == []


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
