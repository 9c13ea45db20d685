"""A project may own only a part of a namespace package; the other parts are third-party code."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

import pytest

from workbench.regeneration.project_layout import imported_modules, missing_modules, own_modules
from workbench.sandbox.workbench_runner.child import OwnModules
from workbench.sandbox.workbench_runner.server import Blocker


def _file(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_part_of_a_namespace_package_is_the_projects_and_its_neighbours_are_not(tmp_path: Path) -> None:
    _file(
        tmp_path / "dissect" / "esedb" / "__init__.py",
        "from dissect.cstruct import cstruct\nimport dissect.esedb.table\n",
    )
    _file(tmp_path / "dissect" / "esedb" / "table.py")
    _file(tmp_path / "plain" / "__init__.py", "import plain.inner\n")
    _file(tmp_path / "plain" / "inner" / "__init__.py")
    _file(tmp_path / "scripts_without_init" / "one.py")
    own = own_modules(tmp_path, (".",))
    assert own == ("dissect.esedb", "plain", "scripts_without_init")
    assert imported_modules(tmp_path, own) == ("dissect.cstruct",)
    assert missing_modules(tmp_path, own, ["dissect"]) == ()


def wrong_copies(spec: dict[str, object]) -> list[list[str]]:
    return OwnModules(spec).wrong()


def test_what_is_exchanged_or_imported_after_a_fork_is_looked_at(tmp_path, monkeypatch):
    def put(name: str, file: object) -> None:
        module = types.ModuleType(name)
        module.__file__ = str(file)
        monkeypatch.setitem(sys.modules, name, module)

    put("mine", tmp_path / "mine" / "__init__.py")
    put("mine.one", tmp_path / "mine" / "one.py")
    put("mine.wrong", "/elsewhere/mine/wrong.py")
    modules = OwnModules({"own_modules": ["mine"], "root": str(tmp_path)})
    modules.remember()
    assert modules.wrong() == [["mine.wrong", "/elsewhere/mine/wrong.py"]]
    put("mine.one", "/elsewhere/mine/one.py")
    put("mine.two", "/elsewhere/mine/two.py")
    assert sorted(name for name, _ in modules.wrong()) == ["mine.one", "mine.two", "mine.wrong"]
    monkeypatch.delitem(sys.modules, "mine.wrong")
    assert sorted(name for name, _ in modules.wrong()) == ["mine.one", "mine.two"]


def test_only_the_projects_part_from_elsewhere_is_a_wrong_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, file in (
        ("dissect.cstruct.types", "/elsewhere/dissect/cstruct/types.py"),
        ("dissect.esedb.page", "/elsewhere/dissect/esedb/page.py"),
        ("dissect.esedb.table", str(tmp_path / "dissect" / "esedb" / "table.py")),
        ("dissect.esedbs", "/elsewhere/dissect/esedbs.py"),
    ):
        module = types.ModuleType(name)
        module.__file__ = file
        monkeypatch.setitem(sys.modules, name, module)
    found = wrong_copies({"own_modules": ["dissect.esedb"], "root": str(tmp_path)})
    assert found == [["dissect.esedb.page", "/elsewhere/dissect/esedb/page.py"]]


def test_another_projects_module_under_a_name_of_the_projects_is_no_copy(tmp_path, monkeypatch):
    borrowed = importlib.import_module("xml.dom.minidom")
    monkeypatch.setitem(sys.modules, "mine.packages.minidom", borrowed)
    assert wrong_copies({"own_modules": ["mine"], "root": str(tmp_path)}) == []
    assert [name for name, _ in wrong_copies({"own_modules": ["xml"], "root": str(tmp_path)})].count(
        "xml.dom.minidom"
    ) == 1


def test_only_the_projects_part_is_kept_out_of_the_preloading_process() -> None:
    blocker = Blocker(["dissect.esedb", "plain"])
    for name in ("dissect", "dissect.cstruct.types", "dissect.esedbs", "plainly"):
        assert blocker.find_spec(name) is None
    for name in ("dissect.esedb", "dissect.esedb.page", "plain.inner"):
        with pytest.raises(ModuleNotFoundError):
            blocker.find_spec(name)
