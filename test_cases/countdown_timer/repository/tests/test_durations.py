import pytest

from countdown_timer import durations
from countdown_timer.durations import DurationError


def test_duration_error_keeps_its_parts():
    error = DurationError("x", "is wrong")
    assert (error.text, error.reason, str(error)) == ("x", "is wrong", "'x': is wrong")


def test_to_seconds():
    assert durations.to_seconds(1, 2, 5) == 3725
    assert durations.to_seconds(minutes=2) == 120


def test_split_seconds():
    assert durations.split_seconds(3725) == (1, 2, 5)
    assert durations.split_seconds(59) == (0, 0, 59)


def test_is_clock_notation():
    assert durations.is_clock_notation("1:30") is True
    assert durations.is_clock_notation("90s") is False


@pytest.mark.parametrize(("text", "seconds"), [("1:30", 90), ("0:05", 5), ("90:00", 5400), ("1:00:05", 3605)])
def test_parse_clock(text, seconds):
    assert durations.parse_clock(text) == seconds


@pytest.mark.parametrize("text", ["1:2:3:4", "1:", ":30", "a:30", "1:-5", "1:٣"])
def test_parse_clock_refuses_other_shapes(text):
    with pytest.raises(DurationError, match="expected M:SS or H:MM:SS"):
        durations.parse_clock(text)


@pytest.mark.parametrize("text", ["1:60", "1:60:00", "0:99"])
def test_parse_clock_refuses_large_parts(text):
    with pytest.raises(DurationError, match="go up to 59"):
        durations.parse_clock(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("5m", 300), ("1h", 3600), ("1h30m", 5400), ("2m5s", 125), ("45", 45)]
)
def test_parse_units(text, seconds):
    assert durations.parse_units(text) == seconds


@pytest.mark.parametrize("text", ["", "m", "5x", "5s2m", "1.5h", "-3s", "5m 3s"])
def test_parse_units_refuses(text):
    with pytest.raises(DurationError, match="expected something like"):
        durations.parse_units(text)


@pytest.mark.parametrize(("text", "seconds"), [(" 5M ", 300), ("1:30", 90), ("100h", 360_000)])
def test_parse_duration(text, seconds):
    assert durations.parse_duration(text) == seconds


def test_parse_duration_refuses_nothing_and_too_much():
    with pytest.raises(DurationError, match="longer than nothing"):
        durations.parse_duration("0:00")
    with pytest.raises(DurationError, match="at most 100 hours"):
        durations.parse_duration("100h1s")


@pytest.mark.parametrize(("seconds", "text"), [(0, "00:00"), (65, "01:05"), (3599, "59:59"), (3600, "1:00:00")])
def test_format_clock(seconds, text):
    assert durations.format_clock(seconds) == text


def test_format_tenths():
    assert durations.format_tenths(65.48) == "01:05.4"
    assert durations.format_tenths(0) == "00:00.0"


@pytest.mark.parametrize(("seconds", "text"), [(5400, "1h 30m"), (61, "1m 1s"), (3600, "1h"), (0, "0s")])
def test_format_duration(seconds, text):
    assert durations.format_duration(seconds) == text
