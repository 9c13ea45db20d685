"""Extract from pytest's output why it refuses a repository: a one-line reason with the file at fault."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.base.text import clean, one_line
from workbench.regeneration.project_layout import pytest_configuration

_LONGEST = 300

_FRAME = re.compile(r"""^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)""")
_BRIEF_FRAME = re.compile(r"^(?P<path>[^\s:]+\.py):(?P<line>\d+): in ")
_CONFTEST = re.compile(r"^ImportError while loading conftest '(?P<path>[^']+)'")
_FATAL = re.compile(r"^Fatal Python error: (?P<what>.+)")
_HANG = re.compile(r"^Timeout \(\d+:\d+:\d+(?:\.\d+)?\)!$")
_DECORATION = re.compile(r"^(INTERNALERROR> ?|E  +)")
_NOT_OURS = re.compile(r"^(/|<)|site-packages/")

#: The private modules in which pytest defines its exceptions, which only clutter messages.
_PRIVATE_NAMES = re.compile(r"(?:\b_pytest|\bpluggy)\.(?:\w+\.)+(?=[A-Z])")

_NAMES_A_FILE = re.compile(r"\.(?:py|ini|toml|cfg)\b")
_PLUGIN = re.compile(r'Error importing plugin "(?P<name>[^"]+)"')

#: Lines that carry no information by themselves.
_NOISE = ("mainloop: caught unexpected SystemExit!",)


def refusal(said: str) -> str:
    """Return why pytest does not run a repository's tests by its standard error, without a full stop; "" if unknown."""
    lines = [plain(line.rstrip()) for line in clean(said).splitlines()]
    lines = [line for line in lines if line.strip() and line not in _NOISE]
    reason = _fatal(lines) or _conftest(lines) or _usage(lines) or _raised(lines) or (lines[-1] if lines else "")
    return one_line(reason, _LONGEST).rstrip(". ")


def plain(text: str) -> str:
    return _PRIVATE_NAMES.sub("", text)


def is_raised(said: str) -> bool:
    return "Traceback (most recent call last)" in said and not refusal(said).startswith("SystemExit")


def with_file(reason: str, root: Path) -> str:
    if not reason or _NAMES_A_FILE.search(reason):
        return reason
    configuration = pytest_configuration(root)
    if plugin := _PLUGIN.search(reason):
        for path in sorted(root.rglob("conftest.py")):
            if plugin["name"] in path.read_text("utf-8", "replace"):
                return f"{reason} ({path.relative_to(root).as_posix()})"
    return f"{reason} ({configuration})" if configuration else reason


def died_of(said: str) -> str:
    """Return Python's message about a fatal signal, with the place in the repository; "" if there is none."""
    return _fatal([line.rstrip() for line in clean(said).splitlines()])


def hanging_place(said: str) -> str:
    """Return the file and line in the repository at which it hangs (the innermost frame), "" if unknown."""
    lines = clean(said).splitlines()
    begins = [number for number, line in enumerate(lines) if _HANG.match(line)]
    # The main thread is listed last; other threads may be waiting in third-party code.
    return _place(lines[begins[-1] :], innermost_first=True) if begins else ""


def _fatal(lines: list[str]) -> str:
    for number, line in enumerate(lines):
        if found := _FATAL.match(line):
            return _with_place(found["what"], _place(lines[number:], innermost_first=True))
    return ""


def _conftest(lines: list[str]) -> str:
    """Return the error of a conftest.py that cannot be imported, and its origin if that is another file."""
    for number, line in enumerate(lines):
        if found := _CONFTEST.match(line):
            reasons = [_DECORATION.sub("", each).strip() for each in lines[number + 1 :] if each.startswith("E  ")]
            reason = reasons[-1] if reasons else lines[-1].strip()
            place = _place(lines[number + 1 :], innermost_first=False)
            return f"{found['path']} cannot be imported: {_with_place(reason, place)}"
    return ""


def _usage(lines: list[str]) -> str:
    """Return pytest's message about an invalid option or setting, adding the file if the message names none."""
    begins = [number for number, line in enumerate(lines) if line.startswith("ERROR: ")]
    if not begins:
        return ""
    told = [line.removeprefix("ERROR: ").strip() for line in lines[begins[-1] :]]
    files = [line.removeprefix("inifile:").strip() for line in told if line.startswith("inifile:")]
    told = [line for line in told if not line.startswith(("inifile:", "rootdir:"))]
    wrong = [line.partition(": error: ")[2] for line in told if ": error: " in line]
    return _with_place(wrong[-1] if wrong else told[0], next((file for file in files if file != "None"), ""))


def _raised(lines: list[str]) -> str:
    """Return the (possibly multi-line) message of an uncaught exception, and the last repository file in its traceback."""
    plain = [re.sub(r"^INTERNALERROR> ?", "", line) for line in lines]
    frames = [number for number, line in enumerate(plain) if _FRAME.match(line)]
    if not frames:
        return ""
    after = [line for line in plain[frames[-1] + 1 :] if line.strip()]
    message = [line.strip() for line in after if not line.startswith("  ")]
    return _with_place(" ".join(message), _place(plain, innermost_first=False)) if message else ""


def _place(lines: list[str], *, innermost_first: bool) -> str:
    found = []
    for line in lines:
        frame = _FRAME.match(_DECORATION.sub("", line)) or _BRIEF_FRAME.match(line)
        if frame and not _NOT_OURS.search(frame["path"]):
            found.append(f"{frame['path']}, line {frame['line']}")
    return "" if not found else found[0] if innermost_first else found[-1]


def _with_place(reason: str, place: str) -> str:
    reason = reason.strip().rstrip(".")
    return f"{reason} ({place})" if place and place not in reason else reason
