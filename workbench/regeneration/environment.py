"""Build the environment in which a repository's tests run: its dependencies, pytest and coverage, but not the project.

An installed copy of the project would contain the original bodies, and tests might import it. The project is imported
from the tree instead. A ``.dist-info`` folder without code makes it look installed to ``importlib.metadata``, plugins
and console scripts.

Environments are cached by their inputs, built in place under a lock, and complete once ``complete.json`` exists. They
cannot be built elsewhere and moved into place, because the scripts of a virtual environment contain its path.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import importlib.metadata
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from workbench.base import paths
from workbench.base.disks import full_folder, is_full, says_full
from workbench.base.errors import WorkbenchError
from workbench.base.reasons import last_words
from workbench.regeneration.declarations import Declarations, declarations, is_tool, requirements_file
from workbench.regeneration.project_layout import (
    filtered_options,
    import_roots,
    imported_modules,
    missing_modules,
    own_modules,
    pytest_options,
)
from workbench.repository.sources import reason
from workbench.sandbox import Workspace

#: Incremented whenever the way environments are built changes, so that older environments are rebuilt.
_FORMAT = 2

#: Modules that tests often import without declaring them, and the distributions that provide them.
_WELL_KNOWN = {
    "attr": "attrs", "click": "click", "freezegun": "freezegun", "hypothesis": "hypothesis", "mock": "mock", "numpy": "numpy",
    "pandas": "pandas", "pydantic": "pydantic", "pytest_asyncio": "pytest-asyncio", "pytest_mock": "pytest-mock", "requests": "requests",
    "responses": "responses", "sh": "sh", "six": "six", "wcwidth": "wcwidth", "yaml": "pyyaml", "typing_extensions": "typing-extensions",
}  # fmt: skip


class EnvironmentFailed(WorkbenchError):
    """The environment could not be built; the message includes the last line of the installer's output."""


class DiskFull(EnvironmentFailed):
    """The disk is full, so a different installer would fail as well."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A ready environment for one repository."""

    python: Path  # the environment's interpreter
    folder: Path  # the virtual environment, in the cache
    digest: str  # digest of the requirements and the Python version (64 hex digits)
    requirements: tuple[str, ...]
    installed: tuple[str, ...]  # installed packages as sorted ``name==version``
    missing: tuple[str, ...]  # modules that the project imports but the environment lacks, mostly optional ones
    workspace: Workspace  # how the sandbox presents the repository and runs its tests


async def build_environment(
    root: Path,
    *,
    install: Sequence[str] = (),
    test: Sequence[str] = (),
    on_progress: Callable[[str], None] = lambda line: None,
    seconds: float = 900.0,
) -> Environment:
    """Return the environment of the repository at ``root``, building it unless it is cached.

    ``install`` and ``test`` are the ``pip install …`` and ``pytest …`` commands of ``case.toml``; without ``install``,
    the project's own declarations are used. ``seconds`` is the time limit of the installation. Raises EnvironmentFailed
    if the installer fails or times out, a command is not supported, or the disk is full.
    """
    try:
        return await _environment(root, install, test, on_progress, seconds)
    except OSError as error:
        folder = paths.cache_dir() / "environments"
        if says_full(error):
            raise _disk_full(folder) from None
        raise EnvironmentFailed(
            f"The folder {folder} for environments cannot be written: {reason(error)}; fix that, or set "
            "WORKBENCH_CACHE_DIR to another folder."
        ) from None


async def _environment(
    root: Path, install: Sequence[str], test: Sequence[str], on_progress: Callable[[str], None], seconds: float
) -> Environment:
    declared = await asyncio.to_thread(declarations, root)
    requirements = _without_self(
        _from_commands(root, declared, install) if install else (*declared.requirements, *declared.test_requirements),
        declared,
    )
    requirements = tuple(dict.fromkeys((*requirements, "pytest", "coverage")))
    roots = await asyncio.to_thread(import_roots, root)
    own = await asyncio.to_thread(own_modules, root, roots)
    stamp = json.dumps([_FORMAT, sorted(requirements), declared.name, sys.version, sys.platform])
    digest = hashlib.sha256(stamp.encode()).hexdigest()
    folder = paths.cache_dir() / "environments" / digest[:24]
    folder.parent.mkdir(parents=True, exist_ok=True)
    async with locked(folder.with_suffix(".lock")):
        record = completed(folder)
        if record is None:
            on_progress(f"installing {', '.join(requirements)}")
            try:
                async with asyncio.timeout(seconds):
                    record = await _build(folder, requirements, declared, root, own, on_progress)
            except BaseException as error:
                shutil.rmtree(folder, ignore_errors=True)
                if not isinstance(error, TimeoutError):
                    raise
                raise EnvironmentFailed(
                    f"Installing the dependencies of {_title(declared, root)} took more than {seconds:.0f} s."
                ) from None
    python = folder / "bin" / "python"
    missing = await asyncio.to_thread(missing_modules, root, own, record["modules"])
    arguments, test_paths = _test_arguments(root, test)
    workspace = Workspace(
        root=root,
        python=python,
        mounts=tuple(dict.fromkeys((folder, *interpreter_folders(python)))),
        import_roots=roots,
        own_modules=own,
        preload=tuple(
            name for name in await asyncio.to_thread(imported_modules, root, own) if name.split(".")[0] not in missing
        ),
        pytest_args=(*pytest_options(root), *arguments),
        test_paths=test_paths,
        metadata=_metadata(declared, python),
    )
    return Environment(python, folder, digest, requirements, tuple(record["installed"]), missing, workspace)


def installed_in(digest: str) -> tuple[str, ...]:
    """Return ``name==version`` of the packages in an environment, or () if it was not built on this machine."""
    record = completed(paths.cache_dir() / "environments" / digest[:24])
    return tuple(record["installed"]) if record is not None else ()


def _from_commands(root: Path, declared: Declarations, commands: Sequence[str]) -> tuple[str, ...]:
    """Parse ``pip install`` commands; the project itself is replaced by its requirements, never installed."""
    found: list[str] = []
    for command in commands:
        try:
            words = shlex.split(command)
        except ValueError:
            words = []
        match words:
            case [("pip" | "pip3"), "install", *rest] | ["uv", "pip", "install", *rest]:
                pass
            case [("python" | "python3"), "-m", "pip", "install", *rest]:
                pass
            case _:
                raise EnvironmentFailed(
                    f"The install command {command!r} is not supported; write it as 'pip install …'."
                )
        arguments = iter(rest)
        for word in arguments:
            if word in ("-r", "--requirement"):
                found += requirements_file(root, next(arguments, ""))
            elif word.startswith("-r"):
                found += requirements_file(root, word[2:])
            elif here := re.fullmatch(r"(?:\.|\./)(?:\[([\w,. -]+)\])?", word):
                found += declared.requirements
                for extra in (here[1] or "").split(","):
                    found += declared.extras.get(extra.strip(), ())
            elif not word.startswith("-"):
                found.append(word)
    return tuple(found)


def _without_self(requirements: Sequence[str], declared: Declarations) -> tuple[str, ...]:
    """Remove development tools and the project itself, whose extras are replaced with their requirements."""
    found: list[str] = []
    for line in requirements:
        match = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?", line)
        if match and declared.name and canonicalize_name(match[1]) == canonicalize_name(declared.name):
            for extra in (match[2] or "").split(","):
                found += declared.extras.get(extra.strip(), ())
        elif not (match and is_tool(match[1]) and canonicalize_name(match[1]) != "setuptools"):
            found.append(line)
    return tuple(found)


async def _build(
    folder: Path,
    requirements: Sequence[str],
    declared: Declarations,
    root: Path,
    own: Sequence[str],
    on_progress: Callable[[str], None],
) -> dict[str, list[str]]:
    python = folder / "bin" / "python"
    failure = f"The dependencies of {_title(declared, root)} could not be installed"
    base = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")
    base = base if os.path.exists(base) else sys.executable  # noqa: ASYNC240, PTH110 - one look at a local file
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    commands = [([base, "-m", "venv", str(folder)], pip)]
    if uv := uv_program():
        uv_pip = [uv, "pip", "install", "--quiet", "--python", str(python)]
        commands.insert(0, ([uv, "venv", "--quiet", "--python", base, str(folder)], uv_pip))
    for create, installer in commands:
        shutil.rmtree(folder, ignore_errors=True)
        try:
            await run_installer(create, failure)
            await run_installer([*installer, *requirements], failure)
            break
        except EnvironmentFailed as failed:
            # Pip may succeed where uv fails, because it reads more configuration (indexes, folders of wheels).
            if installer is pip or isinstance(failed, DiskFull):
                raise
    _, modules = _contents(folder)
    undeclared = sorted({_WELL_KNOWN[name] for name in missing_modules(root, own, modules) if name in _WELL_KNOWN})
    undeclared = [name for name in undeclared if canonicalize_name(name) != canonicalize_name(declared.name)]
    if undeclared:
        on_progress(f"installing undeclared imports of the tests: {', '.join(undeclared)}")
        try:
            await run_installer([*installer, *undeclared], failure)
        except DiskFull:
            raise
        except EnvironmentFailed:
            pass  # Some tests then cannot be imported, which the suite run reports.
    if declared.name:
        if canonicalize_name(declared.name) in _dependencies_of_pytest(site_packages(folder)):
            raise EnvironmentFailed(
                f"The functions of {declared.name} cannot be tested: pytest itself depends on it, and a broken function "
                "would crash pytest before any test."
            )
        _remove_copy(folder, declared.name)
    on_progress("compiling the environment")
    await run_installer([str(python), "-m", "compileall", "-q", "-j", "1", str(site_packages(folder))])
    installed, modules = _contents(folder)
    record = {"installed": installed, "modules": modules, "requirements": list(requirements)}
    (folder / "complete.json").write_text(json.dumps(record))
    return record


async def run_installer(command: Sequence[str], failure: str = "", why: Callable[[str], str] = last_words) -> None:
    """Run an installer command; ``why`` extracts the reason for a failure from its output.

    ``failure`` is the start of the EnvironmentFailed message; if it is empty, a failure is ignored.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("VIRTUAL_ENV", "PYTHON"))}
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment,
    )
    try:
        output, _ = await process.communicate()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    if process.returncode and failure:
        text = output.decode("utf-8", "replace")
        silent = "ensurepip" in text  # ensurepip does not print the reason for its failure
        if says_full(text) or (silent and any(is_full(folder) for folder in _written_folders())):
            raise _disk_full(full_folder(_written_folders()))
        cause = why(text) or f"{Path(command[0]).name} exited with status {process.returncode}"
        raise EnvironmentFailed(f"{failure}: {cause}.")


def _written_folders() -> tuple[Path, ...]:
    """Return the folders that an installation writes to: our own, the temporary folder, and the installers' caches."""
    caches = os.environ.get("UV_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME"), str(Path.home() / ".cache")
    return (
        paths.cache_dir() / "environments",
        Path(tempfile.gettempdir()),
        *(Path(folder) for folder in caches if folder),
    )


def _disk_full(folder: Path) -> DiskFull:
    return DiskFull(
        f"The disk is full: there is no room in {folder} for the test environment; free some space"
        + (" or set WORKBENCH_CACHE_DIR to another folder." if folder == _written_folders()[0] else ".")
    )


def _contents(folder: Path) -> tuple[list[str], list[str]]:
    """Return ``name==version`` of every installed distribution, and the installed top-level modules."""
    site = site_packages(folder)
    installed = []
    for info in sorted(site.glob("*.dist-info")):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        installed.append(f"{name.replace('_', '-').lower()}=={version}")
    modules = {path.name.split(".")[0] for path in site.iterdir() if not path.name.endswith((".dist-info", ".pth"))}
    return installed, sorted(modules)


def _dependencies_of_pytest(site: Path) -> frozenset[str]:
    """Return the canonical names of pytest and its transitive dependencies as installed in ``site``."""
    requirements: dict[str, tuple[str, ...]] = {}
    for one in importlib.metadata.distributions(path=[str(site)]):
        required = (line for line in one.requires or () if "extra ==" not in line)
        requirements[canonicalize_name(one.name)] = tuple(
            canonicalize_name(match[0]) for line in required if (match := re.match(r"[\w.-]+", line))
        )
    found, pending = set(), ["pytest"]
    while pending:
        name = pending.pop()
        if name in requirements and name not in found:
            found.add(name)
            pending += requirements[name]
    return frozenset(found)


def _remove_copy(folder: Path, name: str) -> None:
    """Remove the project's own distribution, which a dependency may have installed."""
    site = site_packages(folder)
    for info in site.glob("*.dist-info"):
        if canonicalize_name(info.name.removesuffix(".dist-info").rpartition("-")[0]) != canonicalize_name(name):
            continue
        with contextlib.suppress(OSError):
            for line in (info / "RECORD").read_text("utf-8").splitlines():
                target = (site / line.rsplit(",", 2)[0].strip('"')).resolve()
                if target.is_relative_to(folder.resolve()):
                    target.unlink(missing_ok=True)
                    # A folder with nothing but bytecode could still be imported as a namespace package.
                    parent, stop = target.parent, site.resolve()
                    while parent != stop and parent.is_relative_to(stop) and parent.is_dir():
                        if any(entry.name != "__pycache__" for entry in parent.iterdir()):
                            break
                        shutil.rmtree(parent, ignore_errors=True)
                        parent = parent.parent
        shutil.rmtree(info, ignore_errors=True)


def _metadata(declared: Declarations, python: Path) -> tuple[tuple[str, str], ...]:
    """Return files that make the project look installed: metadata, entry points and console scripts without code."""
    if not declared.name:
        return ()
    folder = f"{re.sub(r'[-_.]+', '_', declared.name)}-{declared.version}.dist-info"
    lines = [f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in table.items()) for group, table in
             {"console_scripts": declared.scripts, **declared.entry_points}.items() if table]  # fmt: skip
    header = f"Metadata-Version: 2.1\nName: {declared.name}\nVersion: {declared.version}\n"
    header += "".join(f"Requires-Dist: {line}\n" for line in declared.requirements)
    files = [(f"{folder}/METADATA", header), (f"{folder}/INSTALLER", "workbench\n"), (f"{folder}/RECORD", "")]
    if lines:
        files.append((f"{folder}/entry_points.txt", "\n".join(lines)))
    for name, target in declared.scripts.items():
        module, _, attribute = target.split("[")[0].strip().partition(":")
        if re.fullmatch(r"[\w.-]+", name) and re.fullmatch(r"[\w.]+", module) and re.fullmatch(r"[\w.]+", attribute):
            first = attribute.split(".")[0]
            files.append(
                (f"bin/{name}", f"#!{python}\nimport sys\nfrom {module} import {first}\nsys.exit({attribute}())\n")
            )
    return tuple(files)


def _test_arguments(root: Path, commands: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the first pytest command of ``case.toml`` into options and paths."""
    for command in commands:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise EnvironmentFailed(
                f"The test command {command!r} is not valid ({error}); write it as 'pytest …'."
            ) from None
        for index, word in enumerate(words):
            if word in ("pytest", "py.test"):
                rest = filtered_options(words[index + 1 :])
                found = tuple(entry for entry in rest if not entry.startswith("-") and (root / entry).exists())
                return tuple(entry for entry in rest if entry not in found), found
    return (), ()


def interpreter_folders(python: Path) -> Iterator[Path]:
    """Yield the folders outside ``/usr`` that contain the environment's interpreter."""
    for folder in dict.fromkeys((Path(sys.base_prefix).resolve(), python.resolve().parent.parent)):
        if not folder.is_relative_to("/usr"):
            yield folder


def site_packages(folder: Path) -> Path:
    return folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def completed(folder: Path) -> dict[str, list[str]] | None:
    try:
        return dict(json.loads((folder / "complete.json").read_text()))
    except (OSError, ValueError):
        return None


def uv_program() -> str | None:
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.exists() else shutil.which("uv")


@contextlib.asynccontextmanager
async def locked(path: Path) -> AsyncIterator[None]:
    """Hold an exclusive lock on a file."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        await asyncio.to_thread(fcntl.flock, descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)  # This also releases a lock that is acquired after the wait for it was cancelled.


def _title(declared: Declarations, root: Path) -> str:
    return declared.name or root.name
