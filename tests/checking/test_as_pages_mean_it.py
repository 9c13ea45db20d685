"""False alarms that the READMEs and docs of 54 projects gave: what a page means where it is not exact. One line each."""

from __future__ import annotations

import platform
from dataclasses import replace
from pathlib import Path

import pytest
from planted import any_project, judge, judged, write_project

from workbench.checking.claims import agreed, claims_of_page
from workbench.checking.comparing import doctest_difference, of_the_machine, shell_difference
from workbench.checking.judging_commands import Context
from workbench.checking.kinds import kind_of
from workbench.checking.pages import is_page_for_readers
from workbench.checking.steps import Step
from workbench.checking.verdicts import BlockResult, ClaimResult, Part, Truth, Verdict
from workbench.claims.nearest import slip_of
from workbench.claims.page import is_of_another_time, parse_page
from workbench.claims.project import ProjectIndex


@pytest.mark.parametrize(
    ("said", "real"),
    [
        ("None\n", ""),  # result: a session shows nothing there
        ("<class 'A'>\n", "<class '__main__.A'>\n"),  # attrs
        ("door.UnionTypeHint  # <-- what madness is this?\n", "<class 'door.UnionTypeHint'>\n"),  # beartype
        ("(int,)\n", "(<class 'int'>,)\n"),
        ("self.x = x\n<BLANKLINE>\n", "self.x = x\n"),
    ],
)
def test_sessions_abbreviate(said: str, real: str) -> None:
    assert doctest_difference(said, real) == ()


def test_what_is_really_other_differs() -> None:
    for said, real in (
        ("True\n", "False\n"),
        ("<class 'A'>\n", "<class '__main__.B'>\n"),
        ("1  # one\n", "2\n"),
        ("None\n", "0\n"),
    ):
        assert doctest_difference(said, real), (said, real)


def test_the_order_of_lines_is_nobodys_promise() -> None:
    assert shell_difference("start x\nstart y\n", "start y\nstart x\n") == ()
    assert shell_difference("start x\nstart y\n", "start y\nstart z\n")


@pytest.mark.parametrize("info", ["{testcode} group", "{testsetup}", "testcode"])
def test_blocks_of_other_documentation_tools_are_python(info: str) -> None:
    page = parse_page(f"```{info}\nx = 1\n```\n", "docs/page.md")
    assert kind_of(page.codes[0]) == "python"


def test_a_licence_is_the_one_that_its_text_begins_with(tmp_path: Path) -> None:
    root = write_project(tmp_path / "project")
    for path in root.glob("LICEN*"):
        path.unlink()
    (root / "pyproject.toml").write_text('[project]\nname = "wordstat"\nversion = "1"\n')
    text = "GNU LESSER GENERAL PUBLIC LICENSE\nVersion 2.1\n\nThis licence adds to the GNU General Public License.\n"
    (root / "COPYING").write_text(text)
    assert ProjectIndex(root).licences == {"LGPL"}


def test_a_type_is_no_extra_and_a_part_may_need_another_python(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    for path, text in (
        ("README.md", "A `Wordstat[T, E]` holds either."),
        ("README.md", "It requires Python 3.10 or newer. Older versions (below 5.x)\nsupport Python 2.6 and above.\n"),
        ("docs/hints.md", "These hints require:\n\n- Python ≥ 3.2.0.\n"),
    ):
        found = claims_of_page(parse_page(text, path), project, {})
        assert Truth.UNTRUE not in {one.truth for one in found}, found


def test_how_an_object_looks_is_not_for_running() -> None:
    error = {"message": "Count() takes no arguments"}
    assert judged("Count(words=2)", error, around="The returned object is:") == "not run"
    assert judged("Count(words=2)", error, around="Count words:") == "fails"


def test_an_attribute_that_lacks_is_the_pages_fault_where_the_page_has_made_its_object() -> None:
    error = {"type": "AttributeError", "message": "'Counter' object has no attribute 'loads'", "owner": "wordstat.core"}
    assert judged("counter.loads('x')", error) == "fails"
    assert judged("counter.loads('x')", error, elsewhere=frozenset({"counter"})) == "not run"
    error = {"type": "AttributeError", "message": "module 'wordstat' has no attribute 'yaml'", "owner": "wordstat"}
    assert judged("wordstat.yaml.dump(x)", error) == "fails"
    assert judged("wordstat.yaml.dump(x)", error, imported=("wordstat",)) == "not run"
    error = {"type": "AttributeError", "message": "module 'copy' has no attribute 'replace'", "owner": "copy"}
    assert judged("copy.replace(x)", error) == "not run"


def test_a_program_that_is_told_nothing_and_a_path_that_only_a_reader_has() -> None:
    def command(text: str, err: str, **how: object) -> str:
        context = Context("README.md", any_project(), {"wordstat"}, "\0", "", frozenset())
        step = Step(0, "shell", text, 1, **how)  # type: ignore[arg-type]
        return str(judge(step, {"status": 2, "stdout": "", "stderr": err}, context).verdict)

    assert command("python -m wordstat.tool", "usage: tool FILE\ntool: error: FILE is required") == "not run"
    assert (
        command("wordstat --stopwach", "usage: wordstat\nwordstat: error: unrecognized arguments: --stopwach")
        == "fails"
    )
    assert command("wordstat report ./mine", "error: it is no project", absent=("./mine",)) == "not run"


def test_options_of_an_example_and_beginnings_of_options_are_no_mistakes(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    for text in (
        '`Option("--stopwach", nargs=2)` means that a bare `--stopwach` is one.',
        "There is no `--stopw` for `--stopwatch`.",
    ):
        found = claims_of_page(parse_page(text, "README.md"), project, {})
        assert Truth.UNTRUE not in {one.truth for one in found}, found
    (alarm,) = [
        one
        for one in claims_of_page(parse_page("Give `--stopwach`.", "README.md"), project, {})
        if one.truth is Truth.UNTRUE
    ]
    assert alarm.nearest == "--stopwatch"


def test_what_another_section_has_made_and_mappings_in_another_order_are_no_alarms() -> None:
    error = {"message": "dom_tag.__call__() got an unexpected keyword argument 'href'"}
    assert judged("a('other', href='/')", error) == "fails"
    assert judged("a('other', href='/')", error, elsewhere=frozenset({"a"})) == "not run"
    assert doctest_difference("{'c': 4, 'b': 3, delete: ['a']}\n", "{'b': 3, 'c': 4, delete: ['a']}\n") == ()
    assert doctest_difference("[x, y]\n", "[y, x]\n")


# -- what 407 projects of one draw, and full checks of 138 of them, were wrongly told


@pytest.mark.parametrize(
    ("heading", "other"),
    [
        ("Changelog", True),
        ("0.1.5", True),
        ("[1.2.0] - 2020-01-01", True),
        ("Version 1.31.3, 2025-07-19", True),
        ("Migrating from 1.x", True),
        ("What's new in 2.0", True),
        ("1.1 Installation", False),
        ("Design patterns", False),
        ("News reader", False),
        ("Python 3.8", False),
        ("Notes", False),
    ],
)
def test_sections_of_another_time_are_known_by_their_headings(heading: str, other: bool) -> None:
    assert is_of_another_time(heading) is other


def test_a_changelog_within_a_page_need_not_hold_today(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    said = "Require Python >= 3.8.\n"
    for text, truth in ((f"# a\n\n## Use\n\n{said}", Truth.UNTRUE), (f"# a\n\n## 0.1.4\n\n{said}", Truth.UNKNOWN)):
        found = [
            one.truth for one in claims_of_page(parse_page(text, "README.md"), project, {}) if one.kind == "python"
        ]
        assert found == [truth]
    page = parse_page(
        "# a\n\n## History\n\n### More\n\n```python\nimport a\n```\n\n## Use\n\n```python\nimport b\n```\n", "x.md"
    )
    assert [code.another_time for code in page.codes] == ["History", ""]


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("docs/design/A.md", False),
        ("docs/research/invites.md", False),
        ("docs/release-notes/0.10.0.md", False),
        ("docs/SANS_IO_IMPLEMENTATION_PLAN2.md", False),
        ("docs/guide.md", True),
        ("docs/session.md", True),
    ],
)
def test_plans_and_designs_are_not_documentation(path: str, read: bool) -> None:
    assert is_page_for_readers(path) is read


def test_a_name_of_another_library_is_not_a_slip() -> None:
    defined = {"get_sdk_headers", "set_num_threads", "FootnotePostprocessor", "needs_input"}
    assert [slip_of(name, defined) for name in ("get_headers", "mkl_set_num_threads")] == ["", ""]
    assert slip_of("FootnotePostProcessor", defined) == "FootnotePostprocessor"
    assert slip_of("httpOriginator", {"HttpOriginator"}) == ""  # another language's (sloplog)
    assert slip_of("need_input", defined) == "needs_input"


def test_a_package_that_distributions_share_lacks_nothing(tmp_path: Path) -> None:
    root = write_project(tmp_path / "project")
    (root / "azure").mkdir()
    (root / "azure/__init__.py").write_text("__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n")
    project = ProjectIndex(root)
    assert not project.lacks("azure", "identity")
    assert project.lacks("wordstat", "identity")
    assert not project.lacks("wordstat", "counting")
    found = claims_of_page(parse_page("```python\nfrom azure.identity import X\n```\n", "README.md"), project, {})
    assert Truth.UNTRUE not in {one.truth for one in found}


def test_an_import_that_only_the_run_misses_is_no_failure() -> None:
    error = {"type": "ModuleNotFoundError", "message": "No module named 'wordstat.x'", "name": "wordstat.x"}
    assert judged("import wordstat.x", error) == "fails"
    assert judged("import wordstat.x", error, lacks=lambda module, name: False) == "not run"
    error = {"type": "ImportError", "message": "cannot import name 'X' from 'wordstat'", "name": "wordstat"}
    assert judged("from wordstat import X", error) == "fails"
    assert judged("from wordstat import X", error, lacks=lambda module, name: False) == "not run"


def test_a_parameter_of_another_library_is_not_the_projects() -> None:
    error = {"message": "DataFrame.f() got an unexpected keyword argument 'x'"}
    assert judged("f(x=2)", error) == "fails"
    assert judged("f(x=2)", error, defined=frozenset()) == "not run"


def test_a_licence_of_something_else_is_not_the_projects(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    for text, truth in (
        ("This code is released under the BSD license.\n", Truth.UNTRUE),
        ("wordstat is distributed under the terms of the BSD License.\n", Truth.UNTRUE),
        ("The original tests are licensed under the BSD license.\n", Truth.UNKNOWN),
        ("* GL: BSD license\n\nThe source code is under MIT.\n", Truth.UNKNOWN),
    ):
        found = [one for one in claims_of_page(parse_page(text, "README.md"), project, {}) if one.kind == "licence"]
        assert found[0].truth is truth, text


def test_options_for_another_program_are_not_untrue(tmp_path: Path) -> None:
    root = write_project(tmp_path / "project")
    text = "```sh\nwordstat report --columns-wide 1\n```\n"
    (root / "more.py").write_text("import argparse\nargparse.ArgumentParser().parse_known_args()\n")
    found = claims_of_page(parse_page(text, "README.md"), ProjectIndex(root), {"wordstat": "--columns"})
    assert Truth.UNTRUE not in {one.truth for one in found}


def test_how_a_mapping_shows_itself_depends_on_python() -> None:
    said = "MatchesDict({'title': 'A', 'codes': ['x', 'y']})\n"
    assert doctest_difference(said, "MatchesDict([('title', 'A'), ('codes', ['x', 'y'])])\n") == ()
    assert doctest_difference(said, "MatchesDict([('title', 'B'), ('codes', ['x', 'y'])])\n")


@pytest.mark.parametrize(
    ("code", "ran", "verdict"),
    [
        (">>> add('x')\nTrue\n", (), "differs"),
        (">>> place = r'C:\\Users\\Ofek'\n>>> add('x')\nTrue\n", (), "not run"),  # userpath
        (">>> add('x')\nTrue\n", ("/bin/sh",), "not run"),
    ],
)
def test_what_is_so_on_the_authors_machine_need_not_be_here(code: str, ran: tuple[str, ...], verdict: str) -> None:
    context = Context("README.md", any_project(), {"wordstat"}, f"\0{code}", "", frozenset())
    example = {"line": 1, "source": "add('x')\n", "want": "True\n", "got": "False\n", "error": None}
    ended = {"status": 0, "examples": [{**example, "stderr": "", "expected_error": None}], "ran": ran}
    assert str(judge(Step(0, "doctest", code, 1), ended, context).verdict) == verdict


def test_what_tells_of_the_machine_is_not_compared() -> None:
    word = platform.release()
    assert of_the_machine("kernel: 5.4.0-custom\n", f"kernel: {word}\n") == word.lower()
    assert of_the_machine(f"kernel: {word}\n", f"kernel: {word} b\n") == ""
    step = Step(0, "shell", "wordstat -v", 1, "Name: Antergos Linux\nCodename: rolling\n")
    context = Context("README.md", any_project(), {"wordstat"}, "\0", "", frozenset())
    for said, verdict in ((word, "not run"), ("Other Linux", "differs")):
        ended = {"status": 0, "stdout": f"Name: {said}\nCodename: none\n", "stderr": ""}
        assert str(judge(step, ended, context).verdict) == verdict


def test_a_module_found_for_a_variable_of_the_page_says_nothing() -> None:
    error = {
        "type": "AttributeError",
        "message": "module 'wordstat.config' has no attribute 'X'",
        "owner": "wordstat.config",
    }
    assert judged("assert config.X == 1", error) == "fails"
    assert judged("assert config.X == 1", error, imported=("config",)) == "not run"  # derpconf


def test_a_former_python_beside_todays_is_not_untrue(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    for text in (
        "- Python 3.10 or newer. Python 2.4+ was supported in the 0.5.x branch,\n  Python 3.4+ in the 0.6 branch.\n",  # pylibacl
        "Requires Python 3.10+.\n\nInstall it:\n\nRequires Python 3.6+.\n",
    ):
        found = [
            one.truth for one in claims_of_page(parse_page(text, "README.md"), project, {}) if one.kind == "python"
        ]
        assert Truth.UNTRUE not in found, text


def test_extras_that_a_build_makes_or_that_stand_for_one_are_not_untrue(tmp_path: Path) -> None:
    root = write_project(tmp_path / "project")
    (root / "PKG-INFO").write_text(
        "Metadata-Version: 2.1\nName: wordstat\nVersion: 1.2.0\nProvides-Extra: made\n\nwords\n"
    )
    (root / "setup.py").write_text("extras = {'late': []}\nsetup(extras_require=extras)\n")

    def truth(name: str) -> list[Truth]:
        page = parse_page(f"```sh\npip install wordstat[{name}]\n```\n", "README.md")
        return [one.truth for one in claims_of_page(page, ProjectIndex(root), {}) if one.kind == "extra"]

    assert truth("made") == [Truth.TRUE]
    assert truth("late") == [Truth.UNKNOWN]  # dill
    assert truth("SCHEME") == []  # datalad
    assert truth("other") == [Truth.UNTRUE]


def test_a_version_of_which_todays_is_one_may_be_the_series(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    for said, truth in (("1.2", Truth.TRUE), ("1.1", Truth.UNTRUE), ("1", None)):
        found = [one.truth for one in claims_of_page(parse_page(f"Latest release: v{said}\n", "a.md"), project, {})]
        assert found == ([truth] if truth else [])


def test_what_a_snippet_has_used_is_there_whatever_the_sources_look_like() -> None:
    def block(code: str, verdict: Verdict) -> BlockResult:
        part = Part(10, code, verdict, "", "", (), 0.0)
        return BlockResult("README.md", 10, "python", verdict, first=10, end=14, parts=(part,))

    claim = ClaimResult("README.md", 11, "name", "xyz.Map", Truth.UNTRUE, "xyz has no Map")
    code = "import xyz\nxyz.Map.url\n"
    assert agreed([claim], [block(code, Verdict.WORKS)])[0].truth is Truth.UNKNOWN  # xyzservices
    assert agreed([claim], [block(code, Verdict.NOT_RUN)]) == [claim]
    assert agreed([claim], [block("def f():\n    xyz.Map.url\n", Verdict.WORKS)]) == [claim]
    assert agreed([replace(claim, line=12)], [block(code, Verdict.WORKS)])[0].truth is Truth.UNTRUE


def test_a_module_that_its_package_hides_has_no_names_of_its_own(tmp_path: Path) -> None:
    root = write_project(tmp_path / "project")
    (root / "wordstat/tables.py").write_text("tables = make()\n")
    code = "```python\nimport wordstat.tables as t\nt.Wide\n```\n"
    for extra, truth in (("", Truth.UNTRUE), ("from .tables import tables\n", Truth.UNKNOWN)):
        (root / "wordstat/__init__.py").write_text(f"from .counting import Counter\n{extra}")
        found = claims_of_page(parse_page(code, "README.md"), ProjectIndex(root), {})
        assert next(one.truth for one in found if one.text == "t.Wide") is truth


def test_a_call_that_shows_one_option_leaves_the_rest_out() -> None:
    error = {"message": "dicttoxml() missing 1 required positional argument: 'obj'"}
    assert judged("dicttoxml(root=False)", error) == "not run"
    assert judged("Client.from_service(encoding='utf-8')", error) == "not run"
    assert judged("dicttoxml()", error) == "fails"
    assert judged("dicttoxml('a', root=False)", error) == "fails"


def test_names_that_pages_invent_for_the_reader_are_not_untrue(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    code = "```python\nfrom wordstat import MyDataModel, SiglentSPDxxx\nfrom wordstat.my_tag import get\nfrom wordstat import Missing\n```\n"
    found = claims_of_page(parse_page(code, "README.md"), project, {})
    assert [one.text for one in found if one.truth is Truth.UNTRUE] == ["Missing"]  # what openapi-python-client writes
    error = {"type": "ImportError", "message": "cannot import name 'MyDataModel' from 'wordstat'", "name": "wordstat"}
    assert judged("from wordstat import MyDataModel", error) == "not run"


def test_an_ellipsis_in_a_signature_is_no_default(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    found = claims_of_page(parse_page("`top_words(text, limit=...)`\n", "README.md"), project, {})
    assert Truth.UNTRUE not in {one.truth for one in found}


def test_a_project_of_python_3_alone_may_say_so_by_its_classifiers(tmp_path: Path) -> None:
    root = write_project(tmp_path / "project")
    (root / "pyproject.toml").write_text('[project]\nname = "wordstat"\nversion = "1"\n')
    for named, needed in (
        ("3', 'Programming Language :: Python :: 3.8", (3,)),
        ("2.7', 'Programming Language :: Python :: 3", None),
    ):
        (root / "setup.py").write_text(f"setup(classifiers=['Programming Language :: Python :: {named}'])\n")
        assert ProjectIndex(root).needed_python == needed


@pytest.mark.parametrize(
    "text",
    [
        "The docstring suggests `pip install 'wordstat[users]'`. That extra does\nnot exist.\n",  # whop-sdk
        "`topWords()` in JavaScript, `top_words()` here: `top_wrds()`.\n",
        "`top_wrds()` was renamed.\n",
        "Rows are kept with a score (default `0.6`), as wide as `--columns` (default `80`).\n",  # wordlive
        "lines are 3 tall (default 3), `--columns` the gap.\n",
        "top_words():\n\n| `limit` / `per_page` | Pagination (default 20 per page) |\n",  # bhm-mcp-chat
        "top_words():\n\n- `limit`, `per_page`: default 20\n",
        "```sh\nwordstat.exe report\n```\n",  # rmskin-builder
        "```python\nfrom wordstat import fast_core\n```\n",  # trajdl: C++ below src
    ],
)
def test_what_a_page_itself_says_is_not_so_is_not_untrue(tmp_path: Path, text: str) -> None:
    root = write_project(tmp_path / "project")
    (root / "src/fast_core").mkdir(parents=True)
    (root / "src/fast_core/main.cpp").write_text("int x;\n")
    found = claims_of_page(parse_page(text, "README.md"), ProjectIndex(root), {"wordstat": "--columns"})
    assert [one.text for one in found if one.truth is Truth.UNTRUE] == []


def test_defaults_after_their_option_are_still_told(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    found = claims_of_page(
        parse_page("Up to 3 (default 3), `--columns` is the width (default: 72).\n", "README.md"), project, {}
    )
    assert [one.text for one in found if one.truth is Truth.UNTRUE] == ["72"]
