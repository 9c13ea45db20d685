"""Copy a project as bytecode without sources and docstrings, so that readers can run it but not read it."""

from __future__ import annotations

import ast
import importlib.util
import io
import marshal
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from types import CodeType

from workbench.base import python_syntax
from workbench.claims.python import Definition
from workbench.sandbox import Workspace
from workbench.usage.tree import DOCUMENTS, cached_tree, project_files

#: Sources and stubs besides those in Python, and configuration, which describes the project.
_LEFT_OUT = frozenset(
    {".pyi", ".pyw", ".pyx", ".pxd", ".pxi", ".c", ".cc", ".cpp", ".h", ".hpp", ".rs", ".toml", ".cfg", ".ini", ".in", ".lock"}
)  # fmt: skip
#: Formats of documents; unlike other text files, packages hardly ever read these at run time.
_PROSE = DOCUMENTS - {".txt", ".html"}
_BUILD_SCRIPTS = frozenset({"setup.py", "noxfile.py", "fabfile.py", "tasks.py", "dodo.py"})


@dataclass(frozen=True, slots=True)
class BytecodeCopy:
    """A folder of the cache: ``lib`` is for ``PYTHONPATH``, and ``bin`` has the console scripts."""

    folder: Path

    @property
    def library(self) -> Path:
        return self.folder / "lib"

    @property
    def scripts(self) -> Path:
        return self.folder / "bin"


def bytecode_copy(workspace: Workspace, targets: Iterable[str]) -> BytecodeCopy:
    """Return the copy of a workspace's modules and data files; ``targets`` are the files of its public callables."""
    root = workspace.root
    names = project_files(workspace, {PurePosixPath(path) for path in targets})
    files: dict[str, bytes] = {}
    for import_root in workspace.import_roots:
        below = [PurePosixPath(name) for name in names if PurePosixPath(name).is_relative_to(import_root)]
        found = {path.relative_to(import_root): (root / path).read_bytes() for path in below}
        # If several roots have a module, the first wins, as in an import.
        files = {f"lib/{path}": content for path, content in _importable(found)} | files
    for name, text in workspace.metadata:
        files[name if name.startswith("bin/") else f"lib/{name}"] = text.encode("utf-8", "surrogateescape")
    copy = BytecodeCopy(cached_tree(root, (), files))
    for script in copy.scripts.glob("*"):
        script.chmod(0o755)
    return copy


def _importable(files: Mapping[PurePosixPath, bytes]) -> Iterator[tuple[PurePosixPath, bytes]]:
    packages = {path.parts[0] for path in files if path.suffix == ".py" and len(path.parts) > 1}
    for path, content in files.items():
        if path.suffix == ".py":
            code = None if str(path) in _BUILD_SCRIPTS else bytecode(content, str(path))
            if code is not None:
                yield path.with_suffix(".pyc"), code
        elif (
            (path.parts[0] in packages or (len(path.parts) == 1 and path.suffix))
            and path.suffix.lower() not in _LEFT_OUT | _PROSE
            and not _has_sources(content)
        ):
            yield path, content


def _has_sources(content: bytes) -> bool:
    """Return whether a data file is an archive from which modules could be imported."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return any(name.endswith((".py", ".pyi")) for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def bytecode(source: bytes, name: str) -> bytes | None:
    """Return the content of the ``.pyc`` file of a module without its docstrings, or None if it cannot be compiled."""
    try:
        code = python_syntax.retried(partial(_compiled, name=name), source)
    except python_syntax.UNREADABLE:
        return None
    return importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


def _compiled(source: bytes, name: str) -> CodeType:
    tree = ast.parse(source)
    for text in _docstrings(tree):
        text.value = ""  # not None, because modules call string methods on their docstrings
    return compile(tree, name, "exec", dont_inherit=True, optimize=0)


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    nodes = list(ast.walk(tree))
    # A program that parses its module's docstring, as with docopt, does not run without it.
    is_read = any(isinstance(one, ast.Name) and one.id == "__doc__" and isinstance(one.ctx, ast.Load) for one in nodes)
    for node in nodes:
        value: ast.expr | None = None
        if isinstance(node, Definition) or (isinstance(node, ast.Module) and not is_read):
            first = node.body[0] if node.body else None
            value = first.value if isinstance(first, ast.Expr) else None
        elif isinstance(node, ast.Assign) and any(_is_doc(one, plain=not is_read) for one in node.targets):
            value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value


def _is_doc(target: ast.expr, *, plain: bool) -> bool:
    if isinstance(target, ast.Name):
        return plain and target.id == "__doc__"
    return isinstance(target, ast.Attribute) and target.attr == "__doc__"
