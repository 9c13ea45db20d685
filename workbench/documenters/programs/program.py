"""Another program as a doc system: run once on a copy, with only a ``ChatEndpoint`` as network, and cached."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.disks import says_full
from workbench.base.errors import UsageError
from workbench.base.reasons import last_words
from workbench.base.text import plural
from workbench.documenters.names import DocsName
from workbench.documenters.programs import osa, repoagent
from workbench.documenters.programs.adapter import COPY, Adapter, Place, Start, Written, seen_of
from workbench.documenters.programs.command import Command, command_written_out
from workbench.documenters.programs.installing import Installable, interpreter
from workbench.documenters.programs.work_folder import KEPT, Documented, WorkFolder, read_documented
from workbench.documenters.types import Docstring, DocumentationFailed, Progress
from workbench.models.defaults import LOCAL_DOCSTRING_TOKENS, is_local
from workbench.models.types import Asker
from workbench.repository import Snapshot
from workbench.repository.definitions import DefinitionKey, DefinitionKind, find_definitions
from workbench.sandbox import program as sandboxed
from workbench.sandbox.program import Ended, Program, ProgramLimits

if TYPE_CHECKING:
    from workbench.models.endpoint import ChatEndpoint

_INSIDE = "/documented"
_REPORT_SECONDS = 0.5
_KINDS = {"function": "functions", "class": "classes", "module": "modules"}


class DocProgram:
    """A program that documents a repository, by default ``confined`` to a sandbox.

    ``sampled_as`` is the model whose answers are replayed, for their token limit; ``summary`` says how much it
    documented and what that took, once :meth:`prepare` is through.
    """

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
        self._documented: Documented | None = None

    async def prepare(self, snapshot: Snapshot, report: Callable[[Progress], None]) -> None:
        """Run the program, unless its output for these files is cached.

        Raises:
            DocumentationFailed: It crashed, hung, was stopped at a limit or wrote nothing that can be used.
            ModelError: No model can answer it (spend limit, key, name).
        """
        work = WorkFolder(snapshot, self._adapter.name, self._adapter.basis)
        try:
            async with work.alone(lambda: report(Progress(note="another run documents the same repository"))):
                documented = await asyncio.to_thread(read_documented, work.folder)
                if documented is None:
                    documented = await self._made(snapshot, work, report)
                    await asyncio.to_thread(work.save, documented)
        except OSError as error:
            raise DocumentationFailed(
                self._full(work) if says_full(error) else f"{self._adapter.title} could not be run: {error}."
            ) from error
        self._documented = documented
        self.summary = told(documented)
        report(Progress(note=self.summary))

    async def docstring(self, path: str, qualified_name: str, occurrence: int) -> Docstring:
        return await self.other_docstring(path, "function", qualified_name, occurrence)

    async def other_docstring(self, path: str, kind: DefinitionKind, qualified_name: str, occurrence: int) -> Docstring:
        assert self._documented is not None
        written = Written(self._documented.texts, self._documented.refused, self._documented.edited)
        key = DefinitionKey(kind, qualified_name, occurrence)
        return written.docstring(path, key, f"{self._adapter.title} wrote nothing here")

    async def _made(self, snapshot: Snapshot, work: WorkFolder, report: Callable[[Progress], None]) -> Documented:
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
        return Documented(dict(written.texts), dict(written.refused), counts, edited=dict(written.edited))

    async def _run(self, endpoint: ChatEndpoint, work: WorkFolder, report: Callable[[Progress], None]) -> Ended:
        newest = ""

        def on_line(line: str) -> None:
            nonlocal newest
            newest = line

        async def keep_telling() -> None:
            while True:
                asked = endpoint.counted.requests
                said = f"{plural(asked, 'request')}"
                report(Progress(note=" · ".join(filter(None, (said, newest)))))
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
                start = self._adapter.start(Place(f"{_INSIDE}/{COPY}", _INSIDE, url, model, key, work.area))
                program = _program(start, work.area, _INSIDE, socket, home="/home/sandbox")
                async with endpoint.on_socket(socket):
                    yield program, sandboxed.run_confined
                return
            async with endpoint.on_loopback() as port:
                url = f"http://127.0.0.1:{port}"
                start = self._adapter.start(Place(str(work.copy), str(work.area), url, model, key, work.area))
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


def _counts(snapshot: Snapshot, files: Sequence[str], written: Written) -> dict[str, float]:
    """Return how many functions, classes and modules there are, have a docstring now, and have an unchanged one."""
    counts: dict[str, float] = {kind + part: 0 for kind in _KINDS for part in ("", "_documented", "_unchanged")}
    counts |= {"written": 0, "refused": len(written.refused), "edited": len(written.edited)}
    for path in files:
        for one in find_definitions((snapshot.root / path).read_bytes(), path):
            text = written.texts.get((path, one.key))
            counts[one.key.kind] += 1
            counts[f"{one.key.kind}_documented"] += text is not None
            counts[f"{one.key.kind}_unchanged"] += text is not None and text == one.docstring
            counts["written"] += text is not None and text != one.docstring
    return counts


def _why_nothing(written: Written, endpoint: ChatEndpoint, ended: Ended, counts: dict[str, float]) -> str:
    if written.refused:
        path, why = next(iter(written.refused.items()))
        return f"left no docstring that can be used; {len(written.refused)} of its files are refused, {path}: {why}."
    if endpoint.errors:
        return f"wrote no docstring: {len(endpoint.errors)} of its requests failed, the first: {endpoint.errors[0].rstrip('.')}."
    said = last_words(ended.output)
    return "ended without having written a docstring" + (
        f"; the last it said: {said}." if said else " and said nothing."
    )


def told(documented: Documented) -> str:
    counts = documented.counts
    parts = [
        f"{counts[f'{kind}_documented']:,.0f} of {counts[kind]:,.0f} {plural}"
        for kind, plural in _KINDS.items()
        if counts[kind] and (kind == "function" or counts[f"{kind}_documented"])
    ]
    parts[-1:] = [f"{parts[-1]} documented"] if parts else []
    if unchanged := sum(counts.get(f"{kind}_unchanged", 0) for kind in _KINDS):
        # Not written by it: the repository's own docstrings, which it left as they were.
        parts.append(f"{unchanged:,.0f} of these unchanged")
    for what, noun in (("refused", "file"), ("edited", "definition")):
        if count := counts.get(what, 0):
            parts.append(f"{plural(round(count), noun)} left out, {'its' if count == 1 else 'their'} code was edited")
    parts.append(f"{counts['requests']:,.0f} requests")
    if counts["failed_requests"]:
        parts.append(f"{counts['failed_requests']:.0f} failed")
    tokens = counts["prompt_tokens"] + counts["completion_tokens"]
    parts += [f"{tokens:,.0f} tokens"] if tokens else []
    parts += [f"${counts['cost_usd']:.2f}"] if counts["cost_usd"] else []
    parts.append(f"{counts['seconds']:.0f} s")
    return " · ".join(parts)


INSTALLABLE: Mapping[str, Installable] = {one.name: one for one in (repoagent.INSTALLABLE, osa.INSTALLABLE)}


def doc_program(
    docs: DocsName, asker: Asker | None, *, seconds: float = 0.0, confined: bool = True, sampled_as: str = ""
) -> DocProgram:
    """Return the doc system for one of these programs; whether it is installed is checked when it runs."""
    limits = ProgramLimits(seconds=seconds) if seconds else ProgramLimits()
    return DocProgram(_adapter(docs), asker, limits, confined=confined, sampled_as=sampled_as)


def kept_place(docs: DocsName, snapshot: Snapshot) -> Path:
    adapter = _adapter(docs)
    return WorkFolder(snapshot, adapter.name, adapter.basis).folder / KEPT


def _adapter(docs: DocsName) -> Adapter:
    match docs.kind:
        case "repoagent":
            return repoagent.RepoAgent(docs.rest, docs.version or repoagent.INSTALLABLE.version)
        case "osa":
            return osa.Osa(docs.rest, docs.version or osa.INSTALLABLE.version)
        case "command":
            return Command(docs.rest)
    raise UsageError(f"{docs.text} is no program that documents repositories.")


def written_out(docs: DocsName, default_model: str) -> tuple[DocsName, str]:
    """Return a program's name with its version, or its command with paths and model, and the model ("" for none)."""
    if docs.kind == "command":
        text = command_written_out(docs.rest, default_model)
        return replace(docs, rest=text), Command(text).model
    program = INSTALLABLE[docs.kind]
    version = docs.version or program.version
    interpreter(program, version)
    return replace(docs, version=version), docs.rest
