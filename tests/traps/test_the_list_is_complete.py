"""The checklist beside this file names every test file here, and every file that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_the_checklist_and_the_files_agree() -> None:
    named = set(re.findall(r"`((?:tests/\w+/)?test_\w+\.py)`", (HERE / "README.md").read_text()))
    assert all((HERE.parent.parent / name if "/" in name else HERE / name).is_file() for name in named), named
    here = {path.name for path in HERE.glob("test_*.py")} - {Path(__file__).name}
    assert here == {name for name in named if "/" not in name}
