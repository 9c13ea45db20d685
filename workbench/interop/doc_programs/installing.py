"""Install third-party doc systems, each into its own virtual environment in the data folder."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.base import paths
from workbench.base.disks import says_full
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.reasons import last_words
from workbench.base.text import one_line

_LIMIT_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Installable:
    """An installable program: its name in ``--docs``, and the version that its adapter supports."""

    name: str
    title: str
    version: str
    requirements: tuple[str, ...]
    megabytes: int


@dataclass(frozen=True, slots=True)
class InstalledProgram:
    """An installed program; ``folder`` is its environment, ``packages`` the number of packages in it."""

    version: str
    folder: Path
    bytes: int
    packages: int


def environment(program: Installable, version: str = "") -> Path:
    return paths.data_dir() / "doc-systems" / f"{program.name}-{version or program.version}"


def installed(program: Installable, version: str = "") -> InstalledProgram | None:
    folder = environment(program, version)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        record = json.loads((folder / "complete.json").read_text(encoding="utf-8"))
        return InstalledProgram(record["version"], folder, int(record["bytes"]), int(record["packages"]))
    return None


def interpreter(program: Installable, version: str = "") -> Path:
    found = installed(program, version)
    if found is None:
        wanted = version or program.version
        also = "" if wanted == program.version else f" (this workbench installs {program.version})"
        raise UsageError(
            f"{program.title} {wanted} is not installed{also}; `workbench docs install {program.name}` installs it "
            f"(about {program.megabytes:,} MB)."
        )
    return found.folder / "bin" / "python"


def install(program: Installable, on_line: Callable[[str], None]) -> InstalledProgram:
    """Install a program, or resume an interrupted installation. Raises WorkbenchError."""
    if (found := installed(program)) is not None:
        return found
    folder = environment(program)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        room = shutil.disk_usage(folder.parent).free
        if room < program.megabytes * 1.3e6:
            raise WorkbenchError(
                f"{program.title} takes about {program.megabytes:,} MB, and {folder.parent} has {room / 1e6:,.0f} MB free."
            )
        on_line(f"{program.title} {program.version}: about {program.megabytes:,} MB into {folder}")
        _install(program, folder, on_line)
        on_line("compiling")
        _run([str(folder / "bin" / "python"), "-m", "compileall", "-q", "-j", "1", str(folder / "lib")], None, on_line)
        size, packages = _measure(folder)
        record = {"version": program.version, "bytes": size, "packages": packages}
        part = folder / "complete.part"
        part.write_text(json.dumps(record), encoding="utf-8")
        part.replace(folder / "complete.json")
    except OSError as error:
        if says_full(error):
            raise _full(program, folder) from None
        raise WorkbenchError(f"{program.title} cannot be installed into {folder}: {error.strerror or error}.") from None
    return InstalledProgram(program.version, folder, size, packages)


def remove(program: Installable) -> bool:
    folder = environment(program)
    there = folder.exists()
    shutil.rmtree(folder, ignore_errors=True)
    return there


def _install(program: Installable, folder: Path, on_line: Callable[[str], None]) -> None:
    python = folder / "bin" / "python"
    base = sys._base_executable if hasattr(sys, "_base_executable") else sys.executable
    uv = Path(sys.executable).parent / "uv"
    found = str(uv) if uv.exists() else shutil.which("uv")
    if not python.exists():
        make = [found, "venv", "--quiet", "--allow-existing", "--python", base, str(folder)] if found else None
        status, output = _run(make or [base, "-m", "venv", str(folder)], folder, on_line)
        if status:
            raise _failed(program, folder, output)
    failure = ""
    if found:
        # Downloads remain in uv's cache, so an interrupted installation can resume.
        status, failure = _run(
            [found, "pip", "install", "--python", str(python), *program.requirements], folder, on_line
        )
        if not status:
            return
        if says_full(failure):
            raise _full(program, folder)
    # Fall back to pip, which reads more configuration than uv does (indexes, wheel folders).
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    if importlib.util.find_spec("pip") is None:
        _run([str(python), "-m", "ensurepip", "--upgrade"], folder, on_line)
        pip = [str(python), "-m", "pip"]
    options = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    status, output = _run([*pip, "install", *options, *program.requirements], folder, on_line)
    if status:
        raise _failed(program, folder, output or failure)


def _run(command: Sequence[str], growing: Path | None, on_line: Callable[[str], None]) -> tuple[int, str]:
    """Run an installer, reporting its output and, every few seconds, the size of the folder."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("VIRTUAL_ENV", "PYTHON"))}
    began, tail = time.monotonic(), ""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables
    ) as process:
        ending = threading.Event()
        watch = threading.Thread(target=_report_size, args=(growing, ending, on_line), daemon=True)
        watch.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                text = line.decode("utf-8", "replace")
                tail = (tail + text)[-20_000:]
                if text.startswith(("Collecting", "Installing", "Resolved", "Prepared", "Installed", "Downloading")):
                    on_line(one_line(text, 160))
                if time.monotonic() - began > _LIMIT_SECONDS:
                    process.kill()
        except BaseException:
            process.kill()
            raise
        finally:
            ending.set()
    return process.returncode, tail


def _report_size(folder: Path | None, ending: threading.Event, on_line: Callable[[str], None]) -> None:
    while folder is not None and not ending.wait(5.0):
        on_line(f"{_measure(folder)[0] / 1e6:,.0f} MB so far")


def _measure(folder: Path) -> tuple[int, int]:
    from workbench.sandbox.control import written_bytes

    return written_bytes(folder), len(list(folder.glob("lib/python*/site-packages/*.dist-info")))


def _failed(program: Installable, folder: Path, output: str) -> WorkbenchError:
    if says_full(output):
        return _full(program, folder)
    return WorkbenchError(
        f"{program.title} could not be installed: {last_words(output) or 'the installer printed nothing'}."
    )


def _full(program: Installable, folder: Path) -> WorkbenchError:
    return WorkbenchError(
        f"The disk is full: there is no room in {folder.parent} for {program.title} (about {program.megabytes:,} MB)."
    )
