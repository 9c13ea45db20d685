"""Read and validate a ``case.toml`` and its ground truth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePosixPath

from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.files import Unreadable, read_bytes, read_text
from workbench.base.text import one_line
from workbench.repository import parse_source


class BadCase(WorkbenchError):
    """A ``case.toml`` or its ground truth is invalid; the message names the file, the ``key`` and what is expected."""

    key = expected = ""


class CannotBeCase(UsageError, BadCase):
    """A test case cannot be made with this ID or from this folder."""


class UnknownCase(UsageError):
    """There is no test case of that name; the message suggests similar names."""


class UnknownRepository(UnknownCase):
    """The catalog has no repository of that name; the message suggests similar names."""


class CaseExists(UsageError):
    """A test case of that name already exists and is not overwritten."""


KINDS = ("synthetic", "real", "own")


@dataclass(frozen=True, slots=True)
class Facts:
    """The ground truth of a test case; an agent never sees it."""

    main_purpose: str
    dependencies: tuple[str, ...] = ()
    run_command: str = ""
    key_features: tuple[str, ...] = ()
    must_mention: tuple[str, ...] = ()  # must occur verbatim in a good README
    main_file: str = ""  # POSIX path of the most important file


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """A repository to document, and what is known about it."""

    __test__ = False  # pytest would otherwise collect the class because of its name

    id: str
    name: str
    description: str  # for the user; it may reveal the purpose, so agents do not see it
    kind: str  # ``synthetic`` (written for this purpose), ``real`` or ``own`` (added by the user)
    domain: str = ""
    language: str
    source: str  # as for `workbench.repository.parse_source`, or "" for the folder ``repository/``
    alternatives: tuple[str, ...] = ()  # sources to try in order if ``source`` cannot be reached
    sha256: Mapping[str, str] = field(hash=False, default_factory=dict)  # checksums (64 hex digits) by source text
    hidden: tuple[str, ...] = ()  # patterns in addition to `workbench.repository.DEFAULT_HIDDEN`
    facts: Facts | None = None
    reference_readme: str | None = None
    license: str | None = None
    install: tuple[str, ...] = ()  # shell commands that also install test dependencies; () to guess
    test: tuple[str, ...] = ()  # shell commands; () to guess
    folder: Path  # contains the ``case.toml``, or is the repository of a case without one
    agent_description: str  # the description shown to agents; it never gives away the purpose

    @property
    def repository(self) -> Path:
        """The case's own repository folder; only meaningful without a ``source``."""
        return self.folder / "repository"


_LARGEST = 1_000_000


def load_toml(file: Path) -> dict[str, object]:
    import tomllib

    try:
        return tomllib.loads(read_text(file, most=_LARGEST))
    except Unreadable as problem:
        raise BadCase(str(problem)) from None
    except (ValueError, RecursionError) as error:
        raise BadCase(f"{file} is not valid TOML: {one_line(str(error), 120)}.") from None


class TomlTable:
    """A TOML table that checks its keys on construction and its values when they are read."""

    def __init__(self, values: Mapping[str, object], file: Path, known: Iterable[str], where: str = "") -> None:
        self._values = values
        self._where = where
        self.file = file
        known = tuple(known)
        for key in values:
            if key not in known:
                import difflib

                similar = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean '{similar[0]}'?" if similar else f"known keys are {', '.join(sorted(known))}."
                raise BadCase(f"{file}: the key '{self._shown(key)}' is not known; {hint}")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def wrong(self, key: str, expected: str) -> BadCase:
        problem = BadCase(f"{self.file}: '{self._shown(key)}' must be {expected}.")
        problem.key, problem.expected = self._shown(key), expected
        return problem

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string; if there is no default, it must be present and not blank."""
        value = self._values.get(key, default)
        if value is None:
            raise BadCase(f"{self.file}: the key '{self._shown(key)}' is missing; it must be a text.")
        if not isinstance(value, str):
            raise self.wrong(key, f"a text in quotes, not {_kind(value)}")
        if default is None and not value.strip():
            raise self.wrong(key, "a text that is not empty")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of non-blank strings, empty by default."""
        value = self._values.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, f'a list of texts, such as ["…"], not {_kind(value)}')
        for number, item in enumerate(value, 1):
            if not isinstance(item, str) or not item.strip():
                what = _kind(item) if not isinstance(item, str) else "an empty text"
                raise self.wrong(key, f"a list of texts, but item {number} is {what}")
        return tuple(value)

    def flag(self, key: str) -> bool:
        value = self._values.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(key, f"true or false, not {_kind(value)}")
        return value

    def table(self, key: str) -> dict[str, object] | None:
        value = self._values.get(key)
        if value is None or isinstance(value, dict):
            return value
        raise self.wrong(key, f"a table, written [{self._shown(key)}], not {_kind(value)}")

    def _shown(self, key: str) -> str:
        return one_line(f"{self._where}.{key}" if self._where else key, 60)


def _kind(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or time")


CASE_FILE = "case.toml"
GROUND_TRUTH = "ground_truth"

_HIDE_TESTS = "hide_tests"
_TESTS = ("tests/", "test/")
_KEYS = (*(field.name for field in fields(TestCase) if field.name != "folder"), _HIDE_TESTS)
_FACT_KEYS = tuple(field.name for field in fields(Facts))
_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_-])?")
_README_LIMIT = 1_000_000
_RESERVED = frozenset({"all"})  # reserved because `workbench run all` runs every case


def valid_id(text: str) -> bool:
    """Return whether a text can be a case ID, which is also used as a folder name and a command-line argument."""
    return _ID.fullmatch(text) is not None and text not in _RESERVED


def read_case(folder: Path) -> TestCase:
    """Read the case in ``folder``.

    The facts come from the table ``[facts]`` or from ``ground_truth/facts.toml``. The reference README is
    ``ground_truth/README.md`` unless ``reference_readme`` names another file. ``hide_tests = true`` hides the tests
    from agents, as AEO-Bench does.
    """
    file = folder / CASE_FILE
    table = TomlTable(load_toml(file), file, _KEYS)
    case_id = table.text("id", folder.name)
    if not valid_id(case_id):
        raise table.wrong(
            "id", "a short name of letters, digits, '_', '-' and '.', and not 'all', which means every case"
        )
    kind = table.text("kind", "own")
    if kind not in KINDS:
        raise table.wrong("kind", f"one of {', '.join(KINDS)}")
    source = _source(table, "source", table.text("source", ""))
    if source == "" and not (folder / "repository").is_dir():
        raise BadCase(f"{file}: 'source' is empty and there is no folder 'repository' beside it; add one of them.")
    alternatives = tuple(_source(table, "alternatives", text) for text in table.texts("alternatives"))
    name = table.text("name", case_id)
    if not name.isprintable():
        raise table.wrong("name", "a text on one line, without control characters")
    facts = _facts(table, folder)
    agent_description = table.text("agent_description", "") or f"{name}: a software project."
    if facts is not None and _repeats(agent_description, facts.main_purpose):
        raise table.wrong("agent_description", "different from the main purpose, which the agent has to find out")
    return TestCase(
        id=case_id,
        name=name,
        description=table.text("description", ""),
        kind=kind,
        domain=table.text("domain", ""),
        language=table.text("language", "Python"),
        source=source,
        alternatives=alternatives,
        sha256=_checksums(table, [text for text in (source, *alternatives) if text]),
        hidden=(*table.texts("hidden"), *(_TESTS if table.flag(_HIDE_TESTS) else ())),
        facts=facts,
        reference_readme=_reference(table, folder),
        license=table.text("license", "") or None,
        install=table.texts("install"),
        test=table.texts("test"),
        folder=folder,
        agent_description=agent_description,
    )


def _source(table: TomlTable, key: str, text: str) -> str:
    if not text.strip():
        return ""
    # A path in a case is relative to the case's folder, not to the working directory.
    if text.startswith(("./", "../")):
        text = str(table.file.parent / text)
    try:
        return str(parse_source(text))
    except WorkbenchError as error:
        raise BadCase(f"{table.file}: '{key}' is not a valid source: {error}") from None


def _checksums(table: TomlTable, sources: list[str]) -> Mapping[str, str]:
    if "sha256" not in table:
        return {}
    pins: Mapping[str, object]
    try:
        pins = table.table("sha256") or {}
    except BadCase:
        archives = [text for text in sources if parse_source(text).kind in {"sdist", "archive"}]
        if len(archives) != 1:
            raise table.wrong(
                "sha256", 'a table with one checksum for each source, such as "NAME==1.0" = "…"'
            ) from None
        pins = {archives[0]: table.text("sha256", "")}
    checked: dict[str, str] = {}
    for text, value in pins.items():
        key = _source(table, "sha256", text)
        if key not in sources:
            raise table.wrong("sha256", f"about the case's own sources, and '{text}' is none of them")
        if not isinstance(value, str) or not re.fullmatch(r"[0-9a-fA-F]{64}", value):
            raise table.wrong("sha256", f"64 hexadecimal digits for '{text}'")
        checked[key] = value.lower()
    return checked


def _facts(table: TomlTable, folder: Path) -> Facts | None:
    inline = table.table("facts")
    file = folder / GROUND_TRUTH / "facts.toml"
    if inline is not None and file.is_file():
        raise BadCase(f"{table.file}: the facts are defined twice, as [facts] and in {file}; keep one of them.")
    if inline is not None:
        facts = TomlTable(inline, table.file, _FACT_KEYS, "facts")
    elif file.is_file():
        facts = TomlTable(load_toml(file), file, _FACT_KEYS)
    else:
        return None
    main_file = facts.text("main_file", "")
    if main_file.startswith("/") or ".." in PurePosixPath(main_file).parts:
        raise facts.wrong("main_file", "a path inside the repository")
    purpose, dependencies, command = (
        facts.text("main_purpose"),
        facts.texts("dependencies"),
        facts.text("run_command", ""),
    )
    return Facts(purpose, dependencies, command, facts.texts("key_features"), facts.texts("must_mention"), main_file)


def _reference(table: TomlTable, folder: Path) -> str | None:
    named = table.text("reference_readme", "")
    file = folder / (named or f"{GROUND_TRUTH}/README.md")
    if not named and not file.is_file():
        return None
    if not file.resolve().is_relative_to(folder.resolve()):
        raise table.wrong("reference_readme", "a file inside the case's folder")
    try:
        return read_bytes(file, most=_README_LIMIT).decode("utf-8", "replace")
    except Unreadable as problem:
        raise table.wrong("reference_readme", f"a readable file of the case, and {str(problem).rstrip('.')}") from None


def _repeats(description: str, purpose: str) -> bool:
    def words(text: str) -> str:
        return " ".join(re.findall(r"\w+", text.casefold()))

    return bool(words(purpose)) and words(purpose) in words(description)
