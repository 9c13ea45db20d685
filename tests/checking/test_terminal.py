"""A program that wants a terminal has one, of a fixed size, at which nobody types."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from planted import write_project

from workbench.checking import check

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.usefixtures("needs_bubblewrap", "one_cache"),
    pytest.mark.xdist_group("checking"),
]

PROGRAM = """
import os, sys
def main():
    if "--plain" in sys.argv:
        print("terminal" if sys.stdout.isatty() else "file")
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.exit("error: this is not a terminal")
    size = os.get_terminal_size()
    print("size", size.columns, size.lines, os.environ["TERM"], repr(sys.stdin.read()))
    if "--ask" in sys.argv:
        input("Your name? ")
"""
PAGE = """# wordstat

```console
$ wordstat
size 80 24 xterm ''
```

```bash
wordstat --ask
```

```console
$ wordstat --plain
file
```
"""


def test_a_program_that_wants_a_terminal_has_one(tmp_path: Path) -> None:
    root = write_project(tmp_path)
    (root / "wordstat" / "cli.py").write_text(PROGRAM)
    (root / "README.md").write_text(PAGE)
    found = [asyncio.run(check(root)).blocks for _ in range(2)]
    assert [str(block.verdict) for block in found[0]] == ["works", "not run", "works"]
    assert [block.reason for block in found[0]] == [block.reason for block in found[1]]
    assert "terminal" in found[0][1].reason
