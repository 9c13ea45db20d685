"""What was sent for a step: kinds of parts, tokens that add up to what was counted, and what is new."""

from __future__ import annotations

from pathlib import Path

from app.recorded import SYSTEM, TASK, Recorder
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.results.context_usage import read_context_usage, share_out
from workbench.session import SessionReader


def test_growth_between_requests_is_what_the_new_parts_take(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "steps.session")
    recorder.run()
    recorder.trial("t", state="running")
    first = [("system", SYSTEM), ("user", TASK)]
    more = [("assistant", "<json>…</json>"), ("user", "the listing")]
    recorder.tool("t", 1, "list_directory", ".", "x", messages=first, tokens=140)
    recorder.tool("t", 2, "read_file", "a", "x", messages=[*first, *more], tokens=200)
    recorder.tool("t", 3, "read_file", "b", "x", messages=[*first, ("user", "a summary")], tokens=190)
    recorder.step("t", 4, "error", "", "")
    recorder.close()
    with SessionReader(tmp_path / "steps.session") as reader:
        one, two, three, error = (read_context_usage(reader, step) for step in reader.steps("t"))
    assert error is None
    assert one is not None
    assert [(part.kind, part.new) for part in one.parts] == [("system", True), ("task", True)]
    assert (one.previous, sum(part.tokens or 0 for part in one.parts)) == (None, 100)
    assert two is not None
    assert [(part.kind, part.step, part.new) for part in two.parts[2:]] == [
        ("answer", 1, True), ("observation", 1, True),
    ]  # fmt: skip
    assert not any(part.new for part in two.parts[:2])
    # The recorder's requests count 40 tokens less than the step.
    assert sum(part.tokens or 0 for part in two.parts[2:]) == 60
    assert sum(part.tokens or 0 for part in two.parts) == two.tokens == 160
    assert three is not None
    assert [part.kind for part in three.dropped] == ["answer", "observation"]
    assert [part.new for part in three.parts] == [False, False, True]


@settings(max_examples=30)
@given(st.lists(st.integers(0, 10_000), min_size=1), st.integers(0, 100_000))
def test_shares_add_up(sizes: list[int], tokens: int) -> None:
    shares = share_out(sizes, [(len(sizes), tokens)])
    assert abs(sum(share or 0 for share, _ in shares) - tokens) < 1e-6 * max(1, tokens)
    assert [exact for _, exact in shares] == [len(sizes) == 1] * len(sizes)
    assert share_out(sizes, [(len(sizes), None)]) == [(None, False)] * len(sizes)
