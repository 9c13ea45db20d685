"""Any repository as a test case: for one run, or written down so that facts can be added."""

from __future__ import annotations

import re
from pathlib import Path

from workbench import paths
from workbench.catalog.cases import TestCase
from workbench.catalog.problems import BadCase, CaseExists
from workbench.catalog.reading import CASE_FILE, read_case, valid_id
from workbench.repository import Source, parse_source

_TEMPLATE = """\
# A test case for the Workbench: a repository, and what is known about it.
# Check it with:  workbench cases

id = {id}
name = {name}
# One sentence for yourself. It may give the purpose away; agents do not get it.
description = {description}
kind = "own"
domain = ""
language = "Python"
# license = "MIT"

# What the agent is told. It must not repeat the main purpose: the agent is to find that out.
agent_description = {agent_description}

# A folder, a git URL with @REVISION, or NAME==VERSION. Empty: the folder `repository/` beside this file.
source = {source}
# Tried in order when the source is out of reach.
alternatives = []

# Hidden from agents, on top of READMEs, documentation folders, package metadata and dotfiles. "!PATTERN" shows again.
hidden = []

# Shell commands for regeneration runs; empty: guessed from the project's own files.
install = []
test = []

# The checksum of a source distribution or archive:
# [sha256]
# "NAME==VERSION" = "64 hexadecimal digits"

# The ground truth. Without it, the criteria that need facts stay unscored. Remove the marks and fill in:
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
    """Return a test case for any folder, archive, git URL or pinned distribution, without writing anything.

    A folder that holds a ``case.toml`` is read as the case that it is.

    Raises:
        BadSource: The text names no source.
        BadCase: The folder's ``case.toml`` is not valid.
    """
    source = parse_source(source_text)
    folder = Path(source.location) if source.kind == "folder" else Path()
    if source.kind == "folder" and (folder / CASE_FILE).is_file():
        return read_case(folder.resolve())
    return TestCase(
        id=suggested_id(source),
        name=source.name,
        description=str(source),
        kind="own",
        domain="",
        language="Python",
        source=str(source),
        alternatives=(),
        sha256={},
        hidden=(),
        facts=None,
        reference_readme=None,
        license=None,
        install=(),
        test=(),
        folder=folder,
        agent_description=_agent_description(source),
    )


def add_case(source_text: str, id: str | None = None, folder: Path | None = None) -> Path:
    """Write a commented ``case.toml`` for a source, ready for facts to be filled in.

    Args:
        source_text: Any source text.
        id: The case's id; made from the source's name unless given.
        folder: Folder of the cases; the user's own unless given.

    Returns:
        The path of the new ``case.toml``.

    Raises:
        BadSource: The text names no source.
        CaseExists: There is a case of that id already.
        BadCase: The id cannot be one, the source is a case already, or the file cannot be written.
    """
    source = parse_source(source_text)
    if source.kind == "folder" and (Path(source.location) / CASE_FILE).is_file():
        raise BadCase(f"{source.location} is a test case already; run it by that path.")
    if source.kind in ("folder", "archive") and not Path(source.location).expanduser().exists():
        raise BadCase(f"{source.location} does not exist; name a folder, a git URL@revision or NAME==VERSION.")
    case_id = suggested_id(source) if id is None else id
    if not valid_id(case_id):
        raise BadCase(f"'{case_id}' cannot be a test case's id: use letters, digits, '_', '-' and '.'.")
    if (paths.bundled("test_cases") / case_id / CASE_FILE).exists():
        raise CaseExists(f"'{case_id}' is a bundled test case; give another id.")
    file = (folder or paths.own_cases_dir()) / case_id / CASE_FILE
    text = _TEMPLATE.format(
        id=_quoted(case_id),
        name=_quoted(source.name),
        description=_quoted(str(source)),
        agent_description=_quoted(_agent_description(source)),
        source=_quoted(str(source)),
    )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # "x": of two that add the same case at once, one is told.
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise CaseExists(
            f"The test case '{case_id}' exists already in {file}; give another id or edit that file."
        ) from None
    except OSError as error:
        raise BadCase(f"{file} cannot be written: {(error.strerror or str(error)).lower()}.") from None
    return file


def suggested_id(source: Source) -> str:
    """Return an id made from a source's name."""
    made = re.sub(r"[^A-Za-z0-9_.-]+", "_", source.name).strip("_.-")[:60].rstrip(".")
    return made if valid_id(made) else "repository"


def _agent_description(source: Source) -> str:
    return f"{source.name}: a software project."


def _quoted(text: str) -> str:
    """Return ``text`` as a TOML string; its escapes are a superset of JSON's but for lone surrogates."""
    import json

    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")
