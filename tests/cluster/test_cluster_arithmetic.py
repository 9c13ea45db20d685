"""The arithmetic in docs/guides/cluster.md: every result is what its formula gives for the values above it."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "cluster.md"
ROW = re.compile(r"^\| `(?P<symbol>\w+)` \|(?P<cells>.*)\|$")


def test_every_result_follows_from_the_values_above_it() -> None:
    known: dict[str, float] = {}
    results = 0
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if row is None:
            continue
        cells = [cell.strip() for cell in row["cells"].split("|")]
        assert row["symbol"] not in known, f"{row['symbol']} stands for two things"
        formula = re.fullmatch(r"`([^`]+)`", cells[1])
        if formula is None:
            known[row["symbol"]] = float(cells[1])
            continue
        shown, value = cells[-1], float(eval(formula[1], {"__builtins__": {}}, known))
        digits = len(shown.partition(".")[2])
        assert f"{value:.{digits}f}" == shown, f"{row['symbol']} = {formula[1]} is {value}, not {shown}"
        known[row["symbol"]] = value
        results += 1
    assert results >= 18
    assert 140_000 < known["N"] < 160_000
