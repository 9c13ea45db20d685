"""Time to first paint of the workbench against a bare Textual app, interleaved in one run.

Both programs run in a pseudo-terminal of 120x40; the clock runs from the start of the process until a mark that only the
painted screen holds has arrived. Run it with ``python tests/benchmarks/first_paint.py [rounds]``.
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

ROOT = Path(__file__).resolve().parents[2]
TARGET = 1.3

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


def seconds_to_paint(code: str, mark: bytes, env: dict[str, str]) -> float:
    """Start a program in a pseudo-terminal and return the seconds until ``mark`` was painted."""
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
        return time.perf_counter() - started
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def main() -> int:
    """Measure, print both medians and the ratio; exit code 1 if it misses the target."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with tempfile.TemporaryDirectory() as folder:
        env = environment(Path(folder))
        taken: dict[str, list[float]] = {name: [] for name in PROGRAMS}
        for number in range(rounds + 2):
            for name, (code, mark) in PROGRAMS.items():
                seconds = seconds_to_paint(code, mark, env)
                if number >= 2:  # the first two write bytecode and the theme's cache
                    taken[name].append(seconds)
    bare, ours = (statistics.median(taken[name]) for name in ("bare", "workbench"))
    for name, values in taken.items():
        print(f"{name:<10} median {statistics.median(values) * 1000:6.0f} ms  fastest {min(values) * 1000:6.0f} ms")
    print(f"ratio {ours / bare:.2f} (target at most {TARGET})")
    return 0 if ours / bare <= TARGET else 1


if __name__ == "__main__":
    raise SystemExit(main())
