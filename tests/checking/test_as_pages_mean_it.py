"""False alarms that the READMEs and docs of hundreds of projects gave: what a page means where it is not exact."""

from __future__ import annotations

import platform
from dataclasses import replace
from pathlib import Path

import pytest
from planted import any_project, claims, context, judge, judged, untrue, verdict_on_example, write_project

from workbench.checking.blocks import kind_of
from workbench.checking.pages import agreed, is_page_for_readers
from workbench.checking.steps import PlannedStep
from workbench.checking.verdicts import BlockPart, BlockResult, BlockVerdict
from workbench.claims.claim import Claim, LookupResult, PageRange, Truth
from workbench.claims.comparing import doctest_difference, of_the_machine, shell_difference
from workbench.claims.page import is_of_another_time, parse_page
from workbench.claims.project import ProjectIndex
from workbench.claims.similarity import slip_of


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The planted project, read only."""
    return write_project(tmp_path_factory.mktemp("project"))


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    return write_project(tmp_path)


# -- what is printed


@pytest.mark.parametrize(
    ("claimed", "real"),
    [
        ("None\n", ""),  # result: a session shows nothing there
        ("<class 'A'>\n", "<class '__main__.A'>\n"),  # attrs
        ("door.UnionTypeHint  # <-- what madness is this?\n", "<class 'door.UnionTypeHint'>\n"),  # beartype
        ("{'c': 4, 'b': 3, delete: ['a']}\n", "{'b': 3, 'c': 4, delete: ['a']}\n"),
        # How a mapping shows itself depends on Python.
        ("D({'title': 'A', 'codes': ['x', 'y']})\n", "D([('title', 'A'), ('codes', ['x', 'y'])])\n"),
    ],
)
def test_sessions_abbreviate(claimed: str, real: str) -> None:
    assert doctest_difference(claimed, real) == ()


@pytest.mark.parametrize(
    ("claimed", "real"),
    [
        ("<class 'A'>\n", "<class '__main__.B'>\n"),
        ("1  # one\n", "2\n"),
        ("[x, y]\n", "[y, x]\n"),
        ("D({'title': 'A', 'codes': ['x', 'y']})\n", "D([('title', 'B'), ('codes', ['x', 'y'])])\n"),
    ],
)
def test_what_is_really_other_differs(claimed: str, real: str) -> None:
    assert doctest_difference(claimed, real)


def test_the_order_of_lines_is_nobodys_promise() -> None:
    assert shell_difference("start x\nstart y\n", "start y\nstart x\n") == ()
    assert shell_difference("start x\nstart y\n", "start y\nstart z\n")


@pytest.mark.parametrize(
    ("code", "ran", "verdict"),
    [
        (">>> add('x')\nTrue\n", (), "differs"),
        (">>> place = r'C:\\Users\\Ofek'\n>>> add('x')\nTrue\n", (), "not run"),  # userpath
        (">>> add('x')\nTrue\n", ("/bin/sh",), "not run"),
    ],
)
def test_what_is_so_on_the_authors_machine_need_not_be_here(code: str, ran: tuple[str, ...], verdict: str) -> None:
    assert verdict_on_example("True\n", "False\n", code=code, ran=ran) == verdict


def test_what_tells_of_the_machine_is_not_compared() -> None:
    word = platform.release()
    assert of_the_machine("kernel: 5.4.0-custom\n", f"kernel: {word}\n") == word.lower()
    assert of_the_machine(f"kernel: {word}\n", f"kernel: {word} b\n") == ""
    step = PlannedStep(0, "shell", "wordstat -v", 1, "Name: Antergos Linux\nCodename: rolling\n")
    for name, verdict in ((word, "not run"), ("Other Linux", "differs")):
        ended = {"status": 0, "stdout": f"Name: {name}\nCodename: none\n", "stderr": ""}
        assert str(judge(step, ended, context()).verdict) == verdict


# -- what ends with an error

_NO_LOADS = {"type": "AttributeError", "message": "'Counter' object has no attribute 'loads'", "owner": "wordstat.core"}
_NO_YAML = {"type": "AttributeError", "message": "module 'wordstat' has no attribute 'yaml'", "owner": "wordstat"}
_NO_REPLACE = {"type": "AttributeError", "message": "module 'copy' has no attribute 'replace'", "owner": "copy"}
_NO_MODULE = {"type": "ModuleNotFoundError", "message": "No module named 'wordstat.x'", "name": "wordstat.x"}
_NO_MODEL = {"type": "ImportError", "message": "cannot import name 'MyDataModel' from 'wordstat'", "name": "wordstat"}
_NO_ARGUMENTS = {"message": "Count() takes no arguments"}
_NO_X = {"message": "DataFrame.f() got an unexpected keyword argument 'x'"}
_MISSING = {"message": "dicttoxml() missing 1 required positional argument: 'obj'"}


def _has(module: str, name: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("code", "error", "how", "verdict"),
    [
        # How an object looks is not for running.
        ("Count(words=2)", _NO_ARGUMENTS, {"around": "The returned object is:"}, "not run"),
        ("Count(words=2)", _NO_ARGUMENTS, {"around": "Count words:"}, "fails"),
        # The object is of another section.
        ("counter.loads('x')", _NO_LOADS, {}, "fails"),
        ("counter.loads('x')", _NO_LOADS, {"elsewhere": frozenset({"counter"})}, "not run"),
        # The import is left out, and a module of that name was found (derpconf).
        ("wordstat.yaml.dump(x)", _NO_YAML, {}, "fails"),
        ("wordstat.yaml.dump(x)", _NO_YAML, {"imported": ("wordstat",)}, "not run"),
        ("copy.replace(x)", _NO_REPLACE, {}, "not run"),
        # Only the run misses it.
        ("import wordstat.x", _NO_MODULE, {}, "fails"),
        ("import wordstat.x", _NO_MODULE, {"lacks": _has}, "not run"),
        ("from wordstat import MyDataModel", _NO_MODEL, {}, "not run"),
        # The parameter is another library's.
        ("f(x=2)", _NO_X, {}, "fails"),
        ("f(x=2)", _NO_X, {"defined": frozenset()}, "not run"),
        # A call that shows one option leaves the rest out.
        ("dicttoxml(root=False)", _MISSING, {}, "not run"),
        ("dicttoxml()", _MISSING, {}, "fails"),
        ("dicttoxml('a', root=False)", _MISSING, {}, "fails"),
    ],
)
def test_an_error_is_the_pages_fault_where_nothing_else_explains_it(code, error, how, verdict):
    assert judged(code, error, **how) == verdict


def test_a_program_that_is_told_nothing_and_a_path_that_only_a_reader_has() -> None:
    for text, err, how, verdict in (
        ("python -m wordstat.tool", "usage: tool FILE\ntool: error: FILE is required", {}, "not run"),
        ("wordstat --no", "usage: wordstat\nwordstat: error: unrecognized arguments: --no", {}, "fails"),
        ("wordstat report ./mine", "error: it is no project", {"absent": ("./mine",)}, "not run"),
    ):
        step = PlannedStep(0, "shell", text, 1, **how)  # type: ignore[arg-type]
        ended = {"status": 2, "stdout": "", "stderr": err}
        assert str(judge(step, ended, context(project=any_project())).verdict) == verdict


# -- pages, blocks, sections


@pytest.mark.parametrize("info", ["{testcode} group", "{testsetup}", "testcode"])
def test_blocks_of_other_documentation_tools_are_python(info: str) -> None:
    page = parse_page(f"```{info}\nx = 1\n```\n", "docs/page.md")
    assert kind_of(page.codes[0]) == "python"


def test_sections_of_another_time_are_known_by_their_headings() -> None:
    past = ("Changelog", "0.1.5", "[1.2.0] - 2020-01-01", "Version 1.31.3, 2025-07-19", "Migrating from 1.x", "What's new in 2.0")  # fmt: skip
    today = ("1.1 Installation", "Design patterns", "News reader", "Python 3.8", "Notes")
    assert [one for one in (*past, *today) if is_of_another_time(one)] == list(past)
    page = parse_page(
        "# a\n\n## History\n\n### More\n\n```python\nimport a\n```\n\n## Use\n\n```python\nimport b\n```\n", "x.md"
    )
    assert [code.another_time for code in page.codes] == ["History", ""]


def test_plans_and_designs_are_not_documentation() -> None:
    others = ("docs/design/A.md", "docs/research/invites.md", "docs/release-notes/0.10.0.md", "docs/SANS_IO_PLAN2.md")
    docs = ("docs/guide.md", "docs/session.md")
    assert [one for one in (*others, *docs) if is_page_for_readers(one)] == list(docs)


# -- claims


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("A `Wordstat[T, E]` holds either.", []),  # a type is no extra
        ("`Option('--stopwach', nargs=2)` means that a bare `--stopwach` is one.", []),
        ("# a\n\n## Use\n\nRequire Python >= 3.8.\n", ["Require Python >= 3.8"]),
        ("# a\n\n## 0.1.4\n\nRequire Python >= 3.8.\n", []),
        # A former Python, or a part that needs another one, beside today's (pylibacl).
        ("It requires Python 3.10 or newer. Older versions (below 5.x)\nsupport Python 2.6 and above.\n", []),
        ("Requires Python 3.10+.\n\nInstall it:\n\nRequires Python 3.6+.\n", []),
        ("This code is released under the BSD license.\n", ["BSD"]),
        ("The original tests are licensed under the BSD license.\n", []),
        ("* GL: BSD license\n\nThe source code is under MIT.\n", []),
        ("Latest release: v1.1\n", ["1.1"]),
        ("Latest release: v1\n", []),
        # Names that pages invent for the reader (what openapi-python-client writes).
        ("```python\nfrom wordstat import MyDataModel, SiglentSPDxxx\nfrom wordstat.my_tag import get\n```\n", []),
        ("```python\nfrom wordstat import Missing\n```\n", ["Missing"]),
        ("`top_words(text, limit=...)`\n", []),  # no default
        # What a page itself says is not so.
        ("The docstring suggests `pip install 'wordstat[users]'`. That extra does\nnot exist.\n", []),  # whop-sdk
        ("`topWords()` in JavaScript, `top_words()` here: `top_wrds()`.\n", []),
        ("`top_wrds()` was renamed.\n", []),
        ("Rows are kept with a score (default `0.6`), as wide as `--columns` (default `80`).\n", []),  # wordlive
        ("lines are 3 tall (default 3), `--columns` the gap.\n", []),
        ("top_words():\n\n| `limit` / `per_page` | Pagination (default 20 per page) |\n", []),  # bhm-mcp-chat
        ("Up to 3 (default 3), `--columns` is the width (default: 72).\n", ["72"]),
        ("```sh\nwordstat.exe report\n```\n", []),  # rmskin-builder
    ],
)  # fmt: skip
def test_only_what_the_page_itself_claims_today_is_untrue(root: Path, text: str, texts: list[str]) -> None:
    assert untrue(root, text, helps={"wordstat": "--columns"}) == texts


def test_hints_of_another_page_may_need_another_python(root: Path) -> None:
    assert untrue(root, "These hints require:\n\n- Python ≥ 3.2.0.\n", path="docs/hints.md") == []


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"more.py": "import argparse\nargparse.ArgumentParser().parse_known_args()\n"}, "```sh\nwordstat report --columns-wide 1\n```\n"),
        ({"src/fast_core/main.cpp": "int x;\n"}, "```python\nfrom wordstat import fast_core\n```\n"),  # trajdl: C++ below src
        ({"azure/__init__.py": "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"}, "```python\nfrom azure.identity import X\n```\n"),
        # A package that rebinds the name of its module has no names of its own there.
        ({"wordstat/tables.py": "tables = make()\n", "wordstat/__init__.py": "from .tables import tables\n"}, "```python\nimport wordstat.tables as t\nt.Wide\n```\n"),
    ],
)  # fmt: skip
def test_what_the_sources_cannot_deny_is_not_untrue(changed: Path, files: dict[str, str], text: str) -> None:
    for name, content in files.items():
        (changed / name).parent.mkdir(parents=True, exist_ok=True)
        (changed / name).write_text(content)
    assert untrue(changed, text, helps={"wordstat": "--columns"}) == []


def test_a_module_that_its_package_does_not_hide_has_its_names(changed: Path) -> None:
    (changed / "wordstat/tables.py").write_text("tables = make()\n")
    assert untrue(changed, "```python\nimport wordstat.tables as t\nt.Wide\n```\n") == ["t.Wide"]


def test_a_package_that_distributions_share_lacks_nothing(changed: Path) -> None:
    (changed / "azure").mkdir()
    (changed / "azure/__init__.py").write_text("__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n")
    project = ProjectIndex(changed)
    wanted = (("azure", "identity"), ("wordstat", "identity"), ("wordstat", "counting"))
    assert [project.lacks(*one) for one in wanted] == [False, True, False]


def test_extras_that_a_build_makes_or_that_stand_for_one_are_not_untrue(changed: Path) -> None:
    (changed / "PKG-INFO").write_text(
        "Metadata-Version: 2.1\nName: wordstat\nVersion: 1.2.0\nProvides-Extra: made\n\nwords\n"
    )
    (changed / "setup.py").write_text("extras = {'late': []}\nsetup(extras_require=extras)\n")
    found = {}
    for name in ("made", "late", "SCHEME", "other"):  # dill, datalad
        page = claims(changed, f"```sh\npip install wordstat[{name}]\n```\n")
        found[name] = [one.lookup.truth for one in page if one.kind == "extra"]
    assert found == {"made": [Truth.TRUE], "late": [Truth.UNDECIDED], "SCHEME": [], "other": [Truth.UNTRUE]}


def test_a_licence_is_the_one_that_its_text_begins_with(changed: Path) -> None:
    (changed / "LICENSE").unlink()
    (changed / "pyproject.toml").write_text('[project]\nname = "wordstat"\nversion = "1"\n')
    text = "GNU LESSER GENERAL PUBLIC LICENSE\nVersion 2.1\n\nThis licence adds to the GNU General Public License.\n"
    (changed / "COPYING").write_text(text)
    assert ProjectIndex(changed).licences == {"LGPL"}


def test_a_project_of_python_3_alone_may_say_so_by_its_classifiers(changed: Path) -> None:
    (changed / "pyproject.toml").write_text('[project]\nname = "wordstat"\nversion = "1"\n')
    for named, needed in (
        ("3', 'Programming Language :: Python :: 3.8", (3,)),
        ("2.7', 'Programming Language :: Python :: 3", None),
    ):
        (changed / "setup.py").write_text(f"setup(classifiers=['Programming Language :: Python :: {named}'])\n")
        assert ProjectIndex(changed).needed_python == needed


def test_a_name_of_another_library_is_not_a_slip() -> None:
    defined = {"get_sdk_headers", "set_num_threads", "FootnotePostprocessor", "needs_input"}
    assert [slip_of(name, defined) for name in ("get_headers", "mkl_set_num_threads")] == ["", ""]
    assert slip_of("FootnotePostProcessor", defined) == "FootnotePostprocessor"
    assert slip_of("httpOriginator", {"HttpOriginator"}) == ""  # another language's (sloplog)
    assert slip_of("need_input", defined) == "needs_input"


def test_what_a_snippet_has_used_is_there_whatever_the_sources_look_like() -> None:
    def block(code: str, verdict: BlockVerdict) -> BlockResult:
        part = BlockPart(10, code, verdict, "", "", (), 0.0)
        return BlockResult("README.md", 10, "python", verdict, first=10, end=14, parts=(part,))

    claim = Claim("name", "xyz.Map", PageRange(11, path="README.md"), LookupResult(Truth.UNTRUE, "xyz has no Map"))
    code = "import xyz\nxyz.Map.url\n"
    assert agreed([claim], [block(code, BlockVerdict.WORKS)])[0].lookup.truth is Truth.UNDECIDED  # xyzservices
    later = replace(claim, place=PageRange(12, path="README.md"))
    for one, snippet in (
        (claim, block(code, BlockVerdict.NOT_RUN)),
        (claim, block("def f():\n    xyz.Map.url\n", BlockVerdict.WORKS)),
        (later, block(code, BlockVerdict.WORKS)),
    ):
        assert agreed([one], [snippet]) == [one]
