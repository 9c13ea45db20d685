"""Looking into a session must not take away the locks of those who work with it in the same process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from workbench.session import SessionReader, SessionWriter, create

_VISITOR = """
import sys
from pathlib import Path
from workbench.session import SessionReader
with SessionReader(Path(sys.argv[1])) as reader:
    print(len(reader.runs()))
"""


def _visit(path: Path) -> int:
    ran = subprocess.run([sys.executable, "-c", _VISITOR, str(path)], capture_output=True, text=True, check=True)
    return int(ran.stdout)


def test_a_visitor_leaves_the_log_of_a_running_writer_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.session"
    create(path)
    with SessionWriter(path) as writer:
        writer.add_run("one", "document", {})
        # What the engine and the app do all the time: look into the file a second time.
        SessionReader(path, surveyed=False).close()
        SessionReader(path).close()
        assert _visit(path) == 1
        assert Path(f"{path}-wal").exists(), "the visitor took itself for the last and deleted the log"
        writer.add_run("two", "document", {})
        assert _visit(path) == 2
    assert not Path(f"{path}-wal").exists()
