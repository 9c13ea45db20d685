"""``workbench doctor``: check this machine for what the workbench needs, and advise on anything missing."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from workbench import __version__
from workbench.base import paths, settings
from workbench.base.errors import WorkbenchError
from workbench.base.glyphs import VERDICTS, WAITING
from workbench.base.text import one_line, size_of
from workbench.commands.output import print_json, sign
from workbench.commands.terminal import Terminal
from workbench.pages.page import Note, PageTable, Part, Subheading

Status = Literal["ok", "note", "warning", "missing"]
_OLDEST_SQLITE = (3, 24, 0)  # the first version with upserts
_LITTLE_DISK = 1_000_000_000
_LITTLE_TERMINAL = (80, 24)
_DOCKER_SECONDS = 2.0
_NEEDED = (
    "textual", "rich", "litellm", "GitPython", "docker", "tree-sitter", "tree-sitter-python", "platformdirs", "PyYAML",
    "jsonschema", "msgspec", "markdown-it-py",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check.

    A status of ``missing`` means that something required is missing; ``lines`` contains details, and ``advice`` states
    what to do.
    """

    group: str
    name: str
    status: Status
    detail: str
    advice: str = ""
    lines: tuple[str, ...] = ()


Finding = tuple[Any, ...]
"""The fields of a :class:`Check`, without its group."""


def check_machine(environment: Mapping[str, str] | None = None) -> list[Check]:
    env = os.environ if environment is None else environment
    looks: tuple[tuple[str, Callable[[Mapping[str, str]], Iterator[Finding]]], ...] = (
        ("Program", _program), ("Terminal", _terminal), ("Models", _models), ("Sandboxes", _sandboxes),
        ("Doc systems", _doc_systems), ("Remote agents", _remote_agents), ("Plug-ins", _plugins),
        ("Docker", _docker), ("Git", _git), ("Files", _files),
    )  # fmt: skip
    with ThreadPoolExecutor(len(looks)) as threads:
        return [check for found in threads.map(lambda look: _guarded(look[0], look[1], env), looks) for check in found]


def _guarded(group: str, look: Callable[[Mapping[str, str]], Iterator[Finding]], env: Mapping[str, str]) -> list[Check]:
    # An exception in a check must not end the doctor, so it becomes a finding.
    found: list[Check] = []
    try:
        for finding in look(env):
            found.append(Check(group, *finding))
    except WorkbenchError as error:
        found.append(Check(group, group.lower(), "warning", str(error)))
    except Exception as error:
        found.append(Check(group, group.lower(), "warning", f"could not be checked: {one_line(repr(error), 200)}"))
    return found


def _program(env: Mapping[str, str]) -> Iterator[Finding]:
    yield ("workbench", "ok", __version__)
    python = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    # pip refuses to install the package on older interpreters.
    yield ("interpreter", "ok", python)
    versions, absent = [], []
    for name in _NEEDED:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            absent.append(name)
    yield ("packages", "ok", ", ".join(versions))
    if absent:
        yield ("packages", "missing", ", ".join(absent), f"make install, or: pip install {' '.join(absent)}")
    old = sqlite3.sqlite_version_info < _OLDEST_SQLITE
    advice = "Use a Python with SQLite 3.24 or newer." if old else ""
    yield ("sqlite", "missing" if old else "ok", sqlite3.sqlite_version, advice)
    file = paths.config_file()
    try:
        settings.load(env)
    except WorkbenchError as error:
        yield ("settings", "missing", str(error), f"Correct it in {file} or in the environment.")
    else:
        yield ("settings", "ok", str(file) if file.is_file() else f"defaults ({file} is not there)")


def _terminal(env: Mapping[str, str]) -> Iterator[Finding]:
    encoding = (sys.stdout.encoding or "unknown").lower()
    if not sys.stdout.isatty():
        yield ("terminal", "note", "output goes to a file or pipe; run doctor in a terminal to check it")
    else:
        size = shutil.get_terminal_size()
        small = size.columns < _LITTLE_TERMINAL[0] or size.lines < _LITTLE_TERMINAL[1]
        advice = "80 × 24 or more shows everything." if small else ""
        yield ("size", "warning" if small else "ok", f"{size.columns} × {size.lines}", advice)
        system = Terminal().color_system
        colours = {None: "none", "standard": "16", "256": "256", "truecolor": "16 million"}.get(system, str(system))
        few = system not in {"256", "truecolor"}
        advice = "Set COLORTERM=truecolor if your terminal supports it; signs and words work without it." if few else ""
        if env.get("NO_COLOR"):
            advice = "NO_COLOR is set, so colours are off."
        yield ("colours", "note" if few else "ok", f"{colours}, TERM={env.get('TERM', 'not set')}", advice)
    utf = "utf" in encoding
    yield (
        "encoding",
        "ok" if utf else "warning",
        encoding,
        "" if utf else "Set LANG=C.UTF-8 (or another UTF-8 locale).",
    )
    if env.get("NO_COLOR") and not sys.stdout.isatty():
        yield ("NO_COLOR", "note", "set, so colours are off")


def _models(env: Mapping[str, str]) -> Iterator[Finding]:
    from workbench.models import default_model, describe_models
    from workbench.models.local_files import LOCAL_NAME

    described = describe_models(env)
    local = next(info for info in described if info.name == "local")
    hosted = [info for info in described if info.name != "local" and info.available]
    status = "ok" if local.available else "warning" if hosted else "missing"
    yield (LOCAL_NAME, status, local.detail, "" if local.available else "workbench model install")
    for info in hosted:
        yield (info.name, "ok", info.detail)
    if absent := [info.name for info in described if info.name != "local" and not info.available]:
        advice = "" if hosted else "Set for example OPENAI_API_KEY to use hosted models."
        yield ("without a key", "note", ", ".join(absent), advice)
    chosen = settings.load(env)
    roles = []
    for role, named in (("agent", chosen.agent_model), ("judge", chosen.judge), ("evaluator", chosen.evaluator)):
        model = named or default_model(role, env, base_url=chosen.base_url)
        # The embedded model is too small to be a judge, so the default judge is offline.
        roles.append(f"{role} {'offline' if role == 'judge' and model == 'local' else model}")
    yield ("used by default", "ok", ", ".join(roles))


def _sandboxes(env: Mapping[str, str]) -> Iterator[Finding]:
    from workbench.sandbox import available_backends
    from workbench.sandbox.bubblewrap import program, version

    isolates = False
    for backend in available_backends():
        if backend.guarantees is not None:
            strong = backend.guarantees.isolated
            isolates = isolates or strong
            status: Status = "ok" if strong else "note"
            words = (
                "usable; guarantees:"
                if strong
                else "weaker, without namespaces; used only if you select it (--sandbox process):"
            )
            if backend.name == "bubblewrap":
                path = program()
                words = f"{'.'.join(map(str, version(path)))}, {path}; {words}"
            yield (backend.name, status, words, "", backend.guarantees.sentences)
        else:
            yield (backend.name, "note", backend.problem or "")
    if not isolates:
        # This is only a warning, because everything else works, including tests with --sandbox process.
        yield (
            "isolation", "warning", "no sandbox here isolates code written by a model",
            "Fix the problem of bubblewrap above, or start Docker; --sandbox process provides less isolation.",
        )  # fmt: skip


def _doc_systems(env: Mapping[str, str]) -> Iterator[Finding]:
    from workbench.interop.doc_programs.installing import installed
    from workbench.interop.doc_programs.programs import INSTALLABLE
    from workbench.sandbox.program import problem

    for name, program in INSTALLABLE.items():
        found = installed(program)
        if found is None:
            detail = f"not installed; to install (about {program.megabytes:,} MB): workbench docs install {name}"
            yield (f"{program.title} {program.version}", "note", detail)
        else:
            size = f"{size_of(found.bytes)} in {found.folder}"
            yield (f"{program.title} {found.version}", "ok", size)
    if (why := problem()) is not None:
        yield ("sandbox", "note", f"{why} Doc programs run only with --sandbox process.")


def _remote_agents(env: Mapping[str, str]) -> Iterator[Finding]:
    from workbench.interop.a2a.agent import missing_packages
    from workbench.interop.a2a.wire import VARIABLE, headers_by_origin

    if missing := missing_packages():
        yield ("A2A", "note", f"{missing}; to install: pip install 'docs-workbench[a2a]'")
        return
    yield ("A2A", "ok", f"a2a-sdk {metadata.version('a2a-sdk')}, protocol 1.0 and 0.3")
    known = headers_by_origin(env)
    names = ", ".join(sorted(known)) or f"none ({VARIABLE} is not set)"
    yield ("credentials for", "ok" if known else "note", names)


def _plugins(env: Mapping[str, str]) -> Iterator[Finding]:
    from workbench.base.extensions import installed
    from workbench.commands.installation import plugin_problems

    found = installed()
    wrong = plugin_problems(found)
    for plugin, why in wrong.items():
        yield (plugin.name, "warning", why, f"Repair or uninstall {plugin.package}.")
    if found and not wrong:
        yield ("usable", "ok", ", ".join(f"{plugin.kind} {plugin.name}" for plugin in found))
    elif not found:
        yield ("none", "note", "no plug-ins are installed")


def docker_endpoint(env: Mapping[str, str]) -> str | None:
    """Return the address of the Docker engine, or None if there is none."""
    named = env.get("DOCKER_HOST", "")
    if named:
        return named
    runtime = env.get("XDG_RUNTIME_DIR", "")
    places = [Path("/var/run/docker.sock"), *([Path(runtime) / "docker.sock"] if runtime else [])]
    return next((f"unix://{place}" for place in places if place.exists()), None)


def _docker(env: Mapping[str, str]) -> Iterator[Finding]:
    client = shutil.which("docker", path=env.get("PATH"))
    yield "client", "ok" if client else "note", client or "no docker command, but the engine's API suffices"
    endpoint = docker_endpoint(env)
    if endpoint is None:
        yield ("engine", "note", "none: no /var/run/docker.sock and DOCKER_HOST is not set")
        return
    shown = endpoint.rpartition("@")[2] if "@" in endpoint else endpoint
    try:
        version = _docker_version(shown)
    except (OSError, ValueError) as error:
        advice = "Start it (sudo systemctl start docker, or dockerd) and check that you may use its socket."
        yield ("engine", "warning", f"{shown} does not answer: {one_line(str(error), 120)}", advice)
    else:
        yield ("engine", "ok", f"{version} at {shown}")


def _docker_version(endpoint: str) -> str:
    # Imported here because the import takes a second.
    import docker.errors

    try:
        client = docker.APIClient(base_url=endpoint, version="1.41", timeout=_DOCKER_SECONDS)
        try:
            answer = client.version(api_version=False)
        finally:
            client.close()
    except docker.errors.DockerException as error:
        raise ValueError(str(error)) from None
    return f"engine {answer.get('Version', 'of unknown version')}"


def _git(env: Mapping[str, str]) -> Iterator[Finding]:
    command = shutil.which("git", path=env.get("PATH"))
    if command is None:
        yield ("git", "warning", "not found", "Install git to fetch cases from git URLs; other sources work.")
        return
    done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=2, check=False)
    yield ("git", "ok", one_line(done.stdout.removeprefix("git version "), 60) + f", {command}")


def _files(env: Mapping[str, str]) -> Iterator[Finding]:
    sessions = paths.sessions_dir()
    if problem := _write_problem(sessions):
        advice = "Make it writable, or set WORKBENCH_SESSIONS_DIR to a folder that is."
        yield ("sessions", "missing", f"{sessions}: {problem}", advice)
    else:
        there = "" if sessions.exists() else " (created with the first session)"
        yield ("sessions", "ok", f"{sessions}, writable{there}")
    for name, folder in (("data", paths.data_dir()), ("cache", paths.cache_dir())):
        free = shutil.disk_usage(_existing(folder)).free
        advice = "Free some space: environments need about 1 GB." if free < _LITTLE_DISK else ""
        yield (f"disk of {name}", "warning" if advice else "ok", f"{size_of(free)} free, {folder}", advice)


def _existing(folder: Path) -> Path:
    return next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())


def _write_problem(folder: Path) -> str | None:
    """Return why no file can be created in ``folder`` or its nearest existing parent, or None if one can."""
    place = _existing(folder)
    if not place.is_dir():
        return f"{place} is not a folder"
    try:
        # Permissions do not show whether a file system is read-only or full.
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"x")
    except OSError as error:
        return error.strerror or str(error)
    return None


MARKS = {
    "ok": f"{VERDICTS['passed']} ok",
    "note": f"{WAITING} not used",
    "warning": f"{VERDICTS['crashed']} attention",
    "missing": f"{VERDICTS['failed']} missing",
}


ARGUMENTS = {
    "--json": "print a JSON line for each check, then a summary",
}


def run(arguments: argparse.Namespace) -> int:
    """Return 1 if something required is missing, otherwise 0; the last line mentions warnings."""
    found = check_machine()
    missing = [check for check in found if check.status == "missing"]
    if arguments.json:
        for check in found:
            print_json({"type": "check", **asdict(check)})
        attention = sum(check.status == "warning" for check in found)
        print_json({"type": "summary", "ok": not missing, "missing": len(missing), "warnings": attention})
        return 1 if missing else 0
    Terminal().parts(findings(found))
    return 1 if missing else 0


def findings(found: Sequence[Check]) -> Iterator[Part]:
    for group in dict.fromkeys(check.group for check in found):
        yield Subheading(group)
        rows = (
            (
                MARKS[one.status],
                one.name,
                "\n".join((one.detail, *one.lines, *filter(None, (one.advice and f"→ {one.advice}",)))),
            )
            for one in found
            if one.group == group
        )
        yield PageTable(("", "", ""), tuple(rows))
    mark, word, sentence = closing(found)
    yield from (Note(""), Note(f"{sign(mark, word)} {sentence}", "problem"))


def closing(found: Sequence[Check]) -> tuple[str, str, str]:
    """Return the conclusion as a sign, its word, and a sentence."""
    missing = [check.name for check in found if check.status == "missing"]
    attention = [check.name for check in found if check.status == "warning"]
    if missing:
        also = f" Warnings: {', '.join(attention)}." if attention else ""
        return VERDICTS["failed"], "missing:", f"{len(missing)} required: {', '.join(missing)}.{also}"
    if attention:
        sentence = f"Everything required is here; {len(attention)} with a warning: {', '.join(attention)}."
        return VERDICTS["crashed"], "attention:", sentence
    return VERDICTS["passed"], "ok:", "Everything required is here."
