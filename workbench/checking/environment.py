"""The environment in which a page's commands run: the project from its own tree, and the packages that its pages install.

Dependencies are installed as wheels from the registry, so none of their code runs outside a sandbox. The project is
built and installed in a sandbox without network access. Environments are cached by the tree (without its pages), its
declarations and the Python version.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from workbench.base import paths
from workbench.base.reasons import last_words
from workbench.base.text import one_line
from workbench.claims.declared import tree_files
from workbench.regeneration.declarations import Declarations
from workbench.regeneration.environment import (
    EnvironmentFailed,
    completed,
    interpreter_folders,
    locked,
    run_installer,
    site_packages,
    uv_program,
)
from workbench.sandbox import NoIsolation, program
from workbench.sandbox.program import Ended, Program, ProgramLimits

_MEMORY_MB, _PROCESSES, _DISK_MB = 2048, 256, 1024


def require_isolation() -> None:
    problem = program.problem()
    if problem:
        raise NoIsolation(
            f"Nothing was run, because only an isolating sandbox may run a page's commands: {problem}", ()
        )


async def run_in_sandbox(
    command: Sequence[str],
    *,
    folder: Path,
    inside: str,
    python: Path,
    seconds: float,
    cwd: str = "",
    mounts: Sequence[Path] = (),
    hidden: Sequence[Path] = (),
    variables: Mapping[str, str] | None = None,
) -> Ended:
    """Run a command in bubblewrap. Paths in the command are those inside the sandbox.

    The command can write only to ``folder``, mounted as ``inside``, and can read ``mounts`` at their own paths. The
    ``hidden`` folders among these and the system's are empty inside. ``cwd`` defaults to ``inside``.
    """
    require_isolation()
    usual = {
        "PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/home/sandbox",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm",
        "COLUMNS": "80",
        "PYTHONNOUSERSITE": "1",
        "NO_COLOR": "1",
    }
    outside = await asyncio.to_thread(lambda: tuple(interpreter_folders(python)))
    seen, variables = (*mounts, *outside), {**usual, **(variables or {})}
    work = Program(
        command, folder, inside, cwd or inside, python, None, mounts=seen, scratch=hidden, variables=variables
    )
    limits = ProgramLimits(seconds=seconds, memory_mb=_MEMORY_MB, processes=_PROCESSES, disk_mb=_DISK_MB)
    return await program.run_confined(work, limits, stop=asyncio.Event())


#: Increment this whenever the way environments are built changes.
_FORMAT = 8
_SECONDS = 600.0
_PAGES = (".md", ".markdown", ".rst")
#: The installer's message for a distribution that is not in the registry, and how long to cache that answer.
_ABSENT = re.compile(r"(\S+) was not found in the package registry")
_ABSENT_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class CheckEnvironment:
    """An environment that is ready for use.

    Distribution names are normalised as in PEP 503; ``commands`` are those of the project. ``absent`` holds names that
    pages install but the registry does not have.
    """

    folder: Path
    python: Path
    installed: frozenset[str]
    commands: frozenset[str]
    programs: frozenset[str]
    cached: bool
    absent: frozenset[str] = frozenset()

    def has(self, distribution: str) -> bool:
        return canonicalize_name(distribution) in self.installed


async def environment_for(
    root: Path,
    declared: Declarations,
    extras: Sequence[str] = (),
    others: Sequence[str] = (),
    on_progress: Callable[[str], None] = lambda line: None,
) -> CheckEnvironment:
    """Build the environment of a project, or load it from the cache.

    ``extras`` and ``others`` are the extras and other packages that its pages install.

    Raises:
        EnvironmentFailed: The project cannot be installed on this machine.
    """
    requirements = list(declared.requirements)
    of_extras = [one for extra in extras for one in declared.extras.get(extra, ())]
    build = _build_requirements(root)
    _require_plain([*requirements, *of_extras, *others, *build])
    content = await asyncio.to_thread(content_digest, root)
    stamp = json.dumps([_FORMAT, sorted(requirements), sorted(of_extras), sorted(others), build, content, sys.version])
    folder = paths.cache_dir().absolute() / "checked" / hashlib.sha256(stamp.encode()).hexdigest()[:24]
    folder.parent.mkdir(parents=True, exist_ok=True)
    async with locked(folder.with_suffix(".lock")):
        record = _complete(folder)
        cached = record is not None
        if record is None:
            try:
                async with asyncio.timeout(_SECONDS):
                    record = await _made(folder, root, declared, requirements, (of_extras, others), build, on_progress)
            except BaseException as error:
                await asyncio.to_thread(shutil.rmtree, folder, True)
                if not isinstance(error, TimeoutError):
                    raise
                title = declared.name or root.name
                raise EnvironmentFailed(f"Installing {title} took more than {_SECONDS:.0f} s.") from None
    venv = folder / "venv"
    found = {name: frozenset(record[name]) for name in ("installed", "commands", "programs", "absent")}
    return CheckEnvironment(venv, venv / "bin" / "python", cached=cached, **found)


def content_digest(root: Path) -> str:
    """Return a digest of every file in a tree except its pages."""
    digest = hashlib.sha256()
    for path in tree_files(root):
        if path.suffix.lower() not in _PAGES:
            digest.update(f"{path.relative_to(root)}\0".encode("utf-8", "surrogateescape"))
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def copy_tree(root: Path, target: Path) -> None:
    """Copy a tree without version control data and virtual environments, replacing links with their targets."""
    for path in tree_files(root):
        place = target / path.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        place.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


async def _made(
    folder: Path,
    root: Path,
    declared: Declarations,
    requirements: Sequence[str],
    wanted: Sequence[Sequence[str]],
    build: Sequence[str],
    on_progress: Callable[[str], None],
) -> dict[str, Any]:
    """Create an environment; leave out each group of ``wanted`` requirements that cannot be installed."""
    await asyncio.to_thread(shutil.rmtree, folder, True)
    await asyncio.to_thread(folder.mkdir)
    venv, python = folder / "venv", folder / "venv" / "bin" / "python"
    on_progress("making an environment")
    uv = uv_program() or "uv"
    await run_installer(
        [uv, "venv", "--quiet", "--python", sys.executable, str(venv)], "An environment could not be created"
    )
    install = [uv, "pip", "install", "--quiet", "--only-binary", ":all:", "--python", str(python)]
    title = declared.name or root.name
    if requirements:
        on_progress(f"installing {', '.join(requirements)}")
        await run_installer(
            [*install, "--", *requirements], f"The dependencies of {title} could not be installed", _why
        )
    absent = set[str]()
    for group in wanted:
        while there := [one for one in group if canonicalize_name(Requirement(one).name) not in absent]:
            on_progress(f"installing what the pages install: {', '.join(there)}")
            try:
                await run_installer([*install, "--", *requirements, *there], "could not be installed", _why)
                break
            except EnvironmentFailed as error:
                unknown = {canonicalize_name(name) for name in _ABSENT.findall(str(error))} - absent
                if not unknown:
                    break
                absent |= unknown
    if build:
        on_progress("installing the project's build dependencies")
        target = [*install, "--target", str(folder / "build")]
        await run_installer([*target, "--", *build], f"The build dependencies of {title} could not be installed", _why)
    on_progress(f"installing {title} from its tree")
    await asyncio.to_thread(copy_tree, root, folder / "source")
    ended = await run_in_sandbox(
        [
            *(uv, "pip", "install", "--quiet", "--offline", "--no-cache", "--no-deps"),
            *("--no-build-isolation", "--no-sources", "--compile-bytecode", "--link-mode", "copy"),
            *("--python", str(python), str(folder / "source")),
        ],
        folder=folder,
        inside=str(folder),
        python=python,
        mounts=(Path(uv),),
        seconds=_SECONDS,
        variables={
            "PYTHONPATH": str(folder / "build"),
            # The copy has no .git, so setuptools-scm and similar tools must be told the version.
            "SETUPTOOLS_SCM_PRETEND_VERSION": declared.version if declared.version != "0" else "0.0",
        },
    )
    if ended.stopped or ended.status:
        why = "it took too long" if ended.stopped == "time" else _why(ended.output)
        raise EnvironmentFailed(f"{title} could not be installed from its tree: {why}.")
    shutil.rmtree(folder / "source", ignore_errors=True)
    shutil.rmtree(folder / "build", ignore_errors=True)
    record = _contents(venv, declared)
    record["absent"] = sorted(absent)
    (folder / "complete.json").write_text(json.dumps(record))
    return record


def _contents(venv: Path, declared: Declarations) -> dict[str, Any]:
    site = site_packages(venv)
    infos = sorted(site.glob("*.dist-info"))
    commands = set(declared.scripts)
    for info in infos:
        name = canonicalize_name(info.name.removesuffix(".dist-info").rpartition("-")[0])
        from_the_tree = name == canonicalize_name(declared.name) or (info / "direct_url.json").is_file()
        if from_the_tree and (info / "entry_points.txt").is_file():
            _, _, scripts = (info / "entry_points.txt").read_text("utf-8", "replace").partition("[console_scripts]")
            commands |= set(re.findall(r"^([\w.-]+)\s*=", scripts.partition("[")[0], re.M))
    installed = [canonicalize_name(info.name.removesuffix(".dist-info").rpartition("-")[0]) for info in infos]
    programs = sorted(
        path.name
        for path in (venv / "bin").iterdir()
        if not path.name.startswith(("python", "activate", "pip", "deactivate"))
    )
    return {"installed": installed, "commands": sorted(commands), "programs": programs}


def _require_plain(requirements: Sequence[str]) -> None:
    """Reject requirements that are options, folders or URLs."""
    for line in requirements:
        try:
            problem = Requirement(line).url is not None
        except InvalidRequirement:
            problem = True
        if problem:
            raise EnvironmentFailed(
                f"{one_line(line, 80)!r} is not installed: it is not the name of a package in the registry."
            )


def _build_requirements(root: Path) -> tuple[str, ...]:
    try:
        system = tomllib.loads((root / "pyproject.toml").read_text("utf-8")).get("build-system", {})
    except (OSError, ValueError):
        system = {}
    stated = system.get("requires") if isinstance(system, dict) else None
    needed = [str(one) for one in stated] if isinstance(stated, list) else []
    return tuple(needed) if isinstance(stated, list) else ("setuptools<81", "wheel")


def _why(output: str) -> str:
    text = " ".join(line.strip(" ×╰─▶│") for line in output.splitlines())
    if found := re.search(r"Because (.{0,300}?)(?:, we can conclude| and |$)", text):
        return found[1].rstrip(".")
    return last_words(output) or "no reason given"


def _complete(folder: Path) -> Mapping[str, Any] | None:
    record = completed(folder)
    if record is None or not record.get("absent"):
        return record
    # A missing distribution may have been published since, so look for it again.
    age = time.time() - (folder / "complete.json").stat().st_mtime
    return record if age <= _ABSENT_SECONDS else None


RUNNER = Path(__file__).resolve().parent / "runner"
_MOST_COMMANDS, _HELP_SECONDS = 8, 10.0


async def help_texts(environment: CheckEnvironment) -> dict[str, str]:
    """Return the help of each project command and its subcommands, or "" for those without help."""
    commands = sorted(environment.commands)[:_MOST_COMMANDS]
    if not commands:
        return {}
    cache_file = environment.folder.parent / "helps.json"
    if cache_file.is_file():
        try:
            return {str(name): str(text) for name, text in json.loads(cache_file.read_text()).items()}
        except (OSError, ValueError, AttributeError):
            pass  # another process has already created it
    place = paths.cache_dir().absolute() / "checked"
    with tempfile.TemporaryDirectory(prefix=".help-", dir=place) as name:
        folder = Path(name)
        await run_in_sandbox(
            [
                *(str(environment.python), "-I", "-B", f"{RUNNER}/help_runner.py", "/checked/help.json"),
                *(str(_HELP_SECONDS), *commands),
            ],
            folder=folder,
            inside="/checked",
            python=environment.python,
            mounts=(environment.folder, RUNNER),
            seconds=_HELP_SECONDS * 12,
            # In a narrow terminal, help tables truncate long options.
            variables={"COLUMNS": "300", "TERMINAL_WIDTH": "300"},
        )
        try:
            found = {str(key): str(text) for key, text in json.loads((folder / "help.json").read_text()).items()}
        except (OSError, ValueError, AttributeError):
            return {}  # not cached: the failure may be temporary
    # List a command even if its help shows no options.
    helping = {name: text if re.search(r"\s--?\w", text) else "" for name, text in found.items()}
    found = {name: text for name, text in helping.items() if text or " " not in name}
    cache_file.write_text(json.dumps(found))
    return found
