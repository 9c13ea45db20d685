"""Faults that were not told: a sample of 100 blocks held six that no reader can run."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted import any_project, judge, judged, write_project

from workbench.checking.judging_commands import Context
from workbench.checking.running import settled
from workbench.checking.steps import Step, plan_of, syntax_fault
from workbench.claims.page import parse_page
from workbench.claims.project import ProjectIndex


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("import wordstat\nprint 'a'\n", (2, "it is Python 2, and the project needs Python 3.10")),
        ("ar = wordstat.open('a'))\nuse(ar)\n", (1, "unmatched ')'")),
        ("from wordstat.aio Counter\nx = 1\n", (1, "it is no import")),
        ("from wordstat import, Counter\n", (1, "it is no import")),
        ("class A(wordstat.Counter)\n    x = 1\n", (1, "a colon is missing")),
        ("def count(text: str) -> int\n", None),  # shows a signature
        ("count(text, ...) -> int\n", None),
        ('def count(\n    text: str,\n)\n    "Counts words."\n', None),  # nbdev writes signatures so
        ("from other.aio Counter\n", None),
        ("from wordstat.counting cimport Counter\ncdef Counter a\n", None),  # cymem: Cython
        ("with open('x') as file:\n    # use it\n", None),
        ("x = [\n  1,\n  ...\n", None),
        ("x = 1\n", None),
    ],
)
def test_slips_in_python_are_told_and_what_only_shows_is_not(code: str, fault: tuple[int, str] | None) -> None:
    found = syntax_fault(code, {"wordstat"}, (3, 10))
    assert (found and (found[0], found[1][: len(fault[1]) if fault else None])) == fault


def test_python_2_is_no_fault_where_the_project_may_take_it() -> None:
    for oldest, said in ((None, ""), ((2, 7), ""), ((3, 8), "With Python 2:")):
        assert syntax_fault("print 'a'\n", {"wordstat"}, oldest, said) is None


def test_a_slip_in_python_fails_without_a_run_and_on_its_line(tmp_path: Path) -> None:
    project = ProjectIndex(write_project(tmp_path / "project"))
    page = parse_page(
        "# a\n\n```python\nx = 1\ny = f(x))\n```\n\n## Changelog\n\n```python\ny = f(x))\n```\n", "README.md"
    )
    blocks = settled(page, plan_of(page, project, None), project, "blocks were not to be run")
    assert [(str(part.verdict), part.line) for block in blocks for part in block.parts] == [
        ("fails", 5),
        ("not run", 11),
    ]


def test_a_parameter_that_is_not_there_fails_below_decorators_and_beside_a_network(tmp_path: Path) -> None:
    root = write_project(tmp_path / "project")
    (root / "wordstat/more.py").write_text(
        "class Pipeline:\n    @wrapped\n    def run(self, data=None, *, name=None): ...\n"
    )
    project = ProjectIndex(root)
    assert project.rejects("Pipeline.run", "source")
    assert not project.rejects("Pipeline.run", "name")
    assert not project.rejects("Other.run", "source")
    error = {"message": "Pipeline.run() got an unexpected keyword argument 'source'", "place": "/environment/x.py"}
    code = "pipeline.run(source=1)"
    assert judged(code, error, rejects=project.rejects) == "fails"
    assert judged(code, error, rejects=project.rejects, asked=("a network",)) == "fails"
    assert judged("pipeline.start(1)", error, rejects=project.rejects) == "not run"


def test_a_name_one_letter_off_from_one_that_the_page_imports_fails() -> None:
    error = {"type": "NameError", "message": "name 'HTTPCient' is not defined", "name": "HTTPCient"}
    for imported, occurs, verdict in (
        (frozenset({"HTTPClient"}), False, "fails"),
        (frozenset({"HTTPClient"}), True, "not run"),
        (frozenset({"Client"}), False, "not run"),
    ):
        project = any_project(occurs=lambda word, there=occurs: there)
        context = Context("README.md", project, set(), "\0", "", imported)
        told = {**error, "place": "README.md", "text": "", "line": 1, "owner": ""}
        step = Step(0, "python", "HTTPCient()", 1)
        assert str(judge(step, {"status": 1, "error": told}, context).verdict) == verdict
