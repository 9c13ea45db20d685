"""Import files of other programs into a session. Cheap to import."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from workbench.base import typed_json
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extension_check import import_folders
from workbench.base.extensions import ExtensionProblem, named_class, names, plugin_named
from workbench.base.files import expanded, require_ordinary, shown
from workbench.base.text import plural
from workbench.catalog import resolve_case
from workbench.orders.estimate import WorkEstimate, estimate_alike
from workbench.orders.measured import MeasuredRates
from workbench.orders.order import WorkOrder, new_run
from workbench.plans.plan import ImportPlan
from workbench.session import SessionReader, SessionWriter, engine_starts, ensure
from workbench.session.pending_work import is_imported
from workbench.session.rows import RunRow

KIND = "importer"
LARGEST_FILE = 1_000_000_000
"""The maximum size of a file in bytes. It does not apply to line-based files and archives, which are read in pieces."""


class Importer(Protocol):
    """Reads the files of one format."""

    name: str  # The dotted path of the importer, set by the caller
    # The file name endings of the format in lower case, such as `(".log",)`; they select files in a folder
    endings: tuple[str, ...]

    def read(self, path: Path) -> Iterator[object]:
        """Yield each ``Trajectory``, ``ForeignTask`` or ``ForeignCandidate`` in a file.

        These types are defined in :mod:`workbench.interop.formats`. Leave a field empty if the file has no value for
        it. An exception is reported with the name of the file; the items yielded before it are still imported.
        """


@dataclass(eq=False)
class ImportOrder(WorkOrder):
    """Import files as one run of a session, skipping files that the session already contains.

    An unfinished import of the same files is continued in its original run.
    """

    asked: ImportPlan
    made: bool = field(default=False, init=False)  # Whether `write` created the session

    @cached_property
    def plan(self) -> ImportPlan:
        plan = self.asked
        importer, folders = try_importer(plan.importer, plan.import_folders) if plan.importer else ("", ())
        files = tuple(str(expanded(file).absolute()) for file in plan.files)
        case = resolve_case(plan.case).id if plan.case else ""
        return replace(plan, files=files, importer=importer, case=case, import_folders=folders)

    @cached_property
    def files(self) -> list[Path]:
        return files_of(self.plan)

    def resolve(self) -> None:
        _ = self.files

    @property
    def what(self) -> str:
        return f"import of {plural(len(self.files), 'file')}"

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        new = len(self.files)
        if self.session.exists():
            with SessionReader(self.session) as reader:
                new -= sum(_is_known(reader, file, self.plan.importer) for file in self.files)
        return estimate_alike(new, "file", measured.imports, "import")

    def write(self) -> None:
        plan, ordered = self.plan, {**self.plan.to_json(), "count": len(self.files)}
        self.made = ensure(self.session)
        with SessionReader(self.session) as reader:
            left = [run for run in reader.runs() if reader.holder(run.id) is None and _is_part(run, plan)]
        if left:
            with SessionWriter(self.session) as writer:
                engine_starts.announce(left[-1].id)
                config = json.dumps({**left[-1].plan, "imported": ordered}, ensure_ascii=False, sort_keys=True)
                writer.set_run(left[-1].id, config=config, state="queued", finished_at=None, error=None)
            self.runs = [left[-1].id]
            return
        with new_run(self.session) as (writer, run):
            # The executor sets the kind according to the first item that it finds.
            writer.add_run(run, "document", {"cases": [], "agent": "", "imported": ordered})
            name = shown(self.files[0].name) if len(self.files) == 1 else f"{len(self.files):,} files"
            writer.name_run(run, f"import: {name}")
        self.runs = [run]


def ordered_import(run: RunRow) -> ImportPlan | None:
    """Return the plan of an import run, or None for other runs and for the secondary run of a mixed import."""
    values = run.plan["imported"] if is_imported(run) else {}
    return typed_json.convert(ImportPlan, values) if values.get("files") else None


def _is_part(run: RunRow, plan: ImportPlan) -> bool:
    old = ordered_import(run) if run.state != "done" else None
    return old is not None and {*old.files} <= {*plan.files} and replace(old, files=plan.files) == plan


def _is_known(reader: SessionReader, file: Path, importer: str) -> bool:
    try:
        return reader.imported(file_key(file, importer)) is not None
    except (WorkbenchError, OSError):
        return False


def file_key(file: Path, importer: str = "") -> str:
    """Return the key of a file in the table ``imported``. Raises Unreadable or OSError."""
    require_ordinary(file, most=LARGEST_FILE)
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    # Another importer may find different items in the same file, so the key contains the importer.
    return f"file:{digest}:{importer}" if importer else f"file:{digest}"


def files_of(plan: ImportPlan) -> list[Path]:
    paths = list(map(Path, plan.files))
    folders = any(path.is_dir() for path in paths)
    return files_in(paths, endings_of(plan.importer, plan.import_folders) if folders else ())


def files_in(paths: Iterable[Path], endings: Sequence[str]) -> list[Path]:
    """Return the files, with folders expanded to the files with these endings; no file is listed twice."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = [one for one in path.rglob("*") if one.name.lower().endswith(tuple(endings)) and one.is_file()]
            if not inside:
                raise UsageError(f"The folder {shown(path)} contains no file that ends in {', '.join(endings)}.")
            found |= dict.fromkeys(sorted(inside))
        else:
            found[path] = None
    return list(found)


def try_importer(text: str, folders: Sequence[str] = ()) -> tuple[str, tuple[str, ...]]:
    """Return the name of an importer as stored in plans, and the folders to import it from.

    An importer from another package is first loaded in a separate process, because loading it could crash the process.
    """
    plugin = plugin_named(KIND, text)
    if plugin is None:
        known = ", ".join((*names(KIND, own=True), *names(KIND)))
        raise UsageError(
            f"There is no importer {text!r}; choose {known} or package.module:Class, or omit --format: these "
            "formats are recognised by their content."
        )
    return (text, ()) if plugin.own else (plugin.path, import_folders([(KIND, plugin.path)], folders))


def importer_named(text: str, folders: Sequence[str] = ()) -> Importer:
    found: Importer = named_class(KIND, text, Importer, folders)
    endings = found.endings
    if not isinstance(endings, tuple) or not endings or not all(isinstance(one, str) and one for one in endings):
        raise ExtensionProblem(f'The importer {found.name} has no tuple of endings: endings = (".log",).')
    return found


def endings_of(importer: str, folders: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the file endings of an importer, or of all built-in importers for ""."""
    read_by = [importer] if importer else names(KIND, own=True)
    return tuple(dict.fromkeys(one for name in read_by for one in importer_named(name, folders).endings))
