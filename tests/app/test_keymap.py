"""Keys: each has one meaning and is in the list that the settings know; texts name the keys and commands that there are."""

import argparse
import ast
import importlib
import inspect
import pkgutil
import re
import runpy
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import states
import walking
from driving import opened, screen_text, sees
from textual.binding import Binding
from textual.dom import DOMNode

import workbench
import workbench.app
from workbench.app.keys import KEY_TABLE, key_of, use_keymap
from workbench.base.bindings import KEYS
from workbench.base.errors import UsageError
from workbench.base.settings import Settings, load
from workbench.cli import COMMANDS, build_parser

MOVED = {
    **dict.fromkeys([one for one in KEYS if one.endswith(".resume")], "f20"),
    **dict.fromkeys([one for one in KEYS if one.endswith(".mark")], "f21"),
    **dict.fromkeys([one for one in KEYS if one.endswith(".compare")], "f22"),
    "app.cases": "f23",
    "app.sessions": "f24",
    "regeneration.new": "f18",
    "labels.star": "f19",
}


LITERAL = re.compile(
    r"[Pp]ress (?:[uC134*]|space|ctrl\+n)(?:[ .,]|$)|[:,·;] (?:[uC*]|space) (?:resum|star|ask|take|tries|mark|show)",
    re.M,
)


@pytest.fixture(autouse=True)
def _back_to_the_keys_that_all_have():
    yield
    use_keymap({})


def test_the_key_of_an_action_is_that_of_the_keymap_or_its_own():
    use_keymap({})
    named = {"app.marked": "#", "runs.all": ".", "app.help": "?", "trajectory.escape": "esc", "pick.mark": "space"}
    assert {action: key_of(action) for action in named} == named
    use_keymap({"app.marked": "ctrl+b,#"})
    assert key_of("app.marked") == "ctrl+b"


async def test_texts_and_footers_name_the_keys_of_the_keymap(own_folders):
    session, seen = own_folders / "demo.session", ""
    states.failed(session)
    async with opened(session, settings=replace(Settings(), keymap=MOVED)) as pilot:
        pilot.app.NOTIFICATION_TIMEOUT = 600
        for mode in ("trajectory", "regeneration", "sessions", "cases", "study"):
            await pilot.app.action_mode(mode)
            seen += await walking.settled(pilot)
        await pilot.press("U")
        await sees(pilot, "Runs 2")
        await pilot.press("f22")
        await sees(pilot, "Mark a run with f21, then")
        seen += screen_text(pilot.app)
    assert not LITERAL.search(seen)
    assert "f20" in seen


@pytest.mark.slow
async def test_a_key_that_cannot_do_anything_says_why_once(own_folders):
    session = own_folders / "demo.session"
    states.empty(session)
    async with opened(session) as pilot:
        for mode, key, reason in (
            ("trajectory", "u", "resume"),
            ("trajectory", "n", ""),
            ("sessions", "E", "it is a key of Trajectory"),
            ("sessions", "7", "? lists the keys that do"),
            ("regeneration", "F", "No filter"),
            ("trajectory", "alt+right", ""),
        ):
            await pilot.app.action_mode(mode)
            await walking.settled(pilot)
            pilot.app.clear_notifications()
            for _ in range(3):
                await pilot.press("8", key)
            (notice,) = pilot.app._notifications
            assert reason in notice.message


EVERYWHERE = frozenset(
    [
        "enter",
        "escape",
        "j",
        "k",
        "g",
        "G",
        "up",
        "down",
        "home",
        "end",
        "pageup",
        "pagedown",
        "ctrl+d",
        "ctrl+u",
        "tab",
        "shift+tab",
    ]
)
"""Keys that move the cursor or the focus, do the next thing, or lead back."""


def every_binding() -> Iterator[Binding]:
    for module in pkgutil.walk_packages(workbench.app.__path__, "workbench.app."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__.startswith("workbench.") and issubclass(kind, DOMNode):
                yield from (one for one in kind.__dict__.get("BINDINGS", []) if isinstance(one, Binding) and one.id)


def test_every_key_of_the_app_is_in_the_list_and_no_other():
    assert {binding.id: binding.key for binding in every_binding()} == KEYS


def test_an_id_may_be_written_with_and_without_quotation_marks_but_not_without_its_prefix(tmp_path):
    file = tmp_path / "config.toml"
    for key in ("app.quit", '"app.quit"'):
        file.write_text(f"[keymap]\n{key} = 'ctrl+q'\n")
        assert load({}, file).keymap == {"app.quit": "ctrl+q"}
    file.write_text("[keymap]\nquit = 'ctrl+q'\n")
    with pytest.raises(UsageError, match=r"did you mean app\.quit"):
        load({}, file)


DIALOGS = {"choice", "confirm", "dialog", "edit", "filter", "find", "help", "narrow", "pick", "prompt", "several"}


def test_one_key_has_one_meaning_on_every_screen():
    bound: dict[str, set[str]] = defaultdict(set)
    for binding in every_binding():
        group, _, name = (binding.id or "").partition(".")
        # What opened a list closes it as well.
        if group not in DIALOGS and name not in {"back", "close"}:
            for key in binding.key.split(","):
                bound[key.strip()].add(binding.id or "")
    meanings = {key: meaning for meaning in KEY_TABLE for key in meaning.keys}
    assert len(meanings) == sum(len(meaning.keys) for meaning in KEY_TABLE)
    for key, ids in bound.items():
        if key in EVERYWHERE or len(ids) == 1:
            continue
        assert key in meanings, f"{key} means several things: {sorted(ids)}"
        strangers = {
            one for one in ids if not meanings[key].names & {(name := one.partition(".")[2]), *name.split("-")}
        }
        assert not strangers, f"{key} means '{meanings[key].means}', but also {sorted(strangers)}"
    assert meanings.keys() <= bound.keys()


ROOT = Path(__file__).parents[2]


SIGNS = {
    "?": "question_mark", "/": "slash", "!": "exclamation_mark", "+": "plus", "[": "left_square_bracket",
    "]": "right_square_bracket", "←": "left", "→": "right", "esc": "escape", "*": "asterisk",
    "#": "number_sign", ".": "full_stop", ">": "greater_than_sign", "&": "ampersand", "=": "equals_sign", "-": "minus", "$": "dollar_sign",
}  # fmt: skip


NAMED = {"enter", "tab", "escape", "space", "left", "right", "f2"}


OF_WIDGETS = {"enter", "tab", "escape", "space"}


PRESS = re.compile(r"\b[Pp]ress (enter|esc|tab|[^\s\w]|\w)(?![\w'])|\b(?:then|or) (\w)(?= to )|[;:,] (\w)(?= to )")


COMMAND = re.compile(r"(?:`|with: |:  |: )workbench ((?:[a-z]+|--[a-z-]+)(?: [^`\n.;,()]*)?)")


def sign(text: str) -> str:
    return SIGNS.get(text, text)


def backticked(text: str) -> list[str]:
    """Return the keys that stand in backticks."""
    parts = re.findall(r"`([^`]+)`", text)
    return [
        part for part in parts if (len(part) == 1 and part.isascii()) or sign(part) in NAMED or part.startswith("ctrl+")
    ]


@pytest.mark.parametrize("name", ["cli.md", "keys.md"])
def test_the_reference_is_what_the_program_says(name):
    pages = runpy.run_path(str(ROOT / "docs" / "generate.py"))["PAGES"]
    page = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert page == pages[name](), "write it again: python docs/generate.py"


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/guides/studies.md", "docs/guides/check.md"])
def test_a_page_names_keys_that_there_are(page):
    bound = OF_WIDGETS.union(*(key.split(",") for key in KEYS.values()))
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    assert [key for key in backticked(text) if sign(key) not in bound] == []


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


def test_a_message_names_an_action_that_there_is_and_no_key_itself():
    """A person may have moved the key; ``enter`` of a field is no binding of ours."""
    named, keys = [], []
    for _, text in texts(ROOT / "workbench" / "app"):
        named += re.findall(r"\{([a-z-]+\.[a-z-]+)\}", text)
        keys += [(text, key) for found in PRESS.finditer(text) for key in found.groups() if key and key != "enter"]
    for file in (ROOT / "workbench" / "app").rglob("*.py"):
        named += re.findall(r"\bkey_of\([\"']([a-z.-]+)[\"']\)", file.read_text(encoding="utf-8"))
    assert len(named) > 100
    assert [name for name in named if name not in KEYS] == []
    assert keys == []


def verbs_of(command: argparse.ArgumentParser | None) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of a command's verbs, the one that is meant where none is named first."""
    found = [action.choices for action in command._actions if action.dest == "verb"] if command is not None else []
    return dict(found[0]) if found else {}


@pytest.mark.slow
def test_every_command_that_a_message_names_exists_with_its_options():
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
