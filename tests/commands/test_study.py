"""``workbench study``: what it says before, prints at the end, and refuses."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from studies.declared_studies import put_agents, put_matrix

from workbench.cli import main
from workbench.pages.study_page import study_page
from workbench.pages.study_report import study_json
from workbench.pages.writing import rendered
from workbench.session import SessionReader
from workbench.studies.study_reader import read_study

pytest.importorskip("numpy")

SCORES = {
    ("a", "white"): [80.0, 90.0], ("b", "white"): [60.0, 50.0], ("c", "white"): [75.0, 75.0],
    ("a", "x|y <b>"): [70.0, 70.0], ("b", "x|y <b>"): [55.0, None], ("c", "x|y <b>"): [50.0, 40.0],
}  # fmt: skip


def test_the_page_has_the_matrix_comparisons_and_rankings(tmp_path: Path) -> None:
    path = tmp_path / "matrix.session"
    put_matrix(path, 3, 2, 2, 3, 4, random.Random(2))
    with SessionReader(path) as reader:
        outcome = read_study(reader, "matrix")
    page = "".join(rendered(study_page(outcome, resamples=100), "md"))
    assert "3 repositories × 4 columns · 3 samples a task · 144 of 144 candidates · 0.1440 USD" in page
    assert page.count("## pass@") == 2
    summary = outcome.by_column[0].means["pass@1"]
    assert summary.interval.low is not None
    assert f"| mean | {summary.value:.2f} [{summary.interval.low:.2f}, {summary.interval.high:.2f}]" in page
    assert "| documented | 0 % | 0 % | 100 % | 100 % |" in page
    assert page.count("Holm, 2 tests") == 2
    assert "| model/0 | pass@3 | tests |" in page
    values = study_json(outcome, resamples=100)
    assert len(values["comparisons"]) == 4
    assert len(values["cells"]) == 12
    assert json.loads(json.dumps(values)) == json.loads(json.dumps(study_json(outcome, resamples=100)))


def test_show_prints_what_is_there_and_starts_nothing(home, tmp_path, capsys):
    path = tmp_path / "agents.session"
    put_agents(path, SCORES)
    before = path.read_bytes()
    assert main(["study", "agents", "--session", str(path), "--show"]) == 1
    printed = capsys.readouterr().out
    assert "11 of 12 trials" in printed
    assert f"session: {path}" in printed
    assert "| white |" not in printed
    assert main(["study", "agents", "--session", str(path), "--show", "--format", "md"]) == 1
    assert "| 1 | white | 71.7 [" in capsys.readouterr().out
    assert main(["study", "agents", "--session", str(path), "--show", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["done"] == 11
    assert main(["show", str(path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "Study agents: 3 rows × 2 columns, 11 of 12 trials done. To compare: workbench study agents --session" in said
    )
    assert path.read_bytes() == before
    assert main(["study", "docs", "--session", str(path), "--show"]) == 2
    assert "has no study 'docs'; it has agents" in capsys.readouterr().err


def test_a_dry_run_says_what_it_takes_and_leaves_nothing(home, tmp_path, capsys):
    path = tmp_path / "new.session"
    file = tmp_path / "mine.toml"
    file.write_text(
        'name = "mine"\nkind = "docs"\nrows = ["word_counter"]\n[columns]\ndocs = ["none"]\nevaluators = ["reference"]\n'
    )
    assert main(["study", str(file), "--session", str(path), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("mine: 1 row × 1 column = up to 114 candidates, about 0 requests")
    assert said.endswith("Nothing was started.\n")
    assert not path.exists()
    file.write_text(file.read_text() + 'agents = ["white"]\n')
    assert main(["study", str(file), "--session", str(path)]) == 2
    assert "the key 'columns.agents' is not known" in capsys.readouterr().err
    assert main(["study", "mine.toml"]) == 2
    assert "There is no study and no file" in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.sandbox
@pytest.mark.network
def test_a_study_is_executed_and_compared(needs_bubblewrap, repository, tmp_path, capsys):
    path = tmp_path / "docs.session"
    file = tmp_path / "mine.toml"
    file.write_text(
        f'name = "mine"\nkind = "docs"\nrows = ["{repository}"]\nsamples = 1\n'
        '[columns]\ndocs = ["original", "osa:local"]\nevaluators = ["reference", "stub"]\n[settings]\ncontrols = false\n'
    )
    # One cell cannot be executed where OSA is not installed: the others are.
    code = main(["study", str(file), "--session", str(path), "--format", "json"])
    values = json.loads(capsys.readouterr().out)
    cells = {cell["column"]: cell for cell in values["cells"]}
    assert [cells[f"original · {one}"]["means"]["pass@1"]["value"] for one in ("reference", "stub")] == [1.0, 0.0]
    assert cells["original · reference"]["state"] == "done"
    osa = cells["osa:local · reference"]
    assert osa["state"] == "done" or osa["problem"]
    assert code == (0 if osa["state"] == "done" else 1)
