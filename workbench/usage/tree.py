"""The tree in which answers are tested: the project without files that reveal results, and the harness for answers."""

from __future__ import annotations

import errno
import hashlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.regeneration.building import may_be_source
from workbench.regeneration.project_layout import is_test_file
from workbench.repository.sources import reason
from workbench.sandbox import Workspace
from workbench.sandbox.worker import is_left_out
from workbench.usage.tasks import Call, CallTarget

FOLDER = "workbench_usage"
ANSWER = f"{FOLDER}/answer.py"
PLACEHOLDER = b'def source():\n    return ""\n'

_HARNESS = Path(__file__).with_name("harness")
_HARNESS_FILES = ("harness.py", "site/sitecustomize.py")

#: Files that configure pytest or run before tests.
_OF_PYTEST = frozenset({"conftest.py", "pytest.ini", ".pytest.ini"})
_BESIDE_TESTS = frozenset({"__init__.py", "conftest.py"})
#: Endings of documents, whose examples may show results. A package may contain such files as data.
DOCUMENTS = frozenset({".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc", ".org", ".ipynb", ".html", ".pdf", ".tex"})
_DOCUMENT_FOLDERS = frozenset({"test", "tests", "testing", "doc", "docs", "example", "examples"})

_TEST = """import pytest

from workbench_usage import harness

harness.preload({module!r})
CALLS = {calls!r}


@pytest.mark.parametrize("number", range({count}))
def test_call(number, record_property):
    harness.run({kind!r}, CALLS[number], record_property)
"""


def usage_workspace(workspace: Workspace, entries: Sequence[tuple[CallTarget, Sequence[Call]]]) -> Workspace:
    """Return the workspace in which answers are tested on the calls of ``entries``.

    Its root is a folder of the cache, named after a digest of its content. The calls of the entry at position N are the
    tests ``test_call`` of ``test_N.py``, in their order; see :func:`test_id`.
    """
    files = {f"{FOLDER}/__init__.py": b"", f"{FOLDER}/pytest.ini": b"[pytest]\n", ANSWER: PLACEHOLDER}
    files |= {f"{FOLDER}/{name}": (_HARNESS / name).read_bytes() for name in _HARNESS_FILES}
    for position, (target, calls) in enumerate(entries):
        given = [{"inputs": call.inputs, "files": dict(call.files), "stdin": call.stdin} for call in calls]
        module = module_name(target.path, workspace.import_roots).removesuffix(".__main__")
        text = _TEST.format(module=module, calls=given, count=len(given), kind=target.kind)
        files[_test_file(position)] = text.encode("utf-8", "surrogateescape")
    targets = {PurePosixPath(target.path) for target, _ in entries}
    return replace(
        workspace,
        root=cached_tree(workspace.root, project_files(workspace, targets), files),
        pytest_args=("--import-mode=append", "--noconftest"),
        test_paths=(FOLDER,),
        # Plug-ins of the environment, possibly including the project itself, must not take part.
        variables=(*workspace.variables, ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")),
    )


def test_id(position: int, number: int) -> str:
    """Return the node id of a call."""
    return f"{_test_file(position)}::test_call[{number}]"


def _test_file(position: int) -> str:
    return f"{FOLDER}/test_{position}.py"


def module_name(path: str, roots: Sequence[str]) -> str:
    """Return the name under which a file of the project is imported."""
    file = PurePosixPath(path)
    root = max((root for root in map(PurePosixPath, roots) if file.is_relative_to(root)), key=str, default="")
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def project_files(workspace: Workspace, targets: Collection[PurePosixPath]) -> list[str]:
    """Return the files of the project without tests, documents and configuration of pytest."""
    root = workspace.root
    is_test_by_options = is_test_file(root, workspace.import_roots, workspace.own_modules)
    modules = [
        PurePosixPath(root_, *name.split(".")) for root_ in workspace.import_roots for name in workspace.own_modules
    ]
    files = (one for one in sorted(root.rglob("*")) if one.is_symlink() or one.is_file())
    found = [path for one in files if not is_left_out(path := PurePosixPath(one.relative_to(root).as_posix()))]
    python = [path for path in found if path.suffix == ".py"]

    def is_test(path: PurePosixPath) -> bool:
        # A package may need its own modules named `examples` or `testing`, so keep those.
        in_package = any(path.is_relative_to(module) for module in modules)
        named_so = not may_be_source(PurePosixPath(path.name) if in_package else path)
        return named_so or str(path) in workspace.test_paths or is_test_by_options(path)

    tests = {path for path in python if is_test(path)}
    # In a folder with mostly tests, the other files probably belong to them and may contain expected results.
    balance = Counter[PurePosixPath]()
    for path in python:
        balance[path.parent] += 1 if path in tests else -1 if path.name not in _BESIDE_TESTS else 0
    test_folders = [
        folder
        for folder, more in balance.items()
        if more > 0 and not any(path.is_relative_to(folder) for path in [*targets, *modules])
    ]

    def is_needed(path: PurePosixPath) -> bool:
        if path in targets:
            return True
        if path in tests or path.name in _OF_PYTEST or path.stem.upper() == "README" or path.parts[0] == FOLDER:
            return False
        if any(path.is_relative_to(folder) for folder in test_folders):
            return False
        if any(path.is_relative_to(module) or path == module.with_suffix(".py") for module in modules):
            return not {"test", "tests"}.intersection(path.parts[:-1])
        folders = {part.lower() for part in path.parts[:-1]}
        return not (
            path.suffix.lower() in DOCUMENTS
            or _DOCUMENT_FOLDERS & folders
            or any(p.startswith(".") for p in path.parts)
        )

    return [str(path) for path in found if is_needed(path)]


def cached_tree(project: Path, names: Sequence[str], files: Mapping[str, bytes]) -> Path:
    """Return the folder of the cache that contains these files of the project and ``files``."""
    digest = hashlib.sha256()
    for name, content in [*((name, _content(project / name)) for name in names), *sorted(files.items())]:
        digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    place = paths.cache_dir().absolute() / "usage"
    folder = place / digest.hexdigest()[:24]
    try:
        if not folder.is_dir():
            _write(folder, project, names, files)
    except OSError as error:
        raise WorkbenchError(
            f"The folder {place} for usage tasks cannot be written: {reason(error)}; fix that, or set WORKBENCH_CACHE_DIR to "
            "another folder."
        ) from None
    return folder


def _content(path: Path) -> bytes:
    # Links are copied as links, because they may lead outside the project.
    return str(path.readlink()).encode("utf-8", "surrogateescape") if path.is_symlink() else path.read_bytes()


def _write(folder: Path, project: Path, names: Sequence[str], files: Mapping[str, bytes]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix="new-", dir=folder.parent))
    try:
        for name in names:
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(project / name, new / name, follow_symlinks=False)
        for name, content in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)
        try:
            new.rename(folder)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):  # another process created it first
                raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
