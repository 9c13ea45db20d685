"""Ten planted errors are found, and nothing else; a README without any has no alarm."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from planted import PLANTED, README, planted, write_project

from workbench.checking import Checked, Truth, Verdict, check

pytestmark = [pytest.mark.sandbox, pytest.mark.usefixtures("needs_bubblewrap", "one_cache"), pytest.mark.xdist_group("checking")]


def checked(root: Path, readme: str) -> Checked:
    (root / "README.md").write_text(readme)
    return asyncio.run(check(root))


def test_a_true_readme_has_no_alarm(tmp_path: Path) -> None:
    found = checked(write_project(tmp_path), README)
    assert found.alarms == ()
    assert [block.verdict for block in found.blocks] == [Verdict.WORKS] * 6
    assert {claim.truth for claim in found.claims} == {Truth.TRUE}
    assert {"option", "default", "extra", "file", "python", "licence", "module", "name", "parameter"} <= {
        claim.kind for claim in found.claims
    }


def test_all_ten_are_found_and_nothing_else(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    # Without an index nothing can be reported, so that the missing step hides what else is wrong with a report.
    together = [name for name in PLANTED if name != "missing step"]
    for names in (together, ["missing step"]):
        readme, lines = planted(names)
        found = checked(root, readme)
        assert {alarm.line for alarm in found.alarms} >= set(lines.values()), names
        missing = {line for line, text in enumerate(readme.splitlines(), 1) if names == ["missing step"] and "wordstat report" in text}
        assert {alarm.line for alarm in found.alarms} <= set(lines.values()) | missing, found.alarms


def test_the_nearest_true_name_is_told(tmp_path: Path) -> None:
    readme, lines = planted([name for name in PLANTED if name != "missing step"])
    found = checked(write_project(tmp_path), readme)
    near = {claim.line: claim.nearest for claim in found.claims if claim.truth is Truth.UNTRUE}
    assert near[lines["wrong option"]] == "--stopwatch"
    assert near[lines["renamed function"]] == "top_words"
    assert near[lines["missing extra"]] == "tables"
    assert near[lines["wrong default"]] == "80"
    assert near[lines["dead command"]] == "report"
