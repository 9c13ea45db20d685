"""Read foreign files: recognise the format, and yield trajectories, tasks and candidates.

A file is recognised by its content; its suffix only says how to look. What is wrong with a file or item is a
:class:`ForeignProblem`, and reading continues behind it if possible.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extensions import ExtensionProblem, failure, is_dotted, load, make
from workbench.base.files import TooDeep, is_shallow, require_ordinary
from workbench.base.plugins import names, path_of
from workbench.interop.formats import atif, chat, inspect_log, samples, swe_agent
from workbench.interop.formats.checking import unsound_place, unsound_sample
from workbench.interop.formats.problems import ForeignProblem, said
from workbench.interop.formats.samples import ForeignCandidate, ForeignTask
from workbench.interop.formats.trajectory import Trajectory, to_json
from workbench.session.importer import Importer

MOST_BYTES = 1_000_000_000
"""Of a file of lines or an archive, which are read piece by piece."""
MOST_AT_ONCE = 100_000_000
"""Of a JSON document or a line, which must be in memory as a whole."""
_TEXTS = (".json", ".jsonl", ".ndjson", ".traj")
ENDINGS = (*_TEXTS, ".eval", ".parquet", *(f"{one}.gz" for one in _TEXTS))
"""What is looked at in a folder."""


_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Read:
    """One item of a file, or what is wrong with it; ``place`` is its position, "" for the whole file.

    A ``remark`` is on a file of which everything was read.
    """

    format: str
    item: Trajectory | ForeignTask | ForeignCandidate | None
    problem: str = ""
    place: str = ""
    remark: str = ""


_DOCUMENTS: tuple[tuple[str, Callable[[Any], bool], Callable[[Any], Trajectory]], ...] = (
    ("atif", atif.is_atif, atif.read_atif),
    ("mini-swe-agent", swe_agent.is_mini, swe_agent.read_mini),
    ("swe-agent", swe_agent.is_swe_agent, swe_agent.read_swe_agent),
    ("openai", chat.is_chat, chat.read_chat),
)
"""Formats whose file is one JSON document."""


def file_digest(path: Path) -> str:
    require_ordinary(path, most=MOST_BYTES)
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ForeignProblem(f"cannot be read: {(error.strerror or str(error)).lower()}") from None


def read_file(path: Path) -> Iterator[Read]:
    require_ordinary(path, most=MOST_BYTES)
    with path.open("rb") as stream:
        start = stream.read(4)
    if start.startswith(_GZIP):
        yield from _unpacked(path)
    elif start.startswith(b"PK"):
        yield from _logged(path)
    elif start == b"PAR1":
        yield from _rows(path)
    elif start.removeprefix(b"\xef\xbb\xbf").startswith(b"<"):
        raise ForeignProblem("is XML, of which none is read: JUnit does not say which text a verdict is about")
    elif path.suffix.lower() in {".jsonl", ".ndjson"}:
        yield from _lines(path)
    else:
        value = parsed(_all_of(path))
        if inspect_log.is_log(value):
            yield from _logged(path)
        elif samples.is_results(value):
            for found in samples.read_results(value, path.name):
                problem = isinstance(found, ForeignProblem)
                yield Read("evalplus-results", None, str(found)) if problem else Read("evalplus-results", found)  # type: ignore[arg-type]
        else:
            yield _document(value, path)


def _unpacked(path: Path) -> Iterator[Read]:
    with TemporaryDirectory(prefix="workbench-import-") as folder:
        inner = Path(folder) / (path.name.removesuffix(".gz") or path.name)
        size = 0
        try:
            with gzip.open(path) as packed, inner.open("wb") as file:
                while piece := packed.read(1 << 20):
                    size += len(piece)
                    if size > MOST_BYTES:
                        raise ForeignProblem(f"unpacks to more than {MOST_BYTES:,} bytes")
                    file.write(piece)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise ForeignProblem("is a damaged or truncated gzip file") from None
        with inner.open("rb") as stream:
            if stream.read(2) == _GZIP:
                raise ForeignProblem("is packed twice; unpack it once")
        yield from read_file(inner)


def _rows(path: Path) -> Iterator[Read]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise ForeignProblem(
            "is Parquet, whose reader is not installed: pip install 'docs-workbench[dataset]'"
        ) from None
    try:
        batches = parquet.ParquetFile(path).iter_batches(batch_size=100)
        number = 0
        for batch in batches:
            for row in batch.to_pylist():
                number += 1
                try:
                    yield _document(row, path, f"row {number:,}")
                except ForeignProblem as problem:
                    yield Read("", None, str(problem), f"row {number:,}")
    except (OSError, ValueError, KeyError) as error:  # what pyarrow raises is one of these
        raise ForeignProblem(f"is no Parquet that can be read ({said(error, 100)})") from None


def _logged(path: Path) -> Iterator[Read]:
    for place, found in inspect_log.read_log(path):
        if isinstance(found, Trajectory):
            yield Read("inspect", found, place=place)
        elif isinstance(found, str):
            yield Read("inspect", None, remark=found)
        else:
            yield Read("inspect", None, str(found), place)


def _all_of(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MOST_AT_ONCE:
        raise ForeignProblem(f"has {size:,} bytes in one JSON document; at most {MOST_AT_ONCE:,} are taken")
    if size == 0:
        raise ForeignProblem("is empty")
    return path.read_bytes()


def parsed(data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ForeignProblem(f"is not text in UTF-8 (byte {error.start:,})") from None
    try:
        value = json.loads(text)
        if not is_shallow(value):
            raise TooDeep
    except (TooDeep, RecursionError):
        raise ForeignProblem("is nested too deeply to be read") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated")
        what = f"is no JSON ({error.msg}, line {error.lineno:,})"
        raise ForeignProblem("ends in the middle of its JSON, so it is cut off" if cut else what) from None
    except ValueError as error:  # a number with more digits than Python reads
        raise ForeignProblem(f"is no JSON that can be read ({str(error).partition(';')[0]})") from None
    return value


def _document(value: Any, path: Path, place: str = "") -> Read:
    if (found := samples.read_item(value, path.name)) is not None:
        return Read(*found, place=place)
    for format, fits, read in _DOCUMENTS:
        if fits(value):
            return Read(format, read(value if place else _named(value, format, path)), place=place)
    offered = names("importer")
    also = f"; importers for --format: {', '.join(offered)}" if offered else ""
    raise ForeignProblem(f"is of no format that the workbench reads; docs/formats.md lists them{also}")


def _named(value: Any, format: str, path: Path) -> Any:
    """Add the task, which SWE-agent gives by the file name alone: ``INSTANCE.traj``, ``INSTANCE.traj.json``."""
    if format in {"swe-agent", "mini-swe-agent"} and isinstance(value, dict) and "instance_id" not in value:
        name = path.name.partition(".")[0]
        return {**value, swe_agent.NAMED_BY_FILE: name}
    return value


def _lines(path: Path) -> Iterator[Read]:
    number = 0
    with path.open("rb") as stream:
        while line := stream.readline(MOST_AT_ONCE + 1):
            number += 1
            if len(line) > MOST_AT_ONCE:
                raise ForeignProblem(f"has a line of more than {MOST_AT_ONCE:,} bytes, line {number:,}")
            if not line.strip():
                continue
            place = f"line {number:,}"
            try:
                yield _document(parsed(line), path, place)
            except ForeignProblem as problem:
                yield Read("", None, str(problem), place)
    if not number:
        raise ForeignProblem("is empty")


KIND = "importer"


def importer_named(text: str) -> Importer:
    """Return an importer by name or dotted path, after trying it in a process of its own, which it may crash."""
    from workbench.orders.extension_check import import_folders

    path = text if is_dotted(text) else path_of(KIND, text)
    if not path:
        known = "".join(f"{name}, " for name in names(KIND))
        raise UsageError(
            f"There is no importer {text!r}; choose {known}package.module:Class, or leave --format out: "
            "our own formats are known by what is in a file."
        )
    import_folders([(KIND, path)])
    found: Importer = make(KIND, load(KIND, path, Importer))
    endings = found.endings
    if not isinstance(endings, tuple) or not endings or not all(isinstance(one, str) and one for one in endings):
        raise ExtensionProblem(f'The importer {path} has no tuple of endings: endings = (".log",).')
    return found


def read_with(importer: Importer, path: Path) -> Iterator[Read]:
    """Yield what an importer finds in a file, or what is wrong with it; after an exception nothing more."""
    found = _asked(importer, path)
    number = 0
    for item in found:
        number += 1
        if problem := problem_of(item):
            problem = f"was read by {importer.name} into what does not fit: {problem}"
            yield Read(importer.name, None, problem, f"item {number:,}")
        else:
            assert isinstance(item, Trajectory | ForeignTask | ForeignCandidate)
            yield Read(importer.name, item, place=f"item {number:,}")
    if not number:
        raise ForeignProblem(f"has nothing that {importer.name} reads")


def _asked(importer: Importer, path: Path) -> Iterator[object]:
    try:
        yield from importer.read(path)
    except WorkbenchError as problem:
        raise ForeignProblem(f"was not read to its end: {problem}") from None
    except (Exception, SystemExit) as error:
        raise ForeignProblem(f"was not read to its end: {failure(KIND, importer.name, error)}") from error


def problem_of(item: object) -> str:
    if isinstance(item, Trajectory):
        if place := unsound_place(item):
            return f"{place} has a value of another kind than a Trajectory has there"
        try:
            json.dumps(to_json(item))
        except (TypeError, ValueError, RecursionError) as error:
            return f"its extra is no JSON ({error})"
        return ""
    if isinstance(item, ForeignTask | ForeignCandidate):
        return unsound_sample(item)
    return f"{type(item).__name__} is no Trajectory, ForeignTask or ForeignCandidate"
