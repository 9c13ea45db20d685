"""The paper's 28 repositories: counts equal the paper's tables, and every repository marked as built has a record."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from workbench.catalog import UnknownCase, find_case, resolve_case
from workbench.catalog.repositories import BUILT as BUILT_STATUSES
from workbench.catalog.repositories import (
    NOT_CHECKED,
    TASKS_IN_THE_TEXT,
    BuildRecord,
    PaperRepository,
    bundled_record,
    find_repository,
    load_repositories,
    published_counts,
    record_of,
    write_record,
)
from workbench.cli import main
from workbench.commands.catalog import page
from workbench.pages.writing import rendered
from workbench.repository import parse_source

ROOT = Path(__file__).parents[2]
ENTRIES = load_repositories()
BUILT = [entry for entry in ENTRIES if entry.status in BUILT_STATUSES]


def test_there_are_28_with_the_counts_of_table_2() -> None:
    assert len(ENTRIES) == 28
    counts = [entry.published for entry in ENTRIES]
    assert [sum(c.candidates for c in counts), sum(c.all_tasks for c in counts), sum(c.tasks for c in counts)] == [
        7563,
        3350,
        3094,
    ]
    assert TASKS_IN_THE_TEXT == 2924
    assert {entry.repository: entry.published for entry in ENTRIES} == dict(published_counts())
    schema = find_repository("keleshev/schema").published
    assert (schema.candidates, schema.all_tasks, schema.tasks, schema.forks, schema.stars) == (188, 178, 178, 215, 2940)


def test_every_entry_says_what_was_tried_and_is_a_valid_source() -> None:
    for entry in ENTRIES:
        check_entry(entry)


def check_entry(entry: PaperRepository) -> None:
    assert len(entry.tried) > 40
    assert "TODO" not in entry.tried
    assert entry.url == f"https://github.com/{entry.repository}"
    assert parse_source(entry.source).kind == ("sdist" if entry.usable else "git")
    assert resolve_case(entry.repository).source == entry.source
    assert resolve_case(entry.name.upper()).name == entry.repository
    assert find_repository(f"{entry.url}.git") is entry
    if entry.distribution:
        assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
    # A commit that nobody published would be an invention.
    assert entry.revision == ""


def test_what_builds_has_a_record_with_perfect_controls_and_each_unusable_test_is_quarantined_with_why() -> None:
    assert len(BUILT) >= 10
    for entry in BUILT:
        record = bundled_record(entry)
        assert record is not None, f"workbench catalog check {entry.name} --record workbench/catalog/records"
        assert (record.repository, record.source) == (entry.repository, entry.distribution)
        assert record.tasks > 0
        assert (record.reference, record.stub) == (record.tasks, 0)
        assert record.sound
        assert record.functions >= record.traced >= record.in_time >= record.tasks
        assert record.tasks + sum(record.dropped.values()) == record.functions
        unusable = (*record.failing, *record.unstable)
        assert all(any(one.means(test) for one in entry.quarantined) for test in unusable), entry.name
        assert all(any(one.means(test) for test in unusable) for one in entry.quarantined), entry.name
        assert entry.status == ("partly" if entry.quarantined else "builds")


def test_what_does_not_build_or_is_not_checked_has_no_record() -> None:
    assert [entry.name for entry in ENTRIES if entry not in BUILT and bundled_record(entry)] == []
    assert NOT_CHECKED not in BUILT_STATUSES


def test_a_test_case_and_a_folder_come_before_the_catalogue(home, tmp_path, monkeypatch):
    assert resolve_case("word_counter") == find_case("word_counter")
    monkeypatch.chdir(tmp_path)
    assert resolve_case("schema").name == "keleshev/schema"
    (tmp_path / "schema").mkdir()
    assert resolve_case("schema").source == str(tmp_path / "schema")
    own = home / "data" / "test_cases" / "radicli"
    (own / "repository").mkdir(parents=True)
    (own / "case.toml").write_text('id = "radicli"\n')
    assert resolve_case("radicli").folder == own


@pytest.mark.parametrize("text", ["keleshev/shema", "shema"])
def test_an_unknown_name_is_told_near_ones(home: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnknownCase, match="did you mean keleshev/schema"):
        resolve_case(text)
    assert main(["catalog", text]) == 2
    assert main(["tasks", text]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert all("did you mean keleshev/schema?" in line for line in told)


def test_the_command_lists_all_with_a_total(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog"]) == 0
    out = capsys.readouterr().out
    for entry in ENTRIES:
        assert entry.repository in out
    assert "7,563" in out
    assert "sum to 3,094; the paper's text says 2,924" in " ".join(out.split())
    assert main(["catalog", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 29
    assert lines[-1]["published"] == {"candidates": 7563, "all_tasks": 3350, "tasks": 3094}
    assert lines[-1]["built"] == len(BUILT)
    assert lines[-1]["here"]["tasks"] == lines[-1]["here"]["reference"] > 0
    assert lines[-1]["here"]["stub"] == 0


def test_one_repository_is_shown_with_everything_tried_and_its_published_scores(home, capsys):
    assert main(["catalog", "pytube"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    entry = find_repository("pytube")
    for text in (
        entry.url,
        entry.distribution,
        entry.sha256,
        entry.tried,
        entry.quarantined[0].why,
        "pass@3",
        "RepoAgent",
    ):
        assert text in out
    assert main(["catalog", "pytube", "schema", "--json"]) == 0
    first, second, closing = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["repository"], second["repository"], closing["repositories"]) == (
        "pytube/pytube",
        "keleshev/schema",
        2,
    )
    assert len(first["published"]["pass_at_k"]) == 20


def test_the_page_of_the_documentation_is_current() -> None:
    told = "write it again: workbench catalog --markdown > docs/reference/catalogue.md"
    assert (ROOT / "docs" / "reference" / "catalogue.md").read_text(encoding="utf-8") == "".join(
        rendered(page(), "md")
    ), told


def test_ones_own_record_is_shown_instead_of_the_bundled_one(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = find_repository("schema")
    bundled = bundled_record(entry)
    assert bundled is not None
    values = bundled.to_json() | {"tasks": 12345, "reference": 12344}
    file = write_record(entry, BuildRecord(**values))
    assert file.is_relative_to(home)
    own = record_of(entry)
    assert own is not None
    assert own.tasks == 12345
    assert not own.sound
    assert bundled_record(entry) == bundled
    assert main(["catalog"]) == 0
    assert "12,344/12,345" in capsys.readouterr().out
    file.write_text("{}")
    assert main(["catalog"]) == 1
    told = capsys.readouterr().err
    assert str(file) in told
    assert len(told.splitlines()) == 1


def test_options_of_a_check_without_a_check_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalog", "schema", "--record"]) == 2
    assert "unrecognized arguments: --record. See workbench catalog list --help." in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.network
@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_check_finds_the_recorded_counts_again(home, tmp_path, capsys):
    entry = find_repository("arithmetic-compressor")
    recorded = bundled_record(entry)
    assert recorded is not None
    assert main(["catalog", "check", entry.name, "--record", str(tmp_path / "records"), "--json"]) == 0
    line, closing = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert closing == {"type": "summary", "checked": 1, "failed": 0}
    assert line["wrong"] == []
    written = json.loads((tmp_path / "records" / f"{entry.name}.json").read_text())
    different = {"seconds", "date", "python", "sandbox", "workbench"}
    assert {k: v for k, v in written.items() if k not in different} == {
        k: v for k, v in recorded.to_json().items() if k not in different
    }
