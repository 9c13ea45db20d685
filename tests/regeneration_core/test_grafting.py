"""Docstrings from a documented copy: by identity, and only where the code is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.base.python_syntax import parse
from workbench.regeneration.grafting import collect_docstrings, difference, graft_file, unedited
from workbench.repository.functions import find_functions

PRISTINE = b'''class A:
    @property
    def v(self):
        return 1

    @v.setter
    def v(self, x):
        """Old."""
        self.x = x


def f():
    def g():
        pass
    return g


def h(): return 1
'''
DOCUMENTED = b'''"""Module."""


class A:
    """Class."""

    @property
    def v(self):
        """Get."""
        return 1

    @v.setter
    def v(self, x):
        """Set."""
        self.x = x


def f():
    """Outer

    two lines with \\\\ in them."""
    def g():
        """Inner."""
    return g


def h(): return 1
'''


def write(tmp_path: Path, files: dict[str, bytes]) -> tuple[Path, Path]:
    (tmp_path / "a").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "m.py").write_bytes(PRISTINE)
    for name, content in files.items():
        (tmp_path / "b" / name).write_bytes(content)
    return tmp_path / "a", tmp_path / "b"


def test_docstrings_are_taken_by_identity_and_grafted(tmp_path):
    graft = collect_docstrings(*write(tmp_path, {"m.py": DOCUMENTED}), ["m.py"])
    assert graft.refused == {}
    assert graft.missing == ("m.py::h",)
    assert graft.docstrings["m.py", "A.v", 2] == "Set."
    result = graft_file(PRISTINE, "m.py", dict(graft.docstrings))
    assert [f.docstring for f in find_functions(result, "m.py")] == [
        f.docstring for f in find_functions(DOCUMENTED, "m.py")
    ]
    assert difference(PRISTINE, result) is None
    parse(result)


@pytest.mark.parametrize(
    ("edit", "left_out"),
    [
        ((b"return 1", b"return 2"), {"A", "A.v", ""}),
        ((b"def f():", b"def f(x=1):"), {"f", ""}),
        ((b"def h", b"import os\ndef h"), {""}),
    ],
)
def test_what_was_edited_is_left_out_and_the_rest_of_the_file_counts(tmp_path, edit, left_out):
    whole = collect_docstrings(*write(tmp_path / "whole", {"m.py": DOCUMENTED}), ["m.py"])
    copy = DOCUMENTED.replace(*edit, 1)
    assert copy != DOCUMENTED
    graft = collect_docstrings(*write(tmp_path / "edited", {"m.py": copy}), ["m.py"])
    assert graft.refused == {}
    assert {key.qualified_name for _, key in graft.edited} == left_out
    assert all("its code was edited" in why for why in graft.edited.values())
    assert graft.definitions == {key: text for key, text in whole.definitions.items() if key not in graft.edited}
    assert graft.definitions
    kept = {(path, key.qualified_name, key.occurrence) for path, key in graft.definitions if key.kind == "function"}
    assert graft.docstrings == {key: text for key, text in whole.docstrings.items() if key in kept}


def test_a_copy_that_does_not_parse_or_has_nothing_unedited_is_refused(tmp_path):
    for copy, reason in ((DOCUMENTED + b"def (", "does not parse"), (b"x = 1\n", "differs")):
        graft = collect_docstrings(*write(tmp_path / reason, {"m.py": copy}), ["m.py"])
        assert (graft.docstrings, graft.definitions) == ({}, {})
        assert reason in graft.refused["m.py"]


@pytest.mark.parametrize(
    ("original", "copy", "same"),
    [
        # A copy that puts another definition of the name in front shifts which one is meant.
        (b"def f():\n    return 1\n", b"def f():\n    return 2\ndef f():\n    return 1\n", set()),
        (b"def f():\n    return 1\nx = 1\n", b"def f():\n    'd'\n    return 1\nx = 2\n", {"f"}),
        (b"@a\ndef f():\n    return 1\n", b"@b\ndef f():\n    return 1\n", set()),
        (b"def f():\n    def g():\n        return 1\n    return g\n", b"def f():\n    def g():\n        'd'\n        return 1\n    return g()\n", {"f.<locals>.g"}),
        (b"class A:\n    def f(self):\n        return 1\n    def g(self):\n        return 2\n", b"class A:\n    def f(self):\n        return 1\n    def g(self):\n        return 3\n", {"A.f"}),
        (b"try:\n    def f(): return 1\nexcept E:\n    def f(): return 2\n", b"try:\n    def f(): return 0\nexcept E:\n    def f(): return 2\n", {"f"}),
    ],
)  # fmt: skip
def test_which_definitions_a_copy_left_as_they_were(original, copy, same):
    assert {key.qualified_name for key in unedited(original, copy)} == same


def test_a_missing_file_and_a_link_out_of_the_copy_are_refused(tmp_path):
    pristine, documented = write(tmp_path, {})
    (documented / "l.py").symlink_to(pristine / "m.py")
    (pristine / "l.py").write_bytes(PRISTINE)
    graft = collect_docstrings(pristine, documented, ["m.py", "l.py", "nowhere.py"])
    assert set(graft.refused) == {"m.py", "l.py", "nowhere.py"}


def test_grafting_whole_real_files_changes_only_docstrings():
    folder = Path(pytest.__file__).parent.parent / "_pytest"
    for file in sorted(folder.glob("*.py"))[::20]:
        source = file.read_bytes()
        new = {
            (file.name, f.qualified_name, f.occurrence): f"New {n}."
            for n, f in enumerate(find_functions(source, file.name))
        }
        result = graft_file(source, file.name, dict(new))
        assert difference(source, result) is None, file
        assert [f.docstring for f in find_functions(result, file.name)] == list(new.values())
