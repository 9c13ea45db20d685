"""Run a third-party program as a doc system: once on a copy, with a ``ChatEndpoint`` as its only network, and cached.

An adapter defines how the program starts and where it writes its docstrings.
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
from workbench.base.text import plural
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
from workbench.models.types import ModelClient
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
    """Paths and the endpoint as the program sees them."""

    folder: str  # the copy to document, a git repository with one commit
    parent: str  # folder that contains the copy; the program may write other files here
    base_url: str  # ``http://127.0.0.1:PORT``, which serves chat completions below any path
    model: str
    key: str
    area: Path  # ``parent`` as seen on the host, for files that the program needs


@dataclass(frozen=True, slots=True)
class Start:
    """A program's command and its requirements in the sandbox."""

    command: Sequence[str]
    python: Path  # the program's interpreter, which is mounted
    variables: Mapping[str, str] = field(default_factory=dict)
    mounts: Sequence[Path] = ()  # folders visible read-only at the same path
    # existing folders below ``mounts``, whose content is writable and discarded afterwards
    scratch: Sequence[Path] = ()


class Adapter(Protocol):
    """Starts one program and reads its docstrings."""

    name: str  # identity of the program: name, version, model and everything else that changes its output
    title: str  # name in messages: ``RepoAgent 0.2.0``
    model: str  # model that answers its requests; "" if it needs none
    basis: str  # additional cache key besides the name, such as a script's digest

    def start(self, context: ProgramContext) -> Start: ...

    def read(self, pristine: Path, area: Path, paths: Sequence[str]) -> WrittenDocs:
        """Return the program's docstrings for the Python files ``paths`` in the folder ``pristine``.

        ``area`` contains the documented copy ``COPY`` and the program's other files. Raises DocumentationFailed if its
        output is unreadable.
        """


def mounts_of(python: Path) -> tuple[Path, ...]:
    """Return the folders outside ``/usr`` that an interpreter needs: its environment and its base installation."""
    environment, real = python.parent.parent, python.resolve().parent.parent
    folders = [environment] if (environment / "pyvenv.cfg").is_file() else []
    if python == Path(sys.executable):
        real = Path(sys.base_prefix).resolve()
    return tuple(each for each in (*folders, real) if not each.is_relative_to("/usr"))


class DocProgram:
    """Documents a repository by running a program, by default ``confined`` to a sandbox.

    ``sampled_as`` is the recorded model of a replay, which determines the token limit. :meth:`prepare` sets
    ``summary``, which states the number of docstrings and their cost.
    """

    needs_model = True
    adapter: ClassVar[Any]
    """The adapter's class for doc systems that are created by name: ``NAME:REST``, ``NAME-VERSION:REST``."""

    def __init__(
        self,
        adapter: Adapter,
        model_client: ModelClient | None,
        limits: ProgramLimits | None = None,
        *,
        confined: bool = True,
        sampled_as: str = "",
    ) -> None:
        self.name = adapter.name
        self.needs_model = bool(adapter.model)
        self.summary = ""
        self._adapter = adapter
        self._model_client = model_client
        self._limits = limits or ProgramLimits()
        self._confined = confined
        self._is_local = is_local(sampled_as or adapter.model)
        self._documented: DocumentedRepository | None = None

    @classmethod
    def named(
        cls, docs: DocsName, model_client: ModelClient | None, seconds: float, confined: bool, sampled_as: str
    ) -> DocProgram:
        """Create a doc system by name; whether its program is installed is checked when it runs."""
        limits = ProgramLimits(seconds=seconds) if seconds else ProgramLimits()
        return cls(cls.adapter(docs.rest, docs.version), model_client, limits, confined=confined, sampled_as=sampled_as)

    async def prepare(self, snapshot: Snapshot, report: Callable[[DocumentationProgress], None]) -> None:
        """Run the program unless its output for these files is cached.

        Raises:
            DocumentationFailed: The program crashed, exceeded a limit or wrote nothing usable.
            ModelError: The program's requests cannot be answered.
        """
        work = WorkFolder(snapshot, self._adapter.name, self._adapter.basis)
        try:
            async with work.alone(
                lambda: report(DocumentationProgress(note="waiting for another run that documents the same repository"))
            ):
                documented = await asyncio.to_thread(read_documented, work.folder)
                if documented is None:
                    documented = await self._document(snapshot, work, report)
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

    async def _document(
        self, snapshot: Snapshot, work: WorkFolder, report: Callable[[DocumentationProgress], None]
    ) -> DocumentedRepository:
        title = self._adapter.title
        if self._confined and (why := sandboxed.problem()):
            raise DocumentationFailed(
                f"{title} cannot be confined here: {why} With --sandbox process it runs without a sandbox."
            )
        await asyncio.to_thread(work.fresh_copy)
        # Recorded answers are looked up by this scope, which covers the documented files and the program.
        scope = hashlib.sha256(
            f"docs:{self._adapter.name}:{self._adapter.basis}:{snapshot.digest}".encode()
        ).hexdigest()
        from workbench.models.endpoint import ChatEndpoint

        endpoint = ChatEndpoint(
            self._model_client,
            self._adapter.model,
            purpose="documenter",
            scope=scope,
            most_tokens=LOCAL_DOCSTRING_TOKENS if self._is_local else None,
        )
        ended = await self._run(endpoint, work, report)
        await asyncio.to_thread(work.log.write_text, ended.output, encoding="utf-8")
        if endpoint.failure is not None:
            raise endpoint.failure
        self._check(ended, work)
        found = [entry.path for entry in snapshot.files if entry.path.endswith(".py")]
        written = await asyncio.to_thread(self._adapter.read, snapshot.root, work.area, found)
        counts = await asyncio.to_thread(_counts, snapshot, found, written)
        if not counts["written"]:
            raise DocumentationFailed(f"{title} {_why_nothing(written, endpoint, ended, counts)}")
        usage = endpoint.usage
        counts |= {"requests": usage.requests, "failed_requests": len(endpoint.errors), "seconds": ended.seconds,
                   "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens,
                   "cost_usd": usage.cost_usd}  # fmt: skip
        return DocumentedRepository(written.texts, written.refused, written.edited, counts)

    async def _run(
        self, endpoint: ChatEndpoint, work: WorkFolder, report: Callable[[DocumentationProgress], None]
    ) -> Ended:
        newest = ""

        def on_line(line: str) -> None:
            nonlocal newest
            newest = line

        async def report_progress() -> None:
            while True:
                requests = plural(endpoint.usage.requests, "request")
                report(DocumentationProgress(note=" · ".join(filter(None, (requests, newest)))))
                await asyncio.sleep(_REPORT_SECONDS)

        reporter = asyncio.ensure_future(report_progress())
        try:
            async with self._started(endpoint, work) as (program, run):
                return await run(program, self._limits, stop=endpoint.ended, on_line=on_line)
        finally:
            reporter.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reporter

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
        output = last_words(ended.output)
        last = f" Its last output: {output}." if output else ""
        match ended.stopped:
            case "time":
                words = f"did not finish within {limits.seconds:g} s (docs_time_limit) and was stopped.{last}"
            case "output":
                words = f"printed more than {limits.output_mb} MiB and was stopped.{last}"
            case "disk":
                words = f"wrote more than {limits.disk_mb} MiB into its folder and was stopped."
            case "memory":
                words = f"used more than {limits.memory_mb} MiB of memory and was killed by the kernel.{last}"
            case _ if not ended.status:
                return
            case _ if says_full(ended.output):
                raise DocumentationFailed(self._full(work))
            case _:
                words = f"exited with status {ended.status}: {output or 'it printed nothing'}."
        raise DocumentationFailed(f"{title} {words} Its output is in {work.log}.")

    def _full(self, work: WorkFolder) -> str:
        return (
            f"{self._adapter.title} could not write: the disk of {work.folder} is full, or it wrote more than "
            f"{self._limits.disk_mb} MiB of temporary files."
        )


_Run = Callable[..., Awaitable[Ended]]


def _program(start: Start, folder: Path, inside: str, socket: Path, *, home: str) -> Program:
    binaries = start.python.parent
    variables = {
        "PATH": f"{binaries}:/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",  # equal runs then send equal requests, whose answers are in the session
        "GIT_CONFIG_NOSYSTEM": "1",
        **start.variables,
    }
    bridge = Path(sys.executable)
    mounts = (*mounts_of(bridge), *mounts_of(start.python), *start.mounts)
    return Program(start.command, folder, inside, f"{inside}/{COPY}", bridge, socket, mounts, start.scratch, variables)


def _counts(snapshot: Snapshot, files: Sequence[str], written: WrittenDocs) -> dict[str, float]:
    """Count functions, classes and modules: in total, with a docstring now, and with an unchanged docstring."""
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
        return f"left no usable docstring; {len(written.refused)} of its files were rejected, {path}: {why}."
    if endpoint.errors:
        return f"wrote no docstring: {len(endpoint.errors)} of its requests failed, the first: {endpoint.errors[0].rstrip('.')}."
    output = last_words(ended.output)
    return "exited without writing a docstring" + (
        f"; its last output: {output}." if output else " and printed nothing."
    )
