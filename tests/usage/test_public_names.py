"""Where a project's callables can be imported from."""

from pathlib import Path

import pytest

from workbench.usage.public_names import PublicNames


def project(root: Path, **files: str) -> PublicNames:
    for name, text in files.items():
        path = root / name.replace("__", "/", 1) if name.startswith("pkg__") else root / name
        path = path.with_suffix(path.suffix or ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return PublicNames(root)


@pytest.mark.parametrize(
    ("exporting", "expected"),
    [
        ("from ._text import slug", "pkg.slug"),
        ("from pkg._text import slug as slugify", "pkg.slugify"),
        ("from ._text import *", "pkg.slug"),
        ("try:\n    from ._fast import slug\nexcept ImportError:\n    from ._text import slug", "pkg.slug"),
        ("from . import _text", None),
        ("from ._text import slug as _slug\nslugify = _slug", "pkg.slugify"),
    ],
)
def test_the_shortest_public_path_follows_re_exports(tmp_path, exporting, expected):
    names = project(tmp_path, pkg____init__=exporting, pkg___text="def slug(text): return text\ndef _hidden(): ...\n")
    place = names.place("pkg._text", "slug")
    assert (place and ".".join(place)) == expected
    assert names.place("pkg._text", "_hidden") is None


def test_star_imports_respect_all_and_modules_may_import_each_other(tmp_path):
    names = project(
        tmp_path,
        pkg____init__="from .a import *",
        pkg__a="from .b import *\n__all__ = ['one']\ndef one(): ...\ndef two(): ...\n",
        pkg__b="from .a import one\n",
    )
    assert names.place("pkg.a", "one") == ("pkg", "one")
    assert names.place("pkg.a", "two") == ("pkg.a", "two")
    assert names.is_documented("pkg", "one")
    assert not names.is_documented("pkg.a", "two")


def test_private_functions_that_another_module_imports_stay_private(tmp_path):
    names = project(tmp_path, pkg____init__="", pkg__a="def _text(x): ...", pkg__b="from pkg.a import _text as T_")
    assert names.place("pkg.a", "_text") is None


def test_methods_keep_their_class_and_local_functions_have_no_path(tmp_path):
    text = (
        "class Table:\n    def __init__(self, rows): ...\n    def add(self, row, *more): ...\n    @property\n  "
        "  def size(self): ...\n"
    )
    names = project(tmp_path, pkg____init__="from .table import Table", pkg__table=text)
    assert names.place("pkg.table", "Table.add") == ("pkg", "Table.add")
    assert names.place("pkg.table", "Table.add.<locals>.inner") is None
    assert names.place("pkg.table", "Table.__len__") is None
    assert [(one.name, one.least, one.most) for one in names.all] == [
        ("pkg.Table", 1, 1), ("pkg.Table.add", 1, None),
    ]  # fmt: skip


def test_a_program_in_one_module_need_not_document_its_functions(tmp_path):
    names = project(tmp_path, tool="def main(): ...\ndef count(text): ...\ndef shown(text): ...\n")
    assert names.is_documented("tool", "count")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "tool"\n[project.scripts]\ntool = "tool:main"\n')
    (tmp_path / "README.md").write_text("# tool\n\nUse `tool FILE`, or `tool.shown(text)`; count is a word.\n")
    names = PublicNames(tmp_path)
    assert names.programs == ("tool",)
    assert not names.is_documented("tool", "count")
    assert names.is_documented("tool", "shown")


def test_tests_are_no_modules_of_the_project(tmp_path):
    code = dict.fromkeys(
        ("pkg____init__", "pkg__benchmarks", "test_pkg", "tests", "benchmark", "odd"), "def one(): ..."
    )
    names = project(tmp_path, **code)
    assert set(names.modules) == {"pkg", "pkg.benchmarks", "odd"}
    assert set(PublicNames(tmp_path, ["odd.py"]).modules) == {"pkg", "pkg.benchmarks"}
