"""What is read of a trial for a comparison."""

from __future__ import annotations

from pathlib import Path

from app.recorded import Recorder

from workbench.comparison.trials import join_files, read_side
from workbench.session import SessionReader


def test_a_file_of_which_the_agent_was_shown_a_part_is_partly_read(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "demo.session")
    recorder.run()
    for trial, shown in (("whole", 30_000), ("cut", 10_000)):
        recorder.trial(trial)
        recorder.snapshot(trial, [("long.py", 30_000), ("other.py", 10)])
        recorder.seen(trial, "long.py", "read", 1, shown)
        recorder.seen(trial, "other.py", "listed", 2)
    recorder.close()
    with SessionReader(recorder.path) as reader:
        sides = [read_side(reader, trial, "aeo-bench", "offline") for trial in ("whole", "cut")]
    assert sides[0] is not None
    assert sides[1] is not None
    looks = {one.name: (one.left, one.right, one.sign[0]) for one in join_files(sides[0].seen, sides[1].seen)}
    assert looks == {"long.py": ("read", "partly read", "▼"), "other.py": ("listed", "listed", "=")}
