"""The list of keys that the settings know is the app's."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode

import workbench.app
from workbench.app.keys import KEY_TABLE
from workbench.base.bindings import KEYS
from workbench.base.errors import UsageError
from workbench.base.settings import load

#: Keys that move the cursor or the focus, do the next thing, or lead back.
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


def every_binding() -> Iterator[Binding]:
    for module in pkgutil.walk_packages(workbench.app.__path__, "workbench.app."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__.startswith("workbench.") and issubclass(kind, DOMNode):
                yield from (one for one in kind.__dict__.get("BINDINGS", []) if isinstance(one, Binding) and one.id)


def test_every_key_of_the_app_is_in_the_list_and_no_other() -> None:
    assert {binding.id: binding.key for binding in every_binding()} == KEYS


def test_an_id_may_be_written_with_and_without_quotation_marks(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    for key in ("app.quit", '"app.quit"'):
        file.write_text(f"[keymap]\n{key} = 'ctrl+q'\n")
        assert load({}, file).keymap == {"app.quit": "ctrl+q"}


def test_an_id_without_its_prefix_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[keymap]\nquit = 'ctrl+q'\n")
    with pytest.raises(UsageError, match=r"did you mean app\.quit"):
        load({}, file)


#: A dialog has its own few keys: nothing else can be reached while it is open.
DIALOGS = {"choice", "confirm", "dialog", "edit", "filter", "find", "help", "narrow", "pick", "prompt", "several"}


def test_one_key_has_one_meaning_on_every_screen() -> None:
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
