"""Make a test case from any repository: for one run, or as a ``case.toml`` to which facts can be added."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from workbench.base import paths
from workbench.base.text import one_line
from workbench.catalog.reading import CASE_FILE, BadCase, CannotBeCase, CaseExists, TestCase, read_case, valid_id
from workbench.repository import BadSource, Source, parse_source

_MOST_FILES = 20_000
_NAMES = {
    ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".jsx": "JavaScript",
    ".ts": "TypeScript", ".tsx": "TypeScript", ".go": "Go", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin",
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".rb": "Ruby", ".php": "PHP",
    ".swift": "Swift", ".scala": "Scala", ".jl": "Julia", ".r": "R", ".lua": "Lua", ".pl": "Perl", ".sh": "Shell",
    ".hs": "Haskell", ".ex": "Elixir", ".erl": "Erlang", ".dart": "Dart", ".zig": "Zig", ".f90": "Fortran",
}  # fmt: skip


def language_of(folder: Path) -> str | None:
    """Return the language of most files below ``folder``, "" if its suffixes are unknown, None if there is no file.

    Hidden folders are left out; of a very large folder the first 20,000 files count. Ties go to Python, then by the
    alphabet.
    """
    names = list(_file_names(folder))
    if not names:
        return None
    counts = Counter(language for name in names if (language := _NAMES.get(Path(name).suffix.lower())) is not None)
    return min(counts, key=lambda name: (-counts[name], name != "Python", name), default="")


def has_python(folder: Path) -> bool:
    """Return whether a folder holds a Python file outside of hidden folders; a very large one is assumed to."""
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
    """Return a test case for any source, without writing; a folder with a ``case.toml`` is that case."""
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

    The id is by default derived from the source's name, the folder that of the user's own cases.

    Raises:
        BadSource: The text is not a valid source.
        CaseExists: There is already a case with that id.
        CannotBeCase: The id is not valid, or the folder is already a case or does not exist.
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
        # "x": if two processes add the same case at once, one of them gets an error.
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
    """Refuse a missing or empty local folder or a missing archive; what must be fetched is not checked."""
    if source.kind in ("folder", "archive") and not Path(source.location).exists():
        what = "folder" if source.kind == "folder" else "archive"
        raise BadSource(f"The {what} {one_line(source.location, 200)} does not exist; check the path.")
    if source.kind == "folder" and language_of(Path(source.location)) is None:
        raise BadSource(
            f"The folder {one_line(source.location, 200)} holds no files; name one that holds a repository."
        )


def _language(source: Source) -> str:
    """Return the language of a folder's code; everything else counts as Python until it is fetched."""
    return (language_of(Path(source.location)) or "") if source.kind == "folder" else "Python"


def suggested_id(source: Source) -> str:
    made = re.sub(r"[^A-Za-z0-9_.-]+", "_", source.name).strip("_.-")[:60].rstrip(".")
    return made if valid_id(made) else "repository"


def _agent_description(source: Source) -> str:
    return f"{source.name}: a software project."


def _quoted(text: str) -> str:
    import json

    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")
