"""Resolve a case named on the command line: an ID, a repository in the catalog, or any other source."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.text import one_line
from workbench.catalog.case_files import (
    CASE_FILE,
    BadCase,
    CannotBeCase,
    CaseExists,
    TestCase,
    UnknownCase,
    read_case,
    valid_id,
)
from workbench.repository import (
    DEFAULT_HIDDEN,
    BadSource,
    ChecksumMismatch,
    FetchError,
    Snapshot,
    Source,
    SourceUnavailable,
    UnsafeArchive,
    View,
    cached,
    fetch,
    parse_source,
)

_MOST_FILES = 20_000
_NAMES = {
    ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".jsx": "JavaScript",
    ".ts": "TypeScript", ".tsx": "TypeScript", ".go": "Go", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin",
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".rb": "Ruby", ".php": "PHP",
    ".swift": "Swift", ".scala": "Scala", ".jl": "Julia", ".r": "R", ".lua": "Lua", ".pl": "Perl", ".sh": "Shell",
    ".hs": "Haskell", ".ex": "Elixir", ".erl": "Erlang", ".dart": "Dart", ".zig": "Zig", ".f90": "Fortran",
}  # fmt: skip


def language_of(folder: Path) -> str | None:
    """Return the language of most files below ``folder``, "" if no suffix is recognised, or None if there are no files.

    Hidden folders are ignored. In a very large folder, only the first 20,000 files count. Ties are resolved in favour
    of Python, then alphabetically.
    """
    names = list(_file_names(folder))
    if not names:
        return None
    counts = Counter(language for name in names if (language := _NAMES.get(Path(name).suffix.lower())) is not None)
    return min(counts, key=lambda name: (-counts[name], name != "Python", name), default="")


def has_python(folder: Path) -> bool:
    """Return whether a folder contains a Python file outside hidden folders; a very large folder is assumed to."""
    names = enumerate(_file_names(folder), 1)
    return any(number >= _MOST_FILES or name.endswith((".py", ".pyi")) for number, name in names)


def _file_names(folder: Path) -> Iterator[str]:
    files = 0
    for _, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from names
        files += len(names)
        if files >= _MOST_FILES:
            return


_TEMPLATE = """\
# A test case for the Workbench: a repository, and what is known about it.
# Check it with:  workbench cases

id = {id}
name = {name}
# One sentence for yourself. It may reveal the purpose; agents do not see it.
description = {description}
kind = "own"
domain = ""
language = {language}
# license = "MIT"

# The description that agents see. It must not repeat the main purpose: finding that out is the agent's task.
agent_description = {agent_description}

# A folder, a git URL with @REVISION, or NAME==VERSION. Empty: the folder `repository/` beside this file.
source = {source}
# Sources to try in order when the source above cannot be reached.
alternatives = []

# Patterns hidden from agents, in addition to READMEs, documentation, package metadata and dotfiles. "!PATTERN" unhides.
hidden = []
# true keeps the folders tests/ and test/ from the agent, too, as AEO-Bench's own cases do.
hide_tests = false

# Shell commands for regeneration runs. If empty, they are guessed from the project's own files.
install = []
test = []

# The checksum of a source distribution or archive:
# [sha256]
# "NAME==VERSION" = "64 hexadecimal digits"

# The ground truth. Without it, criteria that need facts are not scored. Uncomment and fill in:
# [facts]
# main_purpose = "One sentence on what the project is for"
# dependencies = ["the", "distributions", "it", "needs"]
# run_command = "python -m project --help"
# key_features = ["what it can do, one phrase each"]
# must_mention = ["words that a good README contains"]
# main_file = "path/to/the/most_important.py"

# A README that is known to be good goes to ground_truth/README.md beside this file.
"""


def case_from_source(source_text: str) -> TestCase:
    """Return a test case for any source without writing anything; a folder with a ``case.toml`` is that case."""
    source = parse_source(source_text)
    folder = Path(source.location) if source.kind == "folder" else Path()
    if source.kind == "folder" and (folder / CASE_FILE).exists():
        return read_case(folder.resolve())
    return TestCase(
        id=suggested_id(source),
        name=source.name,
        description=str(source),
        kind="own",
        language=_language(source),
        source=str(source),
        folder=folder,
        agent_description=_agent_description(source),
    )


def add_case(source_text: str, id: str | None = None, folder: Path | None = None) -> Path:
    """Write a commented ``case.toml`` for a source and return its path.

    ``folder`` defaults to the folder of the user's own cases.

    Raises:
        BadSource: The source is not valid.
        CaseExists: The ID is taken.
        CannotBeCase: The ID or the folder cannot be used for a case.
        BadCase: The file cannot be written.
    """
    source = parse_source(source_text)
    if source.kind == "folder" and (Path(source.location) / CASE_FILE).exists():
        raise CannotBeCase(f"{source.location} is a test case already; run it by that path.")
    try:
        require_there(source)
    except BadSource as problem:
        raise CannotBeCase(str(problem)) from None
    case_id = suggested_id(source) if id is None else id
    if not valid_id(case_id):
        why = "it means every case" if case_id == "all" else "use letters, digits, '_', '-' and '.'"
        raise CannotBeCase(f"'{one_line(case_id, 60)}' cannot be a test case's id: {why}; give another one.")
    if (paths.bundled("test_cases") / case_id / CASE_FILE).exists():
        raise CaseExists(f"'{case_id}' is a bundled test case; give another id.")
    file = (folder or paths.own_cases_dir()) / case_id / CASE_FILE
    text = _TEMPLATE.format(
        id=_quoted(case_id),
        name=_quoted(source.name),
        language=_quoted(_language(source)),
        description=_quoted(str(source)),
        agent_description=_quoted(_agent_description(source)),
        source=_quoted(str(source)),
    )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # "x": if two processes add the same case at the same time, one of them gets an error.
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise CaseExists(
            f"The test case '{case_id}' exists already in {file}; give another id or edit that file."
        ) from None
    except OSError as error:
        raise BadCase(f"{file} cannot be written: {(error.strerror or str(error)).lower()}.") from None
    return file


def require_there(source: Source) -> None:
    """Reject a missing or empty local folder, or a missing archive; sources that must be fetched are not checked."""
    if source.kind in ("folder", "archive") and not Path(source.location).exists():
        what = "folder" if source.kind == "folder" else "archive"
        raise BadSource(f"The {what} {one_line(source.location, 200)} does not exist; check the path.")
    if source.kind == "folder" and language_of(Path(source.location)) is None:
        raise BadSource(
            f"The folder {one_line(source.location, 200)} contains no files; name one that contains a repository."
        )


def _language(source: Source) -> str:
    """Return the language of a folder's code; any other source counts as Python until it is fetched."""
    return (language_of(Path(source.location)) or "") if source.kind == "folder" else "Python"


def suggested_id(source: Source) -> str:
    made = re.sub(r"[^A-Za-z0-9_.-]+", "_", source.name).strip("_.-")[:60].rstrip(".")
    return made if valid_id(made) else "repository"


def _agent_description(source: Source) -> str:
    return f"{source.name}: a software project."


def _quoted(text: str) -> str:
    import json

    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


# -- a case from any repository


def snapshot_of(case: TestCase, *, progress: Callable[[str], None] | None = None) -> Snapshot:
    """Fetch a case's repository from its source, or from the first of its alternatives that can be reached.

    Anything that was fetched before, even from an alternative, is reused, so the content of the case does not change
    and no network is needed. Content that is unsafe or has a wrong checksum is rejected immediately, because falling
    back to an alternative would hide the problem.

    Raises:
        FetchError: No source could be fetched; the message says which ones were tried.
    """
    if not case.source and not case.alternatives:
        # Use the case's name as the source, because paths of this machine must not appear in a session.
        return replace(fetch(f"folder:{case.repository}", progress=progress), source=f"case {case.id}")
    sources = [text for text in (case.source, *case.alternatives) if text]
    tried: list[tuple[str, FetchError]] = []
    for text in sources:
        if (snapshot := cached(text, expected_sha256=case.sha256.get(text))) is not None:
            return snapshot
    for number, text in enumerate(sources, 1):
        try:
            return fetch(text, expected_sha256=case.sha256.get(text), progress=progress)
        except (ChecksumMismatch, UnsafeArchive):
            raise
        except FetchError as error:
            tried.append((text, error))
            if progress is not None and number < len(sources):
                progress(f"{error} Trying {sources[number]}…")
    if len(tried) == 1:
        raise tried[0][1]
    attempts = "; ".join(f"{text}: {str(error).rstrip('.')}" for text, error in tried)
    raise SourceUnavailable(f"None of the {len(tried)} sources of '{case.id}' could be fetched ({attempts}).")


def current_snapshot(case: TestCase) -> Snapshot | None:
    """Return the current content of a case's repository if it can change and can be read without the network, or None.

    Folders, archives and local branches are read again. For a remote branch, the content fetched before is returned.
    """
    source = parse_source(case.source) if case.source else None
    if source is None or source.kind in {"folder", "archive"} or source.location.startswith("file://"):
        return snapshot_of(case)
    if source.kind == "sdist":
        return None
    return cached(case.source, expected_sha256=case.sha256.get(case.source))


def kept_snapshot(case: TestCase, digest: str) -> Snapshot | None:
    """Return an earlier version of a case's repository by its digest, or None if it is no longer cached."""
    from workbench.base import paths
    from workbench.repository.store import ResolvedSource, Store

    source = case.source or f"case {case.id}"
    return Store(paths.cache_dir().absolute()).load(ResolvedSource(source, digest, "", "", 0.0)) if digest else None


def content_of(case: TestCase, snapshot: Snapshot | None) -> str:
    """Return a digest of everything that a trial depends on and that can change while the case keeps its name.

    This covers the repository (:func:`current_snapshot`; None omits it), its hidden paths, the agent's descriptions and
    the ground truth. The digest is "" for a pinned release without ground truth.
    """
    if snapshot is None and case.facts is None and case.reference_readme is None:
        return ""
    shown_to_agent = [case.name, case.agent_description, *case.hidden]
    truth = [asdict(case.facts) if case.facts else None, case.reference_readme]
    text = json.dumps([snapshot.digest if snapshot else "", shown_to_agent, truth], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def view_of(case: TestCase, snapshot: Snapshot) -> View:
    return View(snapshot.root, hidden=(*DEFAULT_HIDDEN, *case.hidden))


def load_cases() -> tuple[tuple[TestCase, ...], tuple[str, ...]]:
    """Return all test cases, bundled ones first and sorted by folder, and one sentence for each invalid case.

    A user's case with the ID of a bundled one is reported rather than loaded, because IDs are unique.
    """
    cases: dict[str, TestCase] = {}
    problems: list[str] = []
    for place in (paths.bundled("test_cases"), paths.own_cases_dir()):
        for folder in _case_folders(place, problems):
            try:
                case = read_case(folder)
                if case.id in cases:
                    raise BadCase(f"{folder / CASE_FILE}: the id '{case.id}' is taken by {cases[case.id].folder}.")
                cases[case.id] = case
            except WorkbenchError as error:
                problems.append(str(error))
    return tuple(cases.values()), tuple(problems)


def find_case(case_id: str) -> TestCase:
    """Return the case with this ID.

    Raises:
        UnknownCase: There is no such case; the message lists similar IDs, or says why the case could not be read.
    """
    cases, problems = load_cases()
    for case in cases:
        if case.id == case_id:
            return case
    shown = one_line(case_id, 60)
    for problem in problems:
        if case_id and f"/{case_id}/" in problem:
            raise UnknownCase(f"The test case '{shown}' cannot be used: {problem}")
    similar = similar_cases(case_id, cases)
    if similar:
        hint = f"did you mean {' or '.join(similar)}?"
    elif cases:
        hint = f"known are {', '.join(case.id for case in cases)}."
    else:
        hint = "there are no test cases at all."
    raise UnknownCase(f"There is no test case '{shown}'; {hint}")


def similar_cases(case_id: str, cases: Sequence[TestCase] = ()) -> list[str]:
    import difflib

    ids = [case.id for case in cases or load_cases()[0]]
    similar = difflib.get_close_matches(case_id.lower(), ids, n=3, cutoff=0.5)
    return similar + [other for other in ids if case_id and case_id.lower() in other and other not in similar][:3]


def _case_folders(place: Path, problems: list[str]) -> list[Path]:
    if not place.is_dir():
        return []
    try:
        return sorted(entry for entry in place.iterdir() if (entry / CASE_FILE).exists())
    except OSError as error:
        problems.append(f"The folder {place} cannot be read: {(error.strerror or str(error)).lower()}.")
        return []


_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?")


def resolve_case(text: str) -> TestCase:
    """Return the test case with the ID ``text``, or one made from the repository or source that ``text`` names.

    Test cases are tried first, then existing folders, then the catalog (``owner/name`` or ``name``), then other
    sources.
    """
    if text.startswith("/") and Path(text).exists():
        return case_from_source(text)  # IDs contain no slash, so there is no need to read the list of cases
    try:
        return find_case(text)
    except UnknownCase as unknown:
        if not _NAME.fullmatch(text) or Path(text).exists():
            looks_like_source = any(part in text for part in ("==", "://", "::", "/")) or text.startswith(".")
            if not looks_like_source and not Path(text).exists():
                raise
        elif (found := _of_the_catalogue(text, unknown)) is not None:
            return found
    return case_from_source(text)


def check_there(case: TestCase) -> None:
    """Reject a case if its local folder or archive does not exist; remote sources are not checked."""
    if case.source and not case.alternatives:
        require_there(parse_source(case.source))


def check_python(case: TestCase) -> None:
    """Reject a case that does not exist or has no Python file, because only Python functions can be regenerated."""
    check_there(case)
    source = parse_source(case.source) if case.source else None
    folder = Path(source.location) if source is not None and source.kind == "folder" else None
    if folder is not None and not has_python(folder):
        raise BadSource(
            f"The folder {one_line(str(folder), 200)} contains no Python file, but tasks are Python functions."
        )


def _of_the_catalogue(text: str, unknown: UnknownCase) -> TestCase | None:
    """Return the catalog's repository named ``text``, or None if ``text`` may be another kind of source."""
    # Imported here because running a test case needs none of the 28 files.
    from workbench.catalog.repositories import find_repository, similar_repositories

    try:
        return find_repository(text).case()
    except UnknownCase:
        similar = [*similar_cases(text), *similar_repositories(text)][:4]
    if similar and "cannot be used" not in str(unknown):
        raise UnknownCase(
            f"There is no test case and no repository of the catalogue called '{one_line(text, 60)}'; "
            f"did you mean {' or '.join(similar)}?"
        ) from None
    if "/" not in text:
        raise unknown
    return None
