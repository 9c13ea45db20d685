"""``workbench check`` as a person, a hook and a CI see it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from planted import README, planted, write_project

from workbench.cli import main

pytestmark = [pytest.mark.usefixtures("one_cache"), pytest.mark.xdist_group("checking")]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with three untrue claims, as the working directory."""
    root = write_project(tmp_path)
    (root / "README.md").write_text(planted(["wrong option", "wrong default", "missing file"])[0])
    monkeypatch.chdir(root / "docs")
    return root


def test_the_readme_is_found_from_below_and_told_like_by_a_test_runner(checkout, capsys):
    assert main(["check", "--no-run"]) == 1
    out = capsys.readouterr().out.splitlines()
    line = (checkout / "README.md").read_text().splitlines().index("$ wordstat report --stopwach") + 1
    assert f"README.md:{line}: untrue: there is no option --stopwach; there is --stopwatch" in out
    assert any(text.endswith("untrue: 72: the default of --columns is 80") for text in out)
    assert out[-1].startswith("15 claims: 12 true, 3 untrue") or "3 untrue" in out[-1]


def test_a_true_readme_ends_with_0_and_wrong_usage_with_2(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "README.md").write_text(README)
    assert main(["check", "--no-run"]) == 0
    assert main(["check", "nowhere.md", "--no-run"]) == 2
    assert main(["check", "--source", "nowhere-at-all"]) == 2
    (checkout / "README.md").unlink()
    (checkout / "docs" / "guide.md").unlink()
    assert main(["check", "--no-run"]) == 2
    assert "There is no README and no page of docs" in capsys.readouterr().err


def test_json_github_and_junit_say_the_same(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--no-run", "--format", "json"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    untrue = [line for line in lines if line.get("truth") == "untrue"]
    assert lines[-1]["claims"]["untrue"] == len(untrue) == 3
    main(["check", "--no-run", "--format", "github"])
    annotations = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::error ")]
    assert len(annotations) == 3
    assert f"::error file=README.md,line={untrue[0]['line']},title=" in annotations[0]
    main(["check", "--no-run", "--format", "junit"])
    suites = ET.fromstring("\n".join(capsys.readouterr().out.splitlines()[1:]))
    suite = next(one for one in suites if one.get("name") == "README.md")
    assert suite.get("failures") == "3" == str(len(suite.findall("testcase/failure")))
    assert int(suite.get("tests", "")) == len(suite.findall("testcase"))


def test_fix_claims_writes_what_can_only_be_meant(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--no-run", "--fix-claims"]) == 1
    text = (checkout / "README.md").read_text()
    assert "report --stopwatch" in text
    assert "(default: 80)" in text
    assert "docs/handbook.md" in text, "nothing is near it, so it is left alone"
    main(["check", "--no-run"])
    assert "1 untrue" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.usefixtures("needs_bubblewrap")
def test_a_second_run_uses_the_cached_environment(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "README.md").write_text(README)
    said = []
    for text in (README, f"{README}\nA line more.\n"):
        (checkout / "README.md").write_text(text)
        assert main(["check", "--format", "json"]) == 0
        said.append(json.loads(capsys.readouterr().out.splitlines()[-1]))
    assert said[1]["cached"], "a page that changes leaves the environment as it is"
    assert said[0]["blocks"] == said[1]["blocks"]
