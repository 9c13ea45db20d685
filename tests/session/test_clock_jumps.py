"""A clock that is set while engines work: ages, leases and what is on its way, by the time that both directions show."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.base.text import age, duration
from workbench.session import SessionReader, SessionWriter, create, engine_starts, lease

HOUR = 3600.0


@pytest.fixture
def writer(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SessionWriter]:
    """A session with a run, of which another machine has the lease; that is watched for a third of a second."""
    monkeypatch.setattr(lease, "WATCHED_SECONDS", 0.35)
    create(tmp_path / "clock.session")
    with SessionWriter(tmp_path / "clock.session") as made:
        made.add_run("run1", "document", {"cases": []})
        with monkeypatch.context() as there:
            there.setattr(socket, "gethostname", lambda: "elsewhere")
            made.acquire("run1")
        yield made


def set_clock(monkeypatch: pytest.MonkeyPatch, by: float) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + by)


@pytest.mark.parametrize("by", [HOUR, -HOUR])
def test_a_living_engine_elsewhere_keeps_its_lease(writer, monkeypatch, by):
    set_clock(monkeypatch, by)
    over = threading.Event()

    def live() -> None:
        beat = time.time() - by
        with SessionWriter(writer.path) as other:
            while not over.wait(0.02):
                beat += 5.0
                other.update("leases", {"run_id": "run1"}, {"heartbeat_at": beat})

    engine = threading.Thread(target=live)
    engine.start()
    try:
        with pytest.raises(lease.RunHeld, match="another machine"):
            writer.acquire("run1")
    finally:
        over.set()
        engine.join()


@pytest.mark.parametrize("by", [HOUR, -HOUR])
def test_a_dead_engine_elsewhere_is_followed(writer: SessionWriter, monkeypatch: pytest.MonkeyPatch, by: float) -> None:
    with pytest.raises(lease.RunHeld):
        writer.acquire("run1")
    set_clock(monkeypatch, by)
    assert writer.acquire("run1").host == socket.gethostname()


def test_a_lease_that_was_copied_with_its_file_is_not_watched(writer, monkeypatch):
    writer.update("leases", {"run_id": "run1"}, {"file": "1:2", "heartbeat_at": time.time() - HOUR})
    monkeypatch.setattr(lease, "WATCHED_SECONDS", 1e9)
    assert writer.acquire("run1").host == socket.gethostname()


@pytest.mark.parametrize("by", [HOUR, -HOUR])
def test_what_was_on_its_way_before_the_clock_was_set_is_not_for_ever(writer, monkeypatch, by):
    engine_starts.announce("run1")
    assert engine_starts.is_coming("run1")
    set_clock(monkeypatch, by)
    assert not engine_starts.is_coming("run1")


def test_the_engine_of_this_machine_is_known_by_its_process_whatever_the_clock_says(writer, monkeypatch):
    writer.add_run("mine", "document", {"cases": []})
    writer.acquire("mine")
    for by in (HOUR, -2 * HOUR):
        set_clock(monkeypatch, by)
        with SessionReader(writer.path) as reader:
            assert reader.holder("mine") is not None


def test_ages_and_durations_are_never_negative() -> None:
    assert age(time.time() + HOUR) == "now"
    assert duration(-HOUR) == "0 s"
