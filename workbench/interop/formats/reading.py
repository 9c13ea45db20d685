"""Read files of other programs: detect the format, and yield trajectories, tasks and candidates.

Formats are detected by content; the suffix only selects the container. A problem with a file or item is a
:class:`ForeignProblem`; if possible, reading continues after it.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.base.extensions import failure, installed, named_class, names
from workbench.base.files import TooDeep, is_shallow, require_ordinary
from workbench.base.typed_json import convert, encode
from workbench.interop.formats.samples import ForeignCandidate, ForeignTask
from workbench.interop.formats.trajectory import Trajectory
from workbench.interop.formats.values import ForeignProblem, quoted_value
from workbench.orders.import_files import KIND, LARGEST_FILE, Importer

MOST_AT_ONCE = 100_000_000
"""Maximum bytes of a JSON document or a line, which is read into memory."""
_TEXTS = (".json", ".jsonl", ".ndjson", ".traj")
ENDINGS = (*_TEXTS, ".eval", ".parquet", *(f"{one}.gz" for one in _TEXTS))
"""Suffixes of the files that are read from a folder."""
_GZIP = b"\x1f\x8b"
Item = Trajectory | ForeignTask | ForeignCandidate


@dataclass(frozen=True, slots=True)
class Read:
    """An item of a file, or its problem; ``place`` is its position, or "" for the whole file.

    A ``remark`` concerns a file that was read completely.
    """

    format: str
    item: Item | None
    problem: str = ""
    place: str = ""
    remark: str = ""


class Format:
    """A format of JSON values (a document, lines or Parquet rows); ``magic`` marks files that it opens itself."""

    name = ""
    endings = ENDINGS
    magic = b""

    def fits(self, value: Any) -> bool:
        raise NotImplementedError

    def item(self, value: Any, path: Path, place: str) -> Item:
        raise NotImplementedError

    def found(self, value: Any, path: Path, place: str) -> Iterator[Read]:
        yield Read(self.name, self.item(value, path, place), place=place)

    def read(self, path: Path) -> Iterator[Read]:
        return read_file(path, [self])


def own_formats() -> list[Format]:
    """Return this package's formats, which are detected by content."""
    return [named_class(KIND, one.name, Importer) for one in installed(own=True) if one.kind == KIND]


def read_file(path: Path, formats: Sequence[Format]) -> Iterator[Read]:
    require_ordinary(path, most=LARGEST_FILE)
    with path.open("rb") as stream:
        start = stream.read(4)
    if start.startswith(_GZIP):
        yield from _unpacked(path, formats)
    elif whole := next((one for one in formats if one.magic and start.startswith(one.magic)), None):
        yield from whole.found(None, path, "")
    elif start.removeprefix(b"\xef\xbb\xbf").startswith(b"<"):
        raise ForeignProblem("is XML, which is not supported: JUnit does not name the text of a verdict")
    elif start == b"PAR1" or path.suffix.lower() in {".jsonl", ".ndjson"}:
        for place, value in _rows(path) if start == b"PAR1" else _lines(path):
            try:
                yield from _recognised(parsed(value) if isinstance(value, bytes) else value, path, place, formats)
            except ForeignProblem as problem:
                yield Read("", None, str(problem), place)
    else:
        yield from _recognised(parsed(_all_of(path)), path, "", formats)


def _recognised(value: Any, path: Path, place: str, formats: Sequence[Format]) -> Iterator[Read]:
    for one in formats:
        if one.fits(value):
            yield from one.found(value, path, place)
            return
    if len(formats) == 1:
        raise ForeignProblem(f"contains no {formats[0].name} data")
    offered = names(KIND)
    also = f"; importers for --format: {', '.join(offered)}" if offered else ""
    raise ForeignProblem(f"has no supported format; see docs/reference/formats.md{also}")


def _unpacked(path: Path, formats: Sequence[Format]) -> Iterator[Read]:
    with TemporaryDirectory(prefix="workbench-import-") as folder:
        inner = Path(folder) / (path.name.removesuffix(".gz") or path.name)
        size = 0
        try:
            with gzip.open(path) as packed, inner.open("wb") as file:
                while piece := packed.read(1 << 20):
                    size += len(piece)
                    if size > LARGEST_FILE:
                        raise ForeignProblem(f"unpacks to more than {LARGEST_FILE:,} bytes")
                    file.write(piece)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise ForeignProblem("is a damaged or truncated gzip file") from None
        with inner.open("rb") as stream:
            if stream.read(2) == _GZIP:
                raise ForeignProblem("is compressed twice; decompress it once")
        yield from read_file(inner, formats)


def _rows(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise ForeignProblem(
            "is Parquet, and pyarrow is not installed: pip install 'docs-workbench[dataset]'"
        ) from None
    try:
        batches = parquet.ParquetFile(path).iter_batches(batch_size=100)
        for number, row in enumerate((row for batch in batches for row in batch.to_pylist()), 1):
            yield f"row {number:,}", row
    except (OSError, ValueError, KeyError) as error:  # base classes of pyarrow's exceptions
        raise ForeignProblem(f"is not readable Parquet ({quoted_value(error, 100)})") from None


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    number = 0
    with path.open("rb") as stream:
        while line := stream.readline(MOST_AT_ONCE + 1):
            number += 1
            if len(line) > MOST_AT_ONCE:
                raise ForeignProblem(f"has a line of more than {MOST_AT_ONCE:,} bytes, line {number:,}")
            if line.strip():
                yield f"line {number:,}", line
    if not number:
        raise ForeignProblem("is empty")


def _all_of(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MOST_AT_ONCE:
        raise ForeignProblem(f"has {size:,} bytes in one JSON document; the limit is {MOST_AT_ONCE:,}")
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
        raise ForeignProblem("is nested too deeply") from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated")
        what = f"is not JSON ({error.msg}, line {error.lineno:,})"
        raise ForeignProblem("is truncated JSON" if cut else what) from None
    except ValueError as error:  # raised for a number with more digits than Python parses
        raise ForeignProblem(f"is not readable JSON ({str(error).partition(';')[0]})") from None
    return value


def read_with(importer: Importer, path: Path) -> Iterator[Read]:
    """Yield the items or problems that an importer finds in a file; an exception ends the file."""
    number = 0
    for number, item in enumerate(_guarded(importer, path), 1):
        place = f"item {number:,}"
        if isinstance(item, Read):
            yield item
            continue
        try:
            yield Read(importer.name, _checked(item), place=place)
        except (ValueError, TypeError, RecursionError) as error:
            problem = f"was read by {importer.name} as an invalid item: {error}"
            yield Read(importer.name, None, problem, place)
    if not number:
        raise ForeignProblem(f"contains no {importer.name} data")


def _guarded(importer: Importer, path: Path) -> Iterator[object]:
    try:
        yield from importer.read(path)
    except ForeignProblem:
        raise
    except WorkbenchError as problem:
        raise ForeignProblem(f"was not read completely: {problem}") from None
    except (Exception, SystemExit) as error:
        raise ForeignProblem(f"was not read completely: {failure(KIND, importer.name, error)}") from error


def _checked(item: object) -> Item:
    """Normalise a trial, task or candidate to JSON values. Raises ValueError for any other object or value."""
    if not isinstance(item, Trajectory | ForeignTask | ForeignCandidate):
        raise ValueError(f"{type(item).__name__} is not a Trajectory, ForeignTask or ForeignCandidate")
    return convert(type(item), encode(item))
