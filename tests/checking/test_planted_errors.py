"""Ten planted errors are found, and nothing else; a README without any has no alarm."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from planted import PLANTED, README, planted, write_project

from workbench.checking import BlockVerdict, CheckResult, check, fixed
from workbench.claims.claim import Truth

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.usefixtures("needs_bubblewrap", "one_cache"),
    pytest.mark.xdist_group("checking"),
]


def checked(root: Path, readme: str) -> CheckResult:
    (root / "README.md").write_text(readme)
    return asyncio.run(check(root))


def test_a_true_readme_has_no_alarm(tmp_path: Path) -> None:
    found = checked(write_project(tmp_path), README)
    assert found.alarms == ()
    assert [block.verdict for block in found.blocks] == [BlockVerdict.WORKS] * 6
    assert {claim.lookup.truth for claim in found.claims} == {Truth.TRUE}
    assert {"option", "default", "extra", "file", "python", "licence", "module", "name", "parameter"} <= {
        claim.kind for claim in found.claims
    }


@pytest.mark.slow
def test_a_missing_step_is_found(tmp_path: Path) -> None:
    readme, lines = planted(["missing step"])
    found = checked(write_project(tmp_path), readme)
    assert lines["missing step"] in {alarm.line for alarm in found.alarms}
    reports = {line for line, text in enumerate(readme.splitlines(), 1) if "wordstat report" in text}
    assert {alarm.line for alarm in found.alarms} <= reports
    assert "run index before report" in str(found.alarms[0].reason)


def test_the_other_nine_are_found_and_nothing_else(tmp_path: Path) -> None:
    # Without an index nothing can be reported, so that the missing step would hide what else is wrong with a report.
    readme, lines = planted([name for name in PLANTED if name != "missing step"])
    found = checked(write_project(tmp_path), readme)
    assert {alarm.line for alarm in found.alarms} == set(lines.values()), found.alarms
    near = {
        (claim.line, claim.kind): claim.lookup.nearest for claim in found.claims if claim.lookup.truth is Truth.UNTRUE
    }
    assert near[lines["wrong option"], "option"] == "--stopwatch"
    assert near[lines["renamed function"], "name"] == "top_words"
    assert near[lines["missing extra"], "extra"] == "tables"
    assert near[lines["wrong default"], "default"] == "80"
    assert near[lines["dead command"], "command"] == "report"
    mended, claims = fixed(readme, found.claims)
    assert {claim.lookup.nearest for claim in claims} >= {"--stopwatch", "tables", "80", "report", "Counter"}
    assert "report --stopwatch\n" in mended
    assert "wordstat[tables]" in mended
