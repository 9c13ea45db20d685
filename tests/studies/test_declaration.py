"""What a study.toml may say, and the sentence for each mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.base.errors import UsageError
from workbench.studies.checking import check_study, column_problem
from workbench.studies.declaration import BadStudy, Study, StudyColumn, column_titles, row_titles, with_amounts
from workbench.studies.study_files import packaged_studies, read_study_file, study_named

AGENTS = 'name = "mine"\nkind = "agents"\nrows = ["word_counter"]\n'
DOCS = 'name = "mine"\nkind = "docs"\nrows = ["word_counter"]\n'
COLUMN = '[columns]\nagents = ["white"]\nmodels = ["local"]\n'


def written(folder: Path, text: str) -> Path:
    file = folder / "study.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_columns_are_every_agent_with_every_model(tmp_path: Path) -> None:
    text = (
        AGENTS
        + 'repeats = 4\nspend_limit = 2.5\n[columns]\nagents = ["white", "planner"]\nmodels = ["a/b", "c/d"]\n[limits]\nsteps = 5\n'
    )
    study = read_study_file(written(tmp_path, text))
    names = [column.name for column in study.columns]
    assert names == ["white · a/b", "white · c/d", "planner-2 · a/b", "planner-2 · c/d"]
    assert (study.repeats, study.spend_limit, study.limits.steps, study.measures) == (4, 2.5, 5, ("score",))


def test_the_command_line_may_say_how_many_trials_or_candidates() -> None:
    assert with_amounts(study_named("agents"), repeats=3).repeats == 3
    assert with_amounts(study_named("docs"), samples=5).samples == 5
    assert with_amounts(study_named("docs")) == study_named("docs")
    with pytest.raises(BadStudy, match="repeats belongs to a study of agents"):
        with_amounts(study_named("docs"), repeats=2)
    with pytest.raises(BadStudy, match="pass@3, which is not defined for 2 samples"):
        with_amounts(study_named("docs"), samples=2)


def test_k_follows_from_the_samples_unless_it_is_given(tmp_path: Path) -> None:
    columns = '[columns]\ndocs = ["none"]\nevaluators = ["local"]\n'
    ks = [
        read_study_file(written(tmp_path, DOCS + head + columns)).k
        for head in ("", "samples = 2\n", "samples = 5\nk = [5, 1, 1]\n", "samples = 5\nk = 2\n")
    ]
    assert ks == [(1, 3), (1,), (1, 5), (2,)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('kind = "matrix"\n', "'kind' must be one of agents, docs, paper"),
        ('name = "x"\n', "'kind' is missing"),
        (AGENTS + "repeat = 3\n" + COLUMN, "'repeat' is not known; did you mean 'repeats'?"),
        (AGENTS + "samples = 3\n" + COLUMN, "'samples' is not known"),
        (AGENTS + "repeats = 0\n" + COLUMN, "'repeats' must be a whole number of 1 or more"),
        (AGENTS + "[columns]\nagents = []\n", "'columns.agents' must be a list with at least one entry"),
        (AGENTS, "has no column; list agents and models"),
        ('name = "x"\nkind = "agents"\nrows = []\n' + COLUMN, "'rows' must be a list of at least one test case"),
        ('name = "x"\nkind = "agents"\nrows = ["a", "a"]\n' + COLUMN, "'a' appears twice"),
        (AGENTS + '[columns]\nagents = ["planner", "planner-2"]\n', "but 'planner-2' appears twice"),
        (AGENTS + COLUMN + "[limits]\ntasks = 3\n", "'limits.tasks' is not known"),
        (AGENTS + COLUMN + '[settings]\njudge = "offline"\n', "'settings.judge' is not known; did you mean 'judges'?"),
        (AGENTS + 'results = ["gpt.session"]\n' + COLUMN, "'results' must be a list of sessions"),
        (DOCS + 'samples = 2\nk = [1, 3]\n[columns]\ndocs = ["none"]\n', "pass@3 of 2 samples is not defined"),
        (DOCS + 'k = ["1"]\n[columns]\ndocs = ["none"]\n', "'k' must be a list of whole numbers"),
        (DOCS + 'results = ["samples:a.jsonl"]\n', "answers from a file are an evaluator"),
        (DOCS + 'spend_limit = -1\n[columns]\ndocs = ["none"]\n', "'spend_limit' must be a number of 0 or more"),
        ("name = ", "is not valid TOML"),
    ],
)  # fmt: skip
def test_each_mistake_has_its_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BadStudy) as problem:
        read_study_file(written(tmp_path, text))
    assert sentence in str(problem.value)
    assert "\n" not in str(problem.value)
    assert str(problem.value).endswith((".", "?"))


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        (
            Study("x", "agents", ("word_counter",), (StudyColumn("whit"),)),
            "There is no agent 'whit'. Did you mean 'white'?",
        ),
        (Study("x", "agents", ("word_conter",), (StudyColumn("white"),)), "There is no test case"),
        (Study("x", "docs", ("word_counter",), (StudyColumn("orginal"),)), "There is no doc system 'orginal'"),
        (Study("x", "docs", ("all",), (StudyColumn("none"),)), "named one by one"),
    ],
)
def test_what_is_unknown_is_refused(home: Path, study: Study, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        check_study(study)


def test_the_packaged_studies_can_be_ordered(home: Path) -> None:
    assert packaged_studies() == ("agents", "docs", "paper")
    agents, docs = (check_study(study_named(name)) for name in ("agents", "docs"))
    assert len(agents.rows) == 6
    assert len(agents.columns) == 5
    assert (len(docs.rows), len(docs.columns)) == (3, 5)
    with pytest.raises(BadStudy, match="known studies: agents, docs, paper"):
        study_named("agent")


def test_a_program_that_cannot_be_used_is_a_sentence_of_its_cells(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.studies import checking

    def unknown(text: str) -> None:
        raise UsageError("There is no such doc system.")

    monkeypatch.setattr(checking, "parse_docs", unknown)
    study = Study("x", "docs", ("word_counter",), (StudyColumn("repoagent:local", "local"),))
    assert check_study(study).columns == study.columns
    assert column_problem(study, study.columns[0]).startswith("The doc system repoagent:local cannot be used")


def test_a_declaration_comes_back_from_a_session_as_it_was() -> None:
    study = study_named("docs")
    assert Study.from_json(json.dumps(study.to_json())) == study
    for damaged in ("{}", "[]", "x", '{"name": "x", "kind": "docs", "columns": [3]}'):
        with pytest.raises(BadStudy):
            Study.from_json(damaged)


def test_titles_say_only_what_differs() -> None:
    columns = [
        StudyColumn("white", "local"),
        StudyColumn("planner-2", "local"),
        StudyColumn("white", "local", "session:/a/b.session"),
    ]
    assert column_titles(columns) == ["white", "planner-2", "white (b.session)"]
    assert row_titles(["schema", "/a/one", "/b/one", "/b/two"]) == ["schema", "/a/one", "/b/one", "two"]
    assert column_titles([StudyColumn("none", "a/x"), StudyColumn("none", "b/y")]) == ["a/x", "b/y"]
