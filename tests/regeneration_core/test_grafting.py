"""Docstrings from a documented copy: by identity, and only where the code is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.python_syntax import parse
from workbench.regeneration.grafting import collect_docstrings, difference, graft_file
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
    (tmp_path / "a").mkdir()
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
    ("copy", "reason"),
    [
        (DOCUMENTED.replace(b"return 1", b"return 2", 1), "v"),
        (DOCUMENTED.replace(b"def f():", b"def f(x=1):"), "f"),
        (DOCUMENTED.replace(b"def h", b"import os\ndef h"), "differs"),
        (DOCUMENTED + b"def (", "does not parse"),
    ],
)
def test_changed_code_is_refused_with_the_reason(tmp_path, copy, reason):
    graft = collect_docstrings(*write(tmp_path, {"m.py": copy}), ["m.py"])
    assert graft.docstrings == {}
    assert reason in graft.refused["m.py"]


def test_a_missing_file_and_a_link_out_of_the_copy_are_refused(tmp_path):
    pristine, documented = write(tmp_path, {})
    (documented / "l.py").symlink_to(pristine / "m.py")
    (pristine / "l.py").write_bytes(PRISTINE)
    graft = collect_docstrings(pristine, documented, ["m.py", "l.py", "nowhere.py"])
    assert set(graft.refused) == {"m.py", "l.py", "nowhere.py"}


def test_formatting_and_comments_do_not_matter():
    assert difference(b"def f( x ):\n  return  x\n", b"# new\ndef f(x):\n    '''d'''\n    return x\n") is None
    assert difference(b"def f():\n    'd'\n", b"def f():\n    pass\n") is None
    assert difference(b"x = 'a'\n", b"x = 'b'\n") is not None


def test_grafting_whole_real_files_changes_only_docstrings():
    folder = Path(pytest.__file__).parent.parent / "_pytest"
    for file in sorted(folder.glob("*.py"))[::6]:
        source = file.read_bytes()
        new = {
            (file.name, f.qualified_name, f.occurrence): f"New {n}."
            for n, f in enumerate(find_functions(source, file.name))
        }
        result = graft_file(source, file.name, dict(new))
        assert difference(source, result) is None, file
        assert [f.docstring for f in find_functions(result, file.name)] == list(new.values())
