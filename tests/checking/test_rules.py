"""The rules one by one: kinds of blocks, commands, what is not run, what is forgiven, and claims that must not be alarms."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import any_project, claims, context, judge, judged, untrue, verdict_on_example, write_project

from workbench.checking.blocks import kind_of
from workbench.checking.running import settled
from workbench.checking.steps import PlannedStep, plan_of, syntax_fault, why_not_python, why_not_shell
from workbench.claims.claim import Truth
from workbench.claims.comparing import doctest_difference, shell_difference
from workbench.claims.page import Code, parse_page
from workbench.claims.project import ProjectIndex
from workbench.claims.shell import commands_of


@pytest.mark.parametrize(
    ("info", "code", "kind"),
    [
        ("bash", "pip install wordstat\n", "install"),
        ("bash", "pip install wordstat\nwordstat index a\n", "shell"),
        ("", "$ wordstat index a\n", "shell"),
        ("", "$ wordstat report\nindexed: a\n", "session"),
        ("console", "words: 3\n", "output"),
        ("python", ">>> 1 + 1\n2\n", "doctest"),
        ("python", "x = 'a'\nx\n>>> 'a'\n", "output"),
        ("", "from wordstat import Counter\n", "python"),
        ("", "from elsewhere import Counter\n", "output"),
        ("rust", "fn main() {}\n", "other"),
    ],
)
def test_kinds(info: str, code: str, kind: str) -> None:
    assert kind_of(Code(1, code, info), {"wordstat"}, {"wordstat"}) == kind


def test_commands_go_over_several_lines_and_prompts_have_output() -> None:
    assert [one.text for one in commands_of("a \\\n  b\n# no\nc 'x\ny'\n")] == ["a \\\n  b", "c 'x\ny'"]
    session = commands_of("$ one\nout\n\nmore\n$ two\n$ three\nlast\n")
    assert [(one.line, one.text, one.expected) for one in session] == [
        (0, "one", "out\n\nmore"),
        (4, "two", None),
        (5, "three", "last"),
    ]


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("wordstat index FILE", "FILE"),
        ("wordstat index [OPTIONS]", "[OPTIONS]"),
        ("wordstat report -r HEAD^1", "history"),
        ("sudo wordstat index a", "root"),
        ("python", "input"),
        ("python -m http.server", "http.server"),
    ],
)
def test_what_is_not_run_says_why(command: str, word: str) -> None:
    assert word in why_not_shell(command, {"wordstat"}, {"wordstat"})


def test_the_projects_own_commands_run() -> None:
    for command in (
        "wordstat index a | sort > out.txt",
        "python -m wordstat index a",
        "python -c 'print(1)'",
        "cd docs && ls",
    ):
        assert why_not_shell(command, {"wordstat"}, {"wordstat"}) == ""
    assert why_not_python("f(...)") == "it leaves something out (…)"
    assert why_not_python("def f():\n    ...\n") == ""


@pytest.mark.parametrize(
    ("claimed", "real"),
    [
        ("2024-01-01 12:00 done", "2026-11-25 02:23 done"),
        ("<X at 0x7f00aa>", "<X at 0x7fbb12>"),
        ("wrote /home/me/x/out.txt", "wrote /checked/repo/out.txt"),
        ("first\n\n// It works!", "first"),
        ("first\n...\nlast", "first\nsecond\nthird\nlast"),
        ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"),
    ],
)
def test_what_differs_from_machine_to_machine_is_forgiven(claimed: str, real: str) -> None:
    assert shell_difference(claimed, real) == ()


def test_other_words_are_a_difference_and_numbers_count_in_a_doctest() -> None:
    assert shell_difference("indexed: alpha", "indexed: beta") == ("@@ -1 +1 @@", "-indexed: alpha", "+indexed: beta")
    assert doctest_difference("4\n", "3\n")
    assert doctest_difference("0.333333\n", "0.3333333333\n") == ()
    assert doctest_difference("{ 'b': 2,\n  'a': 1 }\n", "{'a': 1, 'b': 2}\n") == ()
    assert doctest_difference("'a', 'b'\n", "('a', 'b')\n") == ()
    assert doctest_difference("{'a': 1,\n 'b': 2}\n", "{'a': 1, 'b': 2}\n") == ()
    assert doctest_difference('User(groups={"b", "a"})\n', "User(groups={'a', 'b'})\n") == ()
    assert doctest_difference("User(groups={'b', 'c'})\n", "User(groups={'a', 'b'})\n")
    assert doctest_difference("wrap(['a', \n…, \n'c'])\n", "wrap(['a', 'b', 'c'])\n") == ()


@settings(max_examples=30)
@given(st.text(max_size=100))
def test_an_output_is_itself(text: str) -> None:
    assert shell_difference(text, text) == ()


@settings(max_examples=40)
@given(st.text(alphabet="`~#$>-_ab(){}[]<!\n\\'\" \t", max_size=200))
def test_any_text_is_a_page(text: str) -> None:
    page = parse_page(text, "README.md")
    lines = page.text.splitlines()
    for code in page.codes:
        commands_of(code.code)
        assert 1 <= code.line <= len(lines) + 1


@pytest.mark.parametrize(
    "text",
    [
        "Call `frobnicate()` of another library, or `json.loads()`.",
        "Set `--upgrade` with pip, and `HOME_PAGE` as you like.",
        "Older releases support Python 3.6+; see [the wiki](../../wiki) and [a heading](#use).",
        "```bash\npip install 'requests[socks]' wordstat==9.9\n```\n",
        "```bash\nwordstat index -- --not-an-option\n```\n",
        "```python\nimport wordstats\nimport word_stat\nimport wordstat2\nimport ordstat\n```\nLike `top_wordss` and `top_word`.",
        "Write your own `settings/local.toml`. Mail <mailto:a@b.c> or see http://localhost:8000/x.",
    ],
)
def test_what_may_be_somebody_elses_is_no_alarm(tmp_path: Path, text: str) -> None:
    assert untrue(write_project(tmp_path), text) == []


@pytest.mark.parametrize(
    ("text", "kind", "nearest"),
    [
        ("```python\nimport wordstat.countng\n```\n", "module", "wordstat.counting"),
        ("```python\nfrom wordstat import top_words\ntop_words('a', limt=3)\n```\n", "parameter", "limit"),
        ("```python\nfrom wordsatt import Counter\n```\n", "module", "wordstat"),
        ("It takes `top_wods`, no `stop_words`.", "name", "top_words"),
        ("The latest version is 1.3.0.", "version", "1.2.0"),
        ("See [the site](htps://example.org/x).", "url", "https"),
    ],
)
def test_untrue_claims_have_the_nearest_true_one(tmp_path: Path, text: str, kind: str, nearest: str) -> None:
    found = [claim for claim in claims(write_project(tmp_path), text) if claim.lookup.truth is Truth.UNTRUE]
    assert [(claim.kind, claim.lookup.nearest) for claim in found] == [(kind, nearest)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("`top_words(text, limit=10)`", [("limit 10", "true")]),
        ("`top_words(text, limit=12)`", [("12", "untrue")]),
        ("`top_words()`\n\n| name | default |\n|---|---|\n| `limit` | `10` |", [("limit 10", "true")]),
        # A call, a parameter of what the page does not name, and one that may be of something else.
        ("Then `top_words(text, limit=12)` gives more.", []),
        ("`Counter(limit=3)` and `top_words(words, limit=3)`", []),
        ("- `limit`: how many, default `11`", []),
    ],
)
def test_defaults_of_parameters(tmp_path: Path, text: str, said: list[tuple[str, str]]) -> None:
    found = [one for one in claims(write_project(tmp_path), text) if one.kind == "default"]
    assert [(one.text, str(one.lookup.truth)) for one in found] == said


def test_skipping_needs_a_comment_only() -> None:
    page = parse_page(
        "<!-- workbench: skip because it needs a moon -->\n```bash\nrm x\n```\n\n```bash\nls\n```\n", "README.md"
    )
    assert [code.skip for code in page.codes] == ["it needs a moon", ""]


def command_that_failed(text: str, err: str, shown: str = "", **how: object) -> str:
    """Return the verdict on a command of the project's that ended with status 1."""
    step = PlannedStep(0, "shell", text, 1, **how)  # type: ignore[arg-type]
    return str(judge(step, {"status": 1, "stdout": "", "stderr": err}, context(shown=shown)).verdict)


_SHOWN = 'Traceback (most recent call last):\n  File "/path/to/x.py", line 8\nwordstat.WordError: one'
_REAL = 'Traceback (most recent call last):\n  File "/x.py", line 9\nwordstat.WordError: other'


@pytest.mark.parametrize(
    ("command", "err", "how", "verdict"),
    [
        ("wordstat report", "error: this cannot be counted", {}, "not run"),
        ("wordstat report", "error: no index; run index before report", {}, "fails"),
        ("wordstat report", "wordstat: error: no such option: --stopwach", {}, "fails"),
        ("wordstat report mine.py", "Error: bad argument mine.py", {"absent": ("mine.py",)}, "not run"),
        ("wordstat report", _REAL, {"expected": _SHOWN}, "works"),
        ("wordstat report", "error: gone", {"expected": _SHOWN}, "not run"),
        ("wordstat report own-way", "error: there is no way 'own-way'", {"shown": "[ways]\nown-way = 1"}, "not run"),
        ("wordstat report", "urllib: temporary failure in name resolution", {}, "not run"),
    ],
)
def test_an_error_is_a_failure_unless_it_may_come_of_something_else(command, err, how, verdict):
    """False alarms that real READMEs gave: a file of the reader's in other words, an error that the page shows."""
    assert command_that_failed(command, err, **how) == verdict


def test_what_no_project_can_change_is_no_failure() -> None:
    """False alarms: ``assert 1 + 1 == 3`` of a testing tool, ``_`` of a session that leaves its import out, a version."""
    error = {"type": "AssertionError", "message": "", "line": 1, "place": "README.md", "text": "AssertionError"}
    for code, verdict in (("assert 1 + 1 == 3", "not run"), ("assert count('a b') == 3", "differs")):
        assert judge(PlannedStep(0, "python", code, 1), {"status": 1, "error": error}, context()).verdict == verdict
    example = {"line": 1, "source": "_('a')", "want": "1\n", "got": "", "stderr": "", "expected_error": None}
    called = {**error, "type": "TypeError", "message": "'list' object is not callable"}
    ended = {"status": 0, "examples": [{**example, "error": called}]}
    assert judge(PlannedStep(0, "doctest", "", 1), ended, context()).verdict == "not run"
    step = PlannedStep(0, "shell", "wordstat --version", 1, "wordstat 1 (compiled)")
    assert judge(step, {"status": 0, "stdout": "wordstat 1 (pure)", "stderr": ""}, context()).verdict == "not run"


def test_what_is_printed_of_the_machines_own_files_is_no_difference() -> None:
    step = PlannedStep(0, "shell", "wordstat report", 1, "indexed: /root/x")
    assert judge(step, {"status": 0, "stdout": "nothing", "stderr": ""}, context()).verdict == "not run"


def test_a_doctest_shows_what_a_terminal_does() -> None:
    """A library that prints on standard error was said to differ: a terminal shows both."""
    for stderr, verdict in (("shown: 'a'\n", "works"), ("", "differs")):
        assert verdict_on_example("shown: 'a'\n", "'a'\n", stderr=stderr) == verdict
    assert verdict_on_example("[1]\n", "", source="x = [1]") == "works"


# -- faults that were not told: a sample of 100 blocks held six that no reader can run


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("import wordstat\nprint 'a'\n", (2, "it is Python 2, but the project needs Python 3.10")),
        ("ar = wordstat.open('a'))\nuse(ar)\n", (1, "unmatched ')'")),
        ("from wordstat.aio Counter\nx = 1\n", (1, "it is not an import")),
        ("class A(wordstat.Counter)\n    x = 1\n", (1, "a colon is missing")),
        ("def count(text: str) -> int\n", None),  # shows a signature
        ('def count(\n    text: str,\n)\n    "Counts words."\n', None),  # nbdev writes signatures so
        ("from other.aio Counter\n", None),
        ("from wordstat.counting cimport Counter\ncdef Counter a\n", None),  # cymem: Cython
        ("with open('x') as file:\n    # use it\n", None),
    ],
)
def test_slips_in_python_are_told_and_what_only_shows_is_not(code: str, fault: tuple[int, str] | None) -> None:
    found = syntax_fault(code, {"wordstat"}, (3, 10))
    assert (found and (found[0], found[1][: len(fault[1]) if fault else None])) == fault


def test_python_2_is_no_fault_where_the_project_may_take_it() -> None:
    for oldest, prose in ((None, ""), ((2, 7), ""), ((3, 8), "With Python 2:")):
        assert syntax_fault("print 'a'\n", {"wordstat"}, oldest, prose) is None


def test_a_slip_in_python_fails_without_a_run_and_on_its_line(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path))
    page = parse_page(
        "# a\n\n```python\nx = 1\ny = f(x))\n```\n\n## Changelog\n\n```python\ny = f(x))\n```\n", "README.md"
    )
    blocks = settled(page, plan_of(page, project, None), project, "running blocks was not requested")
    found = [(str(part.verdict), part.line) for block in blocks for part in block.parts]
    assert found == [("fails", 5), ("not run", 11)]


def test_a_parameter_that_is_not_there_fails_below_decorators_and_beside_a_network(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    (root / "wordstat/more.py").write_text(
        "class Pipeline:\n    @wrapped\n    def run(self, data=None, *, name=None): ...\n\nclass Made(Base): ...\n"
    )
    project = ProjectIndex(root)
    rejected = (("Pipeline.run", "source"), ("run", "source"), ("Counter", "limits"))
    accepted = (("Pipeline.run", "name"), ("Other.run", "source"), ("Counter", "limit"), ("Made", "x"), ("add", "text"))
    assert [one for one in (*rejected, *accepted) if project.rejects(*one)] == list(rejected)
    error = {"message": "Pipeline.run() got an unexpected keyword argument 'source'", "place": "/environment/x.py"}
    code = "pipeline.run(source=1)"
    assert judged(code, error, rejects=project.rejects) == "fails"
    assert judged(code, error, rejects=project.rejects, asked=("a network",)) == "fails"
    assert judged("pipeline.start(1)", error, rejects=project.rejects) == "not run"


@pytest.mark.parametrize(
    ("imported", "occurs", "verdict"),
    [("HTTPClient", False, "fails"), ("HTTPClient", True, "not run"), ("Client", False, "not run")],
)
def test_a_name_one_letter_off_from_one_that_the_page_imports_fails(imported: str, occurs: bool, verdict: str) -> None:
    error = {"type": "NameError", "message": "name 'HTTPCient' is not defined", "name": "HTTPCient"}
    of = context(imported=frozenset({imported}), project=any_project(occurs=lambda word: occurs))
    raised = {**error, "place": "README.md", "text": "", "line": 1, "owner": ""}
    assert str(judge(PlannedStep(0, "python", "HTTPCient()", 1), {"status": 1, "error": raised}, of).verdict) == verdict
