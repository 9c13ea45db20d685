"""What doc systems will ask before candidates are written: by rules that were measured, by earlier runs, or plainly not known."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.catalog import resolve_case
from workbench.catalog.case_sources import current_snapshot
from workbench.documenters.doc_systems import docstrings_file
from workbench.documenters.program_cache import DocumentedRepository, WorkFolder
from workbench.documenters.types import parse_docs
from workbench.orders.docs_estimate import documentation
from workbench.orders.estimate import Documentation, WorkEstimate, estimate_candidates, estimate_trials, task_count
from workbench.orders.measured import DocsRate, MeasuredRates, Rate, builds, measured_in, note_build
from workbench.orders.study_estimate import estimate_study
from workbench.plans.plan import Ask, RegenerationPlan
from workbench.session import SessionWriter, create
from workbench.studies.declaration import Study, StudyColumn, StudyLimits

SOURCE = "word_counter"
REPO, OSA, GPT = "repoagent-0.2.0:openai/m", "osa-0.3.4:openai/m", "llm:openai/m"


@pytest.fixture(scope="module")
def counted() -> dict[str, list[int]]:
    """Functions and classes of each file of the case, by Python's own parser."""
    snapshot = current_snapshot(resolve_case(SOURCE))
    assert snapshot is not None
    found = {}
    for entry in snapshot.files:
        if entry.path.endswith(".py"):
            nodes = list(ast.walk(ast.parse((snapshot.root / entry.path).read_text())))
            found[entry.path] = [
                sum(isinstance(one, kind) for one in nodes)
                for kind in (ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef)
            ]
    return found


def plan(docs: str, scope: str = "repository", limit: int = 0, source: str = SOURCE) -> RegenerationPlan:
    return RegenerationPlan(source=source, docs=docs, docs_scope=scope, asks=(Ask("m", 3, limit=limit),))


def told(docs: str, measured: MeasuredRates | None = None, **more: object) -> Documentation:
    return documentation(measured or MeasuredRates(), [(plan(docs, **more), False)])  # type: ignore[arg-type]


def test_repoagent_asks_once_for_each_function_and_class(home: Path, counted: dict[str, list[int]]) -> None:
    found = told(REPO)
    assert found.requests == sum(sum(each) for each in counted.values()) == 91, "as was measured with the real program"
    assert (found.tokens, found.seconds, found.dollars) == (None, None, None)
    assert found.sentence() == "docs before that: about 91 requests; their tokens, time and cost not known"


def test_llm_asks_once_for_each_definition_of_files_with_tasks(home, counted, tmp_path):
    every = sum(sum(each) + 1 for each in counted.values())
    assert (told(GPT).requests, told(GPT).up_to) == (every, True), "its tasks are not built"
    file, other = sorted(counted)[:2]
    tasks = tmp_path / "tasks.json"
    tasks.write_text(json.dumps({"tasks": [{"path": file}, {"path": file}, {"path": other}]}))
    note_build(SOURCE, tasks, 5.0)
    known = MeasuredRates(builds=builds())
    assert task_count(known, SOURCE) == 3, "the cache knows how many tasks there are, though no session has them"
    assert task_count(known, SOURCE, 2) == 2
    first = told(GPT, known, limit=2)
    assert (first.requests, first.up_to) == (sum(counted[file]) + 1, False)
    assert told(GPT, known).requests == sum(sum(counted[one]) + 1 for one in (file, other))
    assert told(GPT, known, scope="target").requests == 3
    tasks.write_text("damaged")
    assert told(GPT, MeasuredRates(builds=builds())).up_to


def test_tokens_time_and_price_are_those_of_earlier_requests(home: Path) -> None:
    rate = DocsRate(REPO, "other", 10, 1_000, 2.0, 0.01, False)
    found = told(REPO, MeasuredRates(documenting=(rate,)))
    assert (found.requests, found.tokens, found.seconds, found.dollars) == (91, 91_000, 182, pytest.approx(0.91))
    assert found.sentence() == "docs before that: about 91 requests, 91,000 tokens, 3 minutes, $0.91"
    mine = replace(rate, source=SOURCE, requests=95, complete=True)
    assert told(REPO, MeasuredRates(documenting=(rate, mine))).requests == 95, (
        "a whole documentation of this source was measured"
    )
    # Of another model: as many tokens, another price; the time of that model's requests for something else.
    other = told(
        "repoagent-0.2.0:openai/n",
        MeasuredRates(documenting=(rate,), candidates=(Rate("", "openai/n", "x", 1, 0.5, 0.1),)),
    )
    assert (other.tokens, other.seconds, other.dollars) == (91_000, 45.5, None)
    assert told("repoagent-0.2.0:local").dollars == 0.0


def test_what_has_no_rule_is_not_known_until_it_was_measured_anywhere(home, counted):
    nobody = told(OSA)
    assert (nobody.requests, nobody.unknown) == (0, (f"{OSA} about {SOURCE}",))
    assert nobody.sentence() == f"the number of requests for docs is unknown: {OSA} about {SOURCE}"
    rate = DocsRate(OSA, "other", 300, 500, 1.0, None, True, definitions=200)
    every = sum(sum(each) + 1 for each in counted.values())
    assert told(OSA, MeasuredRates(documenting=(rate,))).requests == pytest.approx(1.5 * every)
    assert told("command:mydoc {folder}").sentence() == "", "it asks no model"
    assert told("original").sentence() == ""
    far = told(REPO, source="https://example.invalid/x.git")
    assert far.unknown == (f"{REPO} about https://example.invalid/x.git",)


def test_what_is_kept_or_in_the_session_is_not_asked_again_and_each_source_once(home: Path) -> None:
    both = documentation(MeasuredRates(), [(plan(REPO), False), (plan(REPO), False), (plan(GPT), True)])
    assert both.requests == 91
    snapshot = current_snapshot(resolve_case(SOURCE))
    assert snapshot is not None
    work = WorkFolder(snapshot, REPO, "")
    work.folder.mkdir(parents=True)
    counts = {
        "requests": 91,
        "prompt_tokens": 91_000,
        "completion_tokens": 0,
        "seconds": 182,
        "function": 90,
        "class": 1,
        "module": 3,
    }
    work.save(DocumentedRepository({}, counts=counts))
    assert docstrings_file(parse_docs(REPO), snapshot).is_file()
    assert told(REPO) == Documentation()
    # What it asked here serves where the same program is to document something else with another model.
    again = told("repoagent-0.2.0:openai/other")
    assert (again.requests, again.tokens) == (91, 91_000)


def test_the_requests_of_documentation_are_read_from_sessions(tmp_path: Path) -> None:
    path = tmp_path / "docs.session"
    create(path)
    with SessionWriter(path) as writer, writer.transaction():
        writer.add_run("r", "regenerate", {"source": SOURCE, "docs": GPT})
        for number in range(4):
            writer.insert(
                "calls",
                {
                    "run_id": "r", "scope": "s", "purpose": "documenter" if number else "evaluator", "model": "openai/m",
                    "digest": f"d{number}", "sample": 0, "nth": 1, "messages_blob": "m", "sampling": "{}", "answer_blob": "a",
                    "prompt_tokens": 90, "completion_tokens": 10, "cost_usd": 0.01, "latency_s": 2.0, "attempts": "[]",
                    "source": "live", "started_at": 100.0 + number,
                },
            )  # fmt: skip
    (rate,) = measured_in([path]).documenting
    # From 101 to 105: three requests side by side.
    assert rate == DocsRate(GPT, SOURCE, 3, 100, pytest.approx(4 / 3), pytest.approx(0.01), False)


def test_the_first_trial_of_a_model_says_roughly_what_its_requests_take() -> None:
    one = MeasuredRates(trials=(Rate("white", "local", "a", 5, 50.0, 0.0),))
    near = estimate_trials(one, ["a", "b"], "planner-2", "local", ["offline"], repeats=1, at_once=4)
    assert (near.requests, near.seconds) == (10, 100)
    assert near.sentence() == "2 trials, about 10 requests, 2 minutes, $0 (by 1 earlier trial of other agents, roughly)"
    bodies = estimate_candidates(one, "src", "local", candidates=6)
    assert (bodies.seconds, bodies.dollars) == (60, 0.0)
    assert bodies.sentence().endswith("(by 1 earlier trial with this model, roughly)")
    assert estimate_candidates(one, "src", "openai/m", candidates=6).seconds is None
    priced = MeasuredRates(trials=(Rate("white", "openai/m", "a", 5, 50.0, 1.0),))
    assert estimate_candidates(priced, "src", "openai/m", candidates=6).dollars is None, (
        "a body costs not what a step costs"
    )


def test_a_study_gives_the_time_of_the_columns_that_were_measured(home: Path, tmp_path: Path) -> None:
    columns = (StudyColumn("none", "reference"), StudyColumn("none", "stub"), StudyColumn(OSA, "stub"))
    study = Study("s", "docs", (SOURCE,), columns, samples=1, k=(1,), limits=StudyLimits(tasks=4))
    known = MeasuredRates(candidates=(Rate("", "stub", SOURCE, 0, 0.5, 0.0),), tasks={SOURCE: 9})
    found = estimate_study(known, tmp_path / "new.session", study, 1)
    assert (found.count, found.seconds, found.without) == (8, 2.0, (f"{SOURCE} × none · reference",))
    assert found.left_out == (f"{OSA} · stub",), "the program is not installed"
    said = found.sentence()
    assert f"without {SOURCE} × none · reference: no earlier run to estimate from" in said
    assert said.endswith(f"not counted, because it cannot be used here: {OSA} · stub")
    unbuilt = estimate_study(replace(known, tasks={}), tmp_path / "new.session", study, 1)
    assert unbuilt.sentence().startswith("up to 8 candidates")


def test_documentation_counts_where_it_is_asked_whether_to_start() -> None:
    docs = Documentation(10, 100, 600.0, 3.0)
    told = WorkEstimate(5, "candidate", 5, 60.0, 1.0, documentation=docs)
    assert told.beyond(3.5, 0).startswith("about $4.00, more than")
    assert told.beyond(0, 10).startswith("about 11 minutes, more than")
    assert replace(told, documentation=None).beyond(3.5, 10) == ""
