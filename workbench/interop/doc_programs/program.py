"""Another program as a doc system: run once on a copy, with only a ``ChatEndpoint`` as network, and cached.

What differs between programs is an adapter: how they start, where they leave their docstrings.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from workbench.base.disks import says_full
from workbench.base.reasons import last_words
from workbench.documenters.program_cache import (
    COPY,
    KINDS,
    DocumentedRepository,
    WorkFolder,
    WrittenDocs,
    read_documented,
    summary_of,
)
from workbench.documenters.types import DocsName, Docstring, DocumentationFailed, DocumentationProgress
from workbench.models.defaults import LOCAL_DOCSTRING_TOKENS, is_local
from workbench.models.types import Asker
from workbench.repository import Snapshot
from workbench.repository.functions import DefinitionKey, DefinitionKind, find_definitions
from workbench.sandbox import program as sandboxed
from workbench.sandbox.program import Ended, Program, ProgramLimits

if TYPE_CHECKING:
    from workbench.models.endpoint import ChatEndpoint

_INSIDE = "/documented"
_REPORT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class ProgramContext:
    """Where a program works, as it sees it."""

    folder: str  # the copy to document; a git repository with one commit
    beside: str  # holds the copy; it may leave other files here
    base_url: str  # ``http://127.0.0.1:PORT``; chat completions are answered below any path
    model: str
    key: str
    area: Path  # ``beside`` on this machine, for files that it needs beforehand


@dataclass(frozen=True, slots=True)
class Start:
    """How a program is started."""

    command: Sequence[str]
    python: Path  # an interpreter that it sees
    variables: Mapping[str, str] = field(default_factory=dict)
    mounts: Sequence[Path] = ()  # visible read-only, at the same path
    scratch: Sequence[Path] = ()  # existing folders below those in which it may write; discarded afterwards


class Adapter(Protocol):
    """One program."""

    name: str  # as in identities: program, version, model and whatever else changes its output
    title: str  # for sentences, ``RepoAgent 0.2.0``
    model: str  # that answers its requests; "" if it asks none
    basis: str  # what else its docstrings rest on, such as the digest of a script; a change makes it document anew

    def start(self, place: ProgramContext) -> Start: ...

    def read(self, pristine: Path, area: Path, paths: Sequence[str]) -> WrittenDocs:
        """Return its docstrings for the Python files ``paths`` of the folder ``pristine``.

        ``area`` holds the documented copy ``COPY`` and whatever the program left beside it. DocumentationFailed:
        nothing is readable.
        """


def seen_of(python: Path) -> tuple[Path, ...]:
    """Return the folders outside ``/usr`` that an interpreter needs to run: its environment, and what that rests on."""
    environment, real = python.parent.parent, python.resolve().parent.parent
    folders = [environment] if (environment / "pyvenv.cfg").is_file() else []
    if python == Path(sys.executable):
        real = Path(sys.base_prefix).resolve()
    return tuple(each for each in (*folders, real) if not each.is_relative_to("/usr"))


class DocProgram:
    """A program that documents a repository, by default ``confined`` to a sandbox.

    ``sampled_as`` is the model whose answers are replayed, for their token limit; ``summary`` says how much it
    documented and what that took, once :meth:`prepare` is through.
    """

    needs_model = True
    adapter: ClassVar[Any]
    """The class of its adapter, where the name of a doc system leads to it: ``NAME:REST``, ``NAME-VERSION:REST``."""

    def __init__(
        self,
        adapter: Adapter,
        asker: Asker | None,
        limits: ProgramLimits | None = None,
        *,
        confined: bool = True,
        sampled_as: str = "",
    ) -> None:
        self.name = adapter.name
        self.needs_model = bool(adapter.model)
        self.summary = ""
        self._adapter = adapter
        self._asker = asker
        self._limits = limits or ProgramLimits()
        self._confined = confined
        self._is_local = is_local(sampled_as or adapter.model)
        self._documented: DocumentedRepository | None = None

    @classmethod
    def named(cls, docs: DocsName, asker: Asker | None, seconds: float, confined: bool, sampled_as: str) -> DocProgram:
        """Return the doc system of a name; whether its program is installed is checked when it runs."""
        limits = ProgramLimits(seconds=seconds) if seconds else ProgramLimits()
        return cls(cls.adapter(docs.rest, docs.version), asker, limits, confined=confined, sampled_as=sampled_as)

    async def prepare(self, snapshot: Snapshot, report: Callable[[DocumentationProgress], None]) -> None:
        """Run the program, unless its output for these files is cached.

        DocumentationFailed: it crashed, hung, was stopped at a limit or wrote nothing usable; ModelError: no model can answer it.
        """
        work = WorkFolder(snapshot, self._adapter.name, self._adapter.basis)
        try:
            async with work.alone(
                lambda: report(DocumentationProgress(note="another run documents the same repository"))
            ):
                documented = await asyncio.to_thread(read_documented, work.folder)
                if documented is None:
                    documented = await self._made(snapshot, work, report)
                    await asyncio.to_thread(work.save, documented)
        except OSError as error:
            raise DocumentationFailed(
                self._full(work) if says_full(error) else f"{self._adapter.title} could not be run: {error}."
            ) from error
        self._documented = documented
        self.summary = summary_of(documented)
        report(DocumentationProgress(note=self.summary))

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        return await self.other_docstring(path, "function", qualified_name, occurrence)

    async def other_docstring(self, path: str, kind: DefinitionKind, qualified_name: str, occurrence: int) -> Docstring:
        assert self._documented is not None
        key = DefinitionKey(kind, qualified_name, occurrence)
        return self._documented.docstring(path, key, f"{self._adapter.title} wrote nothing here")

    async def _made(
        self, snapshot: Snapshot, work: WorkFolder, report: Callable[[DocumentationProgress], None]
    ) -> DocumentedRepository:
        title = self._adapter.title
        if self._confined and (why := sandboxed.problem()):
            raise DocumentationFailed(
                f"{title} cannot be confined here: {why} With --sandbox process it runs without a sandbox."
            )
        await asyncio.to_thread(work.fresh_copy)
        # Recorded answers are found by it: what is documented, by whom.
        scope = hashlib.sha256(
            f"docs:{self._adapter.name}:{self._adapter.basis}:{snapshot.digest}".encode()
        ).hexdigest()
        from workbench.models.endpoint import ChatEndpoint

        endpoint = ChatEndpoint(
            self._asker,
            self._adapter.model,
            purpose="documenter",
            scope=scope,
            most_tokens=LOCAL_DOCSTRING_TOKENS if self._is_local else None,
        )
        ended = await self._run(endpoint, work, report)
        await asyncio.to_thread(work.log.write_text, ended.output, encoding="utf-8")
        if endpoint.why is not None:
            raise endpoint.why
        self._check(ended, work)
        found = [entry.path for entry in snapshot.files if entry.path.endswith(".py")]
        written = await asyncio.to_thread(self._adapter.read, snapshot.root, work.area, found)
        counts = await asyncio.to_thread(_counts, snapshot, found, written)
        if not counts["written"]:
            raise DocumentationFailed(f"{title} {_why_nothing(written, endpoint, ended, counts)}")
        counted = endpoint.counted
        counts |= {"requests": counted.requests, "failed_requests": len(endpoint.errors), "seconds": ended.seconds,
                   "prompt_tokens": counted.prompt_tokens, "completion_tokens": counted.completion_tokens,
                   "cost_usd": counted.cost_usd}  # fmt: skip
        return DocumentedRepository(written.texts, written.refused, written.edited, counts)

    async def _run(
        self, endpoint: ChatEndpoint, work: WorkFolder, report: Callable[[DocumentationProgress], None]
    ) -> Ended:
        newest = ""

        def on_line(line: str) -> None:
            nonlocal newest
            newest = line

        async def keep_telling() -> None:
            while True:
                asked = endpoint.counted.requests
                said = f"{asked} request{'' if asked == 1 else 's'}"
                report(DocumentationProgress(note=" · ".join(filter(None, (said, newest)))))
                await asyncio.sleep(_REPORT_SECONDS)

        telling = asyncio.ensure_future(keep_telling())
        try:
            async with self._started(endpoint, work) as (program, run):
                return await run(program, self._limits, stop=endpoint.ended, on_line=on_line)
        finally:
            telling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await telling

    @asynccontextmanager
    async def _started(self, endpoint: ChatEndpoint, work: WorkFolder) -> AsyncIterator[tuple[Program, _Run]]:
        model, key = self._adapter.model or "none", endpoint.key
        with tempfile.TemporaryDirectory(prefix="workbench-endpoint-") as private:
            socket = Path(private, "socket")
            if self._confined:
                url = f"http://127.0.0.1:{sandboxed.PORT}"
                start = self._adapter.start(ProgramContext(f"{_INSIDE}/{COPY}", _INSIDE, url, model, key, work.area))
                program = _program(start, work.area, _INSIDE, socket, home="/home/sandbox")
                async with endpoint.on_socket(socket):
                    yield program, sandboxed.run_confined
                return
            async with endpoint.on_loopback() as port:
                url = f"http://127.0.0.1:{port}"
                start = self._adapter.start(ProgramContext(str(work.copy), str(work.area), url, model, key, work.area))
                yield _program(start, work.area, str(work.area), socket, home=private), sandboxed.run_plain

    def _check(self, ended: Ended, work: WorkFolder) -> None:
        limits, title = self._limits, self._adapter.title
        said = last_words(ended.output)
        last = f" The last it said: {said}." if said else ""
        match ended.stopped:
            case "time":
                words = f"did not end within {limits.seconds:g} s (docs_time_limit) and was ended.{last}"
            case "output":
                words = f"printed more than {limits.output_mb} MiB and was ended.{last}"
            case "disk":
                words = f"wrote more than {limits.disk_mb} MiB into its folder and was ended."
            case "memory":
                words = f"used more than {limits.memory_mb} MiB of memory and was ended by the kernel.{last}"
            case _ if not ended.status:
                return
            case _ if says_full(ended.output):
                raise DocumentationFailed(self._full(work))
            case _:
                words = f"ended with status {ended.status}: {said or 'it said nothing'}."
        raise DocumentationFailed(f"{title} {words} Its output is in {work.log}.")

    def _full(self, work: WorkFolder) -> str:
        return (
            f"{self._adapter.title} found no room to write: the disk of {work.folder} is full, or it wrote more than "
            f"{self._limits.disk_mb} MiB of temporary files."
        )


_Run = Callable[..., Awaitable[Ended]]


def _program(start: Start, folder: Path, inside: str, socket: Path, *, home: str) -> Program:
    beside = start.python.parent
    variables = {
        "PATH": f"{beside}:/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",  # equal runs ask equal questions, which the session then has the answers to
        "GIT_CONFIG_NOSYSTEM": "1",
        **start.variables,
    }
    bridge = Path(sys.executable)
    mounts = (*seen_of(bridge), *seen_of(start.python), *start.mounts)
    return Program(start.command, folder, inside, f"{inside}/{COPY}", bridge, socket, mounts, start.scratch, variables)


def _counts(snapshot: Snapshot, files: Sequence[str], written: WrittenDocs) -> dict[str, float]:
    """Return how many functions, classes and modules there are, have a docstring now, and have an unchanged one."""
    counts: dict[str, float] = {kind + part: 0 for kind in KINDS for part in ("", "_documented", "_unchanged")}
    counts |= {"written": 0, "refused": len(written.refused), "edited": len(written.edited)}
    for path in files:
        for one in find_definitions((snapshot.root / path).read_bytes(), path):
            text = written.texts.get((path, one.key))
            counts[one.key.kind] += 1
            counts[f"{one.key.kind}_documented"] += text is not None
            counts[f"{one.key.kind}_unchanged"] += text is not None and text == one.docstring
            counts["written"] += text is not None and text != one.docstring
    return counts


def _why_nothing(written: WrittenDocs, endpoint: ChatEndpoint, ended: Ended, counts: dict[str, float]) -> str:
    if written.refused:
        path, why = next(iter(written.refused.items()))
        return f"left no docstring that can be used; {len(written.refused)} of its files are refused, {path}: {why}."
    if endpoint.errors:
        return f"wrote no docstring: {len(endpoint.errors)} of its requests failed, the first: {endpoint.errors[0].rstrip('.')}."
    said = last_words(ended.output)
    return "ended without having written a docstring" + (
        f"; the last it said: {said}." if said else " and said nothing."
    )
