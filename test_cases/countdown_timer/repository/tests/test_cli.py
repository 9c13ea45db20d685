import argparse
import subprocess
import sys

import pytest

from countdown_timer import cli
from countdown_timer.clock import Countdown, Stopwatch


def test_duration_argument():
    assert cli.duration_argument("5m") == 300
    with pytest.raises(argparse.ArgumentTypeError, match="'soon': expected"):
        cli.duration_argument("soon")


def test_build_parser():
    options = cli.build_parser().parse_args(["1:30", "--message", "Tea", "--bell", "2", "-q"])
    assert (options.duration, options.message, options.bell, options.quiet) == (90, "Tea", 2, True)
    options = cli.build_parser().parse_args(["-s", "--bell"])
    assert (options.duration, options.stopwatch, options.bell) == (None, True, 1)


def test_interruptible():
    @cli.interruptible
    def command(answer):
        if answer is None:
            raise KeyboardInterrupt
        return answer

    assert command(3) == 3
    assert command(None) == 130
    assert command.__name__ == "command"


def test_run_countdown(clock, console, fake_time):
    assert cli.run_countdown(Countdown(2, Stopwatch(clock)), console, "Tea is ready") == 0
    assert sum(fake_time.naps) == pytest.approx(2)
    assert "Tea is ready" in console.file.getvalue()


def test_run_countdown_quietly(clock, console, fake_time):
    assert cli.run_countdown(Countdown(2, Stopwatch(clock)), console, "Done", quiet=True) == 0
    assert sum(fake_time.naps) == pytest.approx(2)
    assert "00:0" not in console.file.getvalue()


def test_run_countdown_interrupted(clock, console, fake_time):
    fake_time.interrupt_after = 3
    assert cli.run_countdown(Countdown(60, Stopwatch(clock)), console, "Done") == 130
    assert "Done" not in console.file.getvalue()


def test_run_stopwatch(clock, console, fake_time):
    fake_time.interrupt_after = 10
    watch = Stopwatch(clock)
    assert cli.run_stopwatch(watch, console, interval=0.5) == 0
    assert watch.is_running is False
    assert console.file.getvalue().splitlines()[-1] == "00:05.0"


def test_main_counts_down(clock, console, fake_time):
    assert cli.main(["3s", "-m", "Lunch!"], clock, console) == 0
    assert sum(fake_time.naps) == pytest.approx(3)
    assert "Lunch!" in console.file.getvalue()


def test_main_measures(clock, console, fake_time):
    fake_time.interrupt_after = 5
    assert cli.main(["--stopwatch"], clock, console) == 0
    assert "00:00." in console.file.getvalue()


@pytest.mark.parametrize("arguments", [[], ["5m", "--stopwatch"], ["0s"], ["tomorrow"]])
def test_main_refuses(arguments, clock, console, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments, clock, console)
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_the_package_runs():
    done = subprocess.run([sys.executable, "-m", "countdown_timer", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "DURATION" in done.stdout
