"""Many programs write, checkpoint and read one session: none takes the file for another one's, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from samples.sessions import integrity_problem
from sweeps import ALL

from workbench.session import SessionReader, create, log

WRITERS, VISITORS, ROUNDS = (8, 2, 150) if ALL else (3, 1, 25)

# Every round is a transaction, a checkpoint and a look at the file, with nothing in between to keep writers apart.
_WRITER = """
import sys
from pathlib import Path
from workbench.session import SessionWriter
path, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
sys.stdin.read()
with SessionWriter(path) as writer:
    for number in range(rounds):
        writer.add_run(f"{name}-{number}", "document", {"filling": "x" * 900})
        writer.checkpoint()
        print(writer.fate().value)
"""
_VISITOR = """
import sys
from pathlib import Path
from workbench.session import SessionReader
sys.stdin.read()
for number in range(int(sys.argv[3])):
    with SessionReader(Path(sys.argv[1])) as reader:
        reader.runs()
        print(reader.fate().value)
"""


def test_no_writer_takes_the_file_for_another_ones(tmp_path: Path) -> None:
    path = tmp_path / "shared.session"
    create(path)
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(path), f"{number}", str(ROUNDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, program in enumerate([_WRITER] * WRITERS + [_VISITOR] * VISITORS)
    ]
    for process in begun:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    for process in begun:
        said, err = process.communicate(timeout=100)
        assert process.returncode == 0, err
        assert said.split("\n")[:-1] == ["in place"] * ROUNDS
    with SessionReader(path) as reader:
        assert len(reader.runs()) == WRITERS * ROUNDS
    assert integrity_problem(path) is None
    assert log.logs_set_aside(path) == []
