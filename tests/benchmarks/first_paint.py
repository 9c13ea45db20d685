"""Time to first paint of the workbench against a bare Textual app, interleaved in one run.

Both programs run in a pseudo-terminal of 120x40; the clock runs from the start of the process until a mark that only the
painted screen holds has arrived. The processor time that went into it is printed beside it: on a machine that does other
work at the same time it is the steadier figure. Run it with ``python tests/benchmarks/first_paint.py [rounds]``.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

from figures import Figure, publish

ROOT = Path(__file__).resolve().parents[2]
TARGET = 1.2

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("bare mark")
Bare().run()
"""
OURS = "import sys; sys.argv = ['workbench']; from workbench.cli import main; main()"
PROGRAMS = {"bare": (BARE, b"bare mark"), "workbench": (OURS, b"Workbench")}


def environment(folder: Path) -> dict[str, str]:
    """Return the environment: bytecode allowed (as for any user), own folders, a terminal with colours."""
    kept = {key: value for key, value in os.environ.items() if key not in {"PYTHONDONTWRITEBYTECODE", "NO_COLOR"}}
    own = {f"WORKBENCH_{name}_DIR": str(folder / name.lower()) for name in ("DATA", "CACHE", "CONFIG", "STATE")}
    return kept | own | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": str(ROOT)}


def seconds_to_paint(code: str, mark: bytes, env: dict[str, str]) -> tuple[float, float]:
    """Start a program in a pseudo-terminal; return the seconds, and processor seconds, until ``mark`` was painted."""
    started = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-c", code], env)
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        seen = b""
        while mark not in seen:
            ready, _, _ = select.select([terminal], [], [], 30)
            if not ready:
                raise SystemExit(f"Nothing was painted within 30 s; the terminal holds: {seen[-300:]!r}")
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                raise SystemExit(
                    f"The program ended before it painted: {seen[-2000:].decode(errors='replace')}"
                ) from None
        seconds = time.perf_counter() - started
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    finally:
        os.close(terminal)
    os.kill(pid, signal.SIGKILL)
    _, _, used = os.wait4(pid, 0)
    return seconds, used.ru_utime + used.ru_stime


def main() -> int:
    """Start both programs in turn and compare their medians."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with tempfile.TemporaryDirectory() as folder:
        env = environment(Path(folder))
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in PROGRAMS}
        for number in range(rounds + 2):
            for name, (code, mark) in PROGRAMS.items():
                measured = seconds_to_paint(code, mark, env)
                if number >= 2:  # the first two write bytecode and the theme's cache
                    taken[name].append(measured)
    medians = {
        name: [statistics.median(column) * 1000 for column in zip(*rows, strict=True)] for name, rows in taken.items()
    }
    ours, bare = medians["workbench"], medians["bare"]
    return publish(
        Figure(f"first paint, {what}", f"{mine:.0f} ms", f"bare Textual, {theirs:.0f} ms", mine / theirs, target)
        for what, mine, theirs, target in zip(("clock", "processor time"), ours, bare, (TARGET, None), strict=True)
    )


if __name__ == "__main__":
    raise SystemExit(main())
