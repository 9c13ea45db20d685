"""Metrics of the tasks of a session: which pairs of texts, over which tasks, and how the command prints them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from app.regenerated import RUN, Recorder

from workbench.cli import main
from workbench.metrics.tasks import measure_run, to_json
from workbench.metrics.texts import text_metric
from workbench.repository.fetching import fetch
from workbench.session import SessionReader, SessionWriter

pytest.importorskip("scipy")
pytest.importorskip("sacrebleu")
pytest.importorskip("rouge_score")

NAMES = [f"count_{word}" for word in ("lines", "words", "bytes", "tabs", "signs", "marks")]
SOURCE = "\n\n".join(
    f'def {name}(text):\n    """Original: {name} of a text."""\n    return len(text) + {n}'
    for n, name in enumerate(NAMES)
)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Two runs on the same six functions: one with docs of a model, one with the original ones."""
    recorder = Recorder(tmp_path / "two.session")
    blob = recorder.writer.blob
    recorder.run()
    recorder.run(run_id="original")
    for place, name in enumerate(NAMES):
        source, body = blob(SOURCE), f"return len(text) + {place}"
        docs = f"Count. See `{name}` and `missing_name`."
        task = recorder.task(
            name, place, docs="llm", body=body, docstring=docs, source_blob=source, leak=place / 10, path=f"f{place}.py"
        )
        # The more samples pass, the more of them have the original body.
        recorder.cells(task, "✓" * place + "✗" * (5 - place))
        for sample in range(5):
            mine = blob(body if sample < place else "raise KeyError")
            with recorder.writer.transaction() as connection:
                connection.execute(
                    "UPDATE candidates SET body_blob = ? WHERE task_id = ? AND sample = ?", (mine, task, sample)
                )
        recorder.cells(task, "✓", evaluator="reference", control=True)
        recorder.task(
            name, place, run_id="original", path=f"f{place}.py", docstring=f"Original: {name} of a text.", body=body
        )
    recorder.close()
    return recorder.path


def columns(session: Path, *metrics: str):
    with SessionReader(session) as reader:
        (group,) = measure_run(reader, RUN, metrics)
    return group, {(one.metric, one.pair): one for one in group.columns}


def test_the_three_pairs_are_of_the_texts_that_they_say(session):
    group, found = columns(session, "rouge-1")
    assert set(found) == {("rouge-1", "doc-doc"), ("rouge-1", "code-code"), ("rouge-1", "code-doc")}
    score = text_metric("rouge-1")
    task = f"{RUN}-count_bytes"
    docs, body = "Count. See `count_bytes` and `missing_name`.", "return len(text) + 2"
    assert found["rouge-1", "doc-doc"].values[task] == score(docs, "Original: count_bytes of a text.")
    assert found["rouge-1", "code-doc"].values[task] == score(docs, body)
    of_code = [score(body, body)] * 2 + [score("raise KeyError", body)] * 3
    assert found["rouge-1", "code-code"].values[task] == pytest.approx(sum(of_code) / 5)
    assert group.tasks == 6  # and no group of the controls


def test_what_goes_with_pass_at_k_is_found(session):
    _, found = columns(session, "rouge-1", "leakage")
    for key in (("rouge-1", "code-code"), ("leakage", "doc")):
        pearson, spearman, _ = found[key].correlations[1]
        assert (pearson.kind, spearman.value) == ("pearson", pytest.approx(1.0))
        assert (pearson.unit, pearson.units) == ("file", 6)
    assert found["leakage", "doc"].mean == pytest.approx(0.25)
    assert found["leakage", "doc"].interval.unit == "file"


def test_metrics_of_the_docs_alone(session):
    _, found = columns(session, "completeness-docagent", "completeness-strict", "truthfulness")
    assert set(found["truthfulness", "doc"].values.values()) == {0.5}
    # Of summary, description, args, returns, examples there is a summary; docagent wants raises for the call too.
    assert set(found["completeness-strict", "doc"].values.values()) == {0.2}
    assert set(found["completeness-docagent", "doc"].values.values()) == {1 / 6}


def test_original_docs_are_not_compared_with_themselves(session):
    with SessionReader(session) as reader:
        assert measure_run(reader, "original", ("bleu",)) == ()  # no sample, no group
        assert measure_run(reader, "unknown") == ()
    with SessionReader(session) as reader:
        (group,) = measure_run(reader, RUN, ("bleu",))
    assert json.loads(json.dumps(to_json(group)))["metrics"][0]["pair"] == "doc-doc"


def test_truthfulness_knows_the_names_of_the_whole_repository_where_it_is_in_the_cache(session, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "elsewhere.py").write_text("missing_name = 1\n")
    (tmp_path / "project" / "main.py").write_text(SOURCE)
    snapshot = fetch(str(tmp_path / "project")).digest
    with SessionWriter(session) as writer, writer.transaction() as connection:
        connection.execute("UPDATE tasks SET snapshot = ?", (snapshot,))
    group, found = columns(session, "truthfulness")
    assert set(found["truthfulness", "doc"].values.values()) == {1.0}
    assert any("all Python files of the repository" in note for note in group.notes)
    group, _ = columns(session, "leakage")
    assert not any("truthfulness" in note for note in group.notes)


def test_the_command_prints_tables_and_json(session, capsys):
    assert main(["metrics", str(session)]) == 0
    out = capsys.readouterr().out
    assert "docs llm" in out
    assert "code-code" in out
    assert "pass@3" in out
    assert "Intervals over 6 files" in out
    assert "Note: truthfulness looks for names in the files that have tasks" in out
    assert main(["metrics", str(session), "--metric", "leakage", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["metrics"][0]["correlations"]["1"]["spearman"]["value"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("more", "words", "code"),
    [
        (["--metric", "meteor"], "There is no metric 'meteor'", 2),
        (["--metric", "codebertscore"], "model not available", 1),
        (["--run", "zzz"], "has no regeneration run 'zzz'", 2),
    ],
)
def test_bad_input_is_one_sentence(session, capsys, more, words, code):
    assert main(["metrics", str(session), *more]) == code
    printed = capsys.readouterr().err
    assert words in printed
    assert printed.count("\n") == 1
