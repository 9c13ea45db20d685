"""The list of keys that the settings know is the app's."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode

import workbench.app
from workbench.errors import UsageError
from workbench.key_ids import KEY_IDS
from workbench.settings import load


def test_every_key_of_the_app_is_in_the_list_and_no_other() -> None:
    found = set()
    for module in pkgutil.walk_packages(workbench.app.__path__, "workbench.app."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__.startswith("workbench.") and issubclass(kind, DOMNode):
                bindings = kind.__dict__.get("BINDINGS", [])
                found |= {one.id for one in bindings if isinstance(one, Binding) and one.id}
    assert found == set(KEY_IDS)


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
