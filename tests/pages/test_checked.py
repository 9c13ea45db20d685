"""*Works* and the alarms of a check in every report, each from one figure and in no points."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from workbench.checking.verdicts import RULES, BlockPart, BlockResult, BlockVerdict, CheckResult, to_json, works
from workbench.claims.claim import Claim, LookupResult, PageRange, Truth
from workbench.cli import main
from workbench.pages import write_report
from workbench.results.check_summary import CheckSummary, counting_check
from workbench.session import SessionReader, SessionWriter

EVIL = "<script>alert(9)</script>"
PARTS = (
    BlockPart(12, "say", BlockVerdict.DIFFERS, "it prints something else", diff=("@@ -1 +1 @@", "-a", f"+{EVIL}")),
)
CHECKED = CheckResult(
    ("README.md",),
    (
        BlockResult(
            "README.md",
            12,
            "session",
            BlockVerdict.DIFFERS,
            "it prints something else",
            diff=PARTS[0].diff,
            parts=PARTS,
        ),
        BlockResult("README.md", 20, "shell", BlockVerdict.WORKS),
        BlockResult("README.md", 30, "other", BlockVerdict.NOT_RUN, "it needs a network"),
    ),
    (
        Claim(
            "option",
            "--words",
            PageRange(3, path="README.md"),
            LookupResult(Truth.UNTRUE, "there is no option --words", "--word"),
        ),
        Claim("file", "a.py", PageRange(4, path="README.md"), LookupResult(Truth.TRUE)),
    ),
)
WORDS = "1 of 2 blocks work (1 not run), 1 of 2 claims are true"


def keep(session: Path, trial: str, checked: CheckResult, *, executed: int = 1) -> None:
    """Record a check as an engine does at its end."""
    key = (trial, executed, 10.0, RULES)
    with SessionWriter(session) as writer:
        writer.add_run(f"check-{executed}", "document", {"trials": [trial], "check": "run", "check_only": True})
        writer.set_run(f"check-{executed}", state="done")
        writer.put_check(key, f"check-{executed}")
        writer.set_check(key, state="done", result_blob=writer.blob(to_json(checked)), **asdict(works(checked)))


@pytest.fixture
def checked(documented: tuple[Path, dict[str, str]]) -> tuple[Path, str]:
    session, _ = documented
    with SessionReader(session) as reader:
        trial = next(row.id for row in reader.trials() if row.readme_blob)
    keep(session, trial, CHECKED)
    return session, trial


def written(session: Path, format: str) -> str:
    return str(write_report(session, format, None))


@pytest.mark.parametrize("format", ["html", "md", "show"])
def test_works_and_each_alarm_are_shown(checked, format, capsys):
    session, trial = checked
    if format == "show":
        assert main(["show", str(session), trial]) == 0
        text = capsys.readouterr().out
    else:
        text = written(session, format)
        assert "1/2 · 1/2" in text
    assert text.count(WORDS) == 1
    assert "line 3: untrue: there is no option --words; there is --word" in text
    assert "line 12: differs: it prints something else" in text
    if format == "html":
        assert EVIL not in text
        assert "+&lt;script&gt;" in text


def test_programs_get_the_counts_and_the_whole_check(checked: tuple[Path, str]) -> None:
    session, trial = checked
    trials = json.loads(written(session, "json"))["trials"]
    mine = next(one for one in trials if one["trial"] == trial)
    assert mine["works"] == {
        "works": 1, "run": 2, "blocks": 3, "true": 1, "decided": 2, "claims": 2, "blocks_share": 0.5, "claims_share": 0.5,
    }  # fmt: skip
    assert [one["verdict"] for one in mine["check"]["blocks"]] == ["differs", "works", "not run"]
    assert {(one["works"], one["check"]) for one in trials if one is not mine} == {(None, None)}
    rows = {row["trial"]: row for row in csv.DictReader(io.StringIO(written(session, "csv")))}
    names = ("blocks_work", "blocks_run", "blocks", "claims_true", "claims_decided", "claims")
    assert [rows[trial][name] for name in names] == ["1", "2", "3", "1", "2", "2"]
    assert {rows[key]["blocks"] for key in rows if key != trial} == {""}


def test_a_check_with_blocks_counts_before_claims_alone_and_damaged_counts_not_at_all(checked):
    session, trial = checked
    keep(session, trial, CheckResult(("README.md",), (), CHECKED.claims[:1]), executed=0)
    with SessionReader(session) as reader:
        both = reader.checks(trial)
        found = counting_check(both)
    assert len(both) == 2
    assert found is not None
    assert found.executed == 1
    with SessionWriter(session) as writer, writer.transaction() as connection:
        connection.execute("UPDATE checks SET fails = 'some' WHERE executed = 1")
    assert "0 of 1 claims are true" in written(session, "md")
    with SessionWriter(session) as writer, writer.transaction() as connection:
        connection.execute("DELETE FROM blobs WHERE digest IN (SELECT result_blob FROM checks)")
    text = written(session, "md")
    assert "0 of 1 claims are true" in text
    assert "missing from the session file" in text


def test_a_share_without_a_denominator_is_none() -> None:
    nothing = CheckSummary()
    assert (nothing.blocks_share, nothing.claims_share) == (None, None)
    assert nothing.words() == "it has neither blocks nor claims"
    assert nothing.short() == "– · –"
    assert replace(works(CHECKED), works=0, differs=0).words() == "none of 1 blocks was run, 1 of 2 claims are true"
