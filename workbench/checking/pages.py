"""Check the pages of a repository: run their blocks and look up their claims."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from workbench.base.errors import UsageError
from workbench.base.files import read_bytes
from workbench.base.text import one_line
from workbench.checking.environment import (
    CheckEnvironment,
    environment_for,
    help_texts,
    require_isolation,
)
from workbench.checking.executing import NotSandboxed
from workbench.checking.facts import FactClaims
from workbench.checking.names import NameClaims
from workbench.checking.options import DefaultClaims, OptionClaims
from workbench.checking.packages import PackageClaims, wanted
from workbench.checking.running import STEP_SECONDS, run_page, settled
from workbench.checking.steps import plan_of, with_commands
from workbench.checking.verdicts import BlockPart, BlockResult, BlockVerdict, CheckResult
from workbench.claims.claim import CheckedClaim, LookupResult, Truth
from workbench.claims.declared import tree_files
from workbench.claims.page import A_VERSION, PAST_OR_FUTURE, Page, parse_page
from workbench.claims.project import ProjectIndex
from workbench.claims.python import python_of
from workbench.regeneration.environment import EnvironmentFailed

_FOR_DEVELOPERS = r"news|old|planning|designs?|rfcs?|peps?|adrs?|decisions?|research|internals?|notes|meetings?|analysis|audits?|reviews?|specs?|postmortems?"
#: Matches a page or folder by a word at the beginning or end of its name.
_NAME = re.compile(
    rf"(?:{PAST_OR_FUTURE}|{_FOR_DEVELOPERS})\b.*|.*\b(?:{PAST_OR_FUTURE}|{_FOR_DEVELOPERS})\W*\d*", re.I
)
_OF_PROJECTS = ("contributing", "code_of_conduct", "security", "license", "authors")


def is_page_for_readers(path: str) -> bool:
    """Return whether a page in a docs folder is meant for users, judging by its name and its subfolders."""
    *folders, name = PurePosixPath(path).parts[1:]
    if any(part.startswith(("_", ".")) for part in folders) or name.lower().startswith(_OF_PROJECTS):
        return False
    return not any(
        _NAME.fullmatch(title) or A_VERSION.fullmatch(title)
        for title in (re.sub(r"[_-]+", " ", part) for part in (*folders, PurePosixPath(name).stem))
    )


#: Largest page to check; a larger one is machine output rather than documentation.
LARGEST = 2_000_000

_OTHER_MARKUP = {".rst": "reStructuredText", ".adoc": "AsciiDoc", ".org": "Org", ".textile": "Textile", ".txt": "text"}


def read_page(root: Path, file: Path) -> Page:
    """Read a page for the repository at ``root``; the file itself may be elsewhere.

    Raises:
        UsageError: The file cannot be read, is too large, or is not Markdown.
    """
    inside = file.absolute().is_relative_to(root)
    path = file.absolute().relative_to(root).as_posix() if inside else str(file)
    suffix = file.suffix.lower()
    if suffix in _OTHER_MARKUP:
        raise UsageError(f"{path} is {_OTHER_MARKUP[suffix]}; only Markdown is checked.")
    if file.is_file() and (size := file.stat().st_size) > LARGEST:
        raise UsageError(f"{path} has {size / 1e6:.1f} MB; pages of up to {LARGEST / 1e6:.0f} MB are checked.")
    data = read_bytes(file, most=LARGEST)
    if b"\0" in data[:8000]:
        raise UsageError(f"{path} is a binary file, not Markdown.")
    folder = str(PurePosixPath(path).parent) if inside else "."
    return parse_page(data.decode("utf-8-sig", errors="replace"), path, "" if folder == "." else folder)


_PAGES = (".md", ".markdown", ".rst")
_DOCS = {"docs", "doc", "documentation"}


def project_folder(folder: Path) -> Path:
    """Return the nearest folder at or above ``folder`` that looks like a project, or ``folder`` itself."""
    for one in (folder, *folder.parents):
        if any((one / name).exists() for name in (".git", "pyproject.toml", "setup.py", "setup.cfg")):
            return one
    return folder


def find_pages(root: Path) -> tuple[str, ...]:
    """Return the README and the pages in docs folders, relative to ``root``.

    A README in reStructuredText is used if there is none in Markdown.
    """
    paths = [path.relative_to(root).as_posix() for path in tree_files(root) if path.suffix.lower() in _PAGES]
    readmes = sorted(path for path in paths if "/" not in path and path.lower().startswith("readme"))
    markdown = [path for path in readmes if not path.lower().endswith(".rst")]
    docs = [
        path
        for path in sorted(paths)
        if PurePosixPath(path).parts[0].lower() in _DOCS
        and not path.lower().endswith(".rst")
        and is_page_for_readers(path)
    ]
    return (*(markdown or readmes), *docs)


async def check(
    root: Path,
    files: Sequence[Path] = (),
    *,
    run: bool = True,
    seconds: float = STEP_SECONDS,
    on_progress: Callable[[str], None] = lambda line: None,
) -> CheckResult:
    """Check pages of the repository at ``root``, by default its README and docs. Nothing is written to ``root``.

    Raises:
        NoIsolation: Blocks are to be run, but no sandbox provides isolation on this machine.
        UsageError: There is no page to check.
    """
    root = Path(os.path.abspath(root))  # noqa: ASYNC240, PTH100 - accesses no file
    if run:
        require_isolation()
    pages, problems = await asyncio.to_thread(_pages, root, files)
    options = CheckOptions(run=run, seconds=seconds, on_progress=on_progress)
    return await check_pages(root, pages, options, problems)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Options for a check.

    If ``run`` is false, claims are looked up but no blocks are run. ``last`` is the last block to run. ``on_known`` is
    called with the partial result a few times a second.
    """

    run: bool = True
    seconds: float = STEP_SECONDS
    last: int | None = None
    on_progress: Callable[[str], None] = lambda line: None
    on_known: Callable[[CheckResult], None] = lambda known: None


async def check_pages(
    root: Path, pages: Sequence[Page], options: CheckOptions, problems: Sequence[str] = ()
) -> CheckResult:
    began = time.monotonic()
    project = ProjectIndex(root)
    pages = [with_commands(page, project) for page in pages]
    notes = list(problems)
    names = tuple(page.path for page in pages)
    environment: CheckEnvironment | None = None
    problem = ""
    runs = options.run and any(page.codes for page in pages)
    if runs:
        require_isolation()
        extras, others = wanted(pages, project)
        try:
            environment = await environment_for(project.root, project.declared, extras, others, options.on_progress)
        except EnvironmentFailed as error:
            problem = str(error)
            notes.append(problem)
    options.on_progress("running blocks and looking up claims" if runs else "looking up claims")
    # Claims are looked up while blocks run, because neither task depends on the other.
    looked_up = asyncio.create_task(_claims(pages, project, environment))
    try:
        if runs:
            blocks = await _blocks(pages, project, environment, problem, options, notes)
        else:
            blocks = []
            for page in pages:
                blocks += settled(page, plan_of(page, project, None), project, "running blocks was not requested")
        options.on_known(CheckResult(names, tuple(blocks), problems=tuple(notes)))
        claims = agreed(await looked_up, blocks)
    finally:
        looked_up.cancel()
    notes += [f"{page.path} has no blocks of code." for page in pages if not page.codes]
    cached = environment is not None and environment.cached
    return CheckResult(names, tuple(blocks), tuple(claims), tuple(notes), time.monotonic() - began, cached)


async def _claims(
    pages: Sequence[Page], project: ProjectIndex, environment: CheckEnvironment | None
) -> list[CheckedClaim]:
    helps = await help_texts(environment) if environment is not None else {}
    return [claim for page in pages for claim in await asyncio.to_thread(claims_of_page, page, project, helps)]


def _pages(root: Path, files: Sequence[Path]) -> tuple[list[Page], list[str]]:
    pages, problems = [], []
    for file in files or [root / name for name in find_pages(root)]:
        try:
            pages.append(read_page(root, file))
        except UsageError as error:
            problems.append(str(error))
    if not pages:
        raise UsageError(" ".join(problems) or f"There is no README and no page of docs in {root}.")
    return pages, problems


async def _blocks(
    pages: Sequence[Page],
    project: ProjectIndex,
    environment: CheckEnvironment | None,
    problem: str,
    options: CheckOptions,
    problems: list[str],
) -> list[BlockResult]:
    room = asyncio.Semaphore(max(1, os.cpu_count() or 1))

    def report(blocks: Sequence[BlockResult], waiting: Sequence[int]) -> None:
        names = (pages[0].path,)
        options.on_known(CheckResult(names, tuple(blocks), problems=tuple(problems), waiting=tuple(waiting)))

    async def one(page: Page) -> tuple[BlockResult, ...]:
        plan = await asyncio.to_thread(plan_of, page, project, environment, problem.rstrip("."))
        if options.last is not None:
            plan = plan.up_to(options.last)
        if environment is None:
            return settled(page, plan, project)
        async with room:
            try:
                on_known = report if len(pages) == 1 else None  # only a single page reports each block
                return await run_page(page, plan, project, environment, options.seconds, on_known, room)
            except NotSandboxed as error:
                problems.append(str(error))
                return settled(page, plan, project, "its sandbox provides no isolation")

    return [block for blocks in await asyncio.gather(*(one(page) for page in pages)) for block in blocks]


# -- claims


def claims_of_page(page: Page, project: ProjectIndex, helps: Mapping[str, str]) -> list[CheckedClaim]:
    """List the claims of a page by line, each at most once per line.

    ``helps`` is the result of :func:`.environment.help_texts`.
    """
    found: dict[tuple[int, str, str], CheckedClaim] = {}
    for claims in (
        NameClaims(page, project).all(),
        OptionClaims(page, project, helps).all(),
        DefaultClaims(page, project).all(),
        PackageClaims(page, project).all(),
        FactClaims(page, project).all(),
    ):
        for claim in claims:
            found.setdefault((claim.line, claim.kind, claim.text), _in_its_section(claim, page))
    return sorted(found.values(), key=lambda claim: claim.line)


def untrue_claims(readme: str, project: ProjectIndex) -> list[CheckedClaim]:
    """Return the claims of a README that the repository contradicts, as input for a judge; nothing is run."""
    claims = claims_of_page(parse_page(readme, "README.md"), project, {})
    return [one for one in claims if one.lookup.truth is Truth.UNTRUE]


#: A sentence saying that something does not exist, was renamed, or belongs to another time or language.
_NOT_SO = re.compile(
    r"\b(?:do(?:es)?\s+not|doesn't|don't|did\s+not|no\s+longer|is\s+not|isn't|are\s+not|aren't|cannot|never)\b[^.]{0,60}"
    r"\b(?:exist|available|supported|provided?|work|present|there|published|included|implemented|have|part)\b|"
    r"\bno such\b|\bthere (?:is|are) no\b|\b(?:re|un)named\b|\bremoved\b|\bdeprecated\b|\bformerly\b|\bmisspel|\btypos?\b|"
    r"\b(?:javascript|typescript|java|kotlin|swift|ruby|rust|golang|c\+\+)\b",
    re.I,
)
_OF_PROSE = frozenset({"name", "extra", "dependency", "option", "variable", "default", "file"})


def _in_its_section(claim: CheckedClaim, page: Page) -> CheckedClaim:
    """Change an untrue claim to undecided if the surrounding text says that it does not hold, or not at present."""
    if claim.lookup.truth is not Truth.UNTRUE:
        return claim
    if claim.kind in _OF_PROSE:
        for first, written in page.prose:
            if first <= claim.line <= first + written.count("\n") and (found := _NOT_SO.search(written)):
                reason = f"{claim.lookup.reason}; its paragraph says “{one_line(found[0], 40)}”"
                return replace(claim, lookup=LookupResult(Truth.UNDECIDED, reason))
    for first, last, heading in page.another_time:
        if first <= claim.line <= last:
            reason = f"{claim.lookup.reason}; it stands below “{one_line(heading, 40)}”"
            return replace(claim, lookup=LookupResult(Truth.UNDECIDED, reason))
    return claim


_OF_SNIPPETS = frozenset({"name", "module", "parameter"})


def agreed(claims: Iterable[CheckedClaim], blocks: Sequence[BlockResult]) -> list[CheckedClaim]:
    """Change an untrue claim to unknown if a snippet that uses the name worked."""
    used: dict[tuple[str, int], str] = {}
    for block in blocks:
        if block.kind in ("python", "doctest"):
            for part in block.parts:
                if part.verdict is BlockVerdict.WORKS:
                    for line, text in _executed(part):
                        used[block.path, line] = f"{used.get((block.path, line), '')}\n{text}"
    found = []
    for claim in claims:
        row = used.get((claim.path, claim.line), "")
        word = (re.findall(r"\w+", claim.text) or [""])[-1]
        if (
            claim.lookup.truth is Truth.UNTRUE
            and claim.kind in _OF_SNIPPETS
            and re.search(rf"\b{re.escape(word)}\b", row)
        ):
            reason = f"{claim.lookup.reason} in the sources, and it works"
            claim = replace(claim, lookup=LookupResult(Truth.UNDECIDED, reason))
        found.append(claim)
    return found


def _executed(part: BlockPart) -> Iterator[tuple[int, str]]:
    """Yield the lines that are certainly executed when a snippet runs: all except function bodies and branches."""
    tree = python_of(part.code)
    lines = part.code.split("\n")
    inside = {
        number
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.If | ast.Try)
        for number in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }
    for number, text in enumerate(lines, 1):
        if number not in inside:
            yield part.line + number - 1, text


def fixed(text: str, claims: Iterable[CheckedClaim]) -> tuple[str, tuple[CheckedClaim, ...]]:
    """Correct a page's text and return it with the corrected claims.

    A claim is corrected if it occurs once on its line and there is a single closest true name.
    """
    lines = text.splitlines(keepends=True)
    mended = []
    for claim in claims:
        found = claim.lookup
        if found.truth is not Truth.UNTRUE or not found.exact or not found.nearest or claim.line > len(lines):
            continue
        pattern = rf"(?<![\w-]){re.escape(claim.text)}(?![\w-])"
        line, count = re.subn(pattern, lambda _: found.nearest, lines[claim.line - 1])  # noqa: B023 - used at once
        if count == 1:
            lines[claim.line - 1] = line
            mended.append(claim)
    return "".join(lines), tuple(mended)
