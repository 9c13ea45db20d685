"""The 28 repositories of the paper's Table 2: their sources, how to test them, and what has been tried.

Each has a TOML file in ``repositories/``. Counts are in `workbench.catalog.published` and `workbench.catalog.records`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from workbench.base.text import one_line
from workbench.catalog.published import Counts, published_counts
from workbench.catalog.reading import BadCase, Table, TestCase, UnknownRepository, load_toml

#: The distribution includes tests and yields tasks, and has a record. ``partly``: some tests are quarantined.
BUILT = ("builds", "partly")
#: The test suite runs here, but there is no record of a complete check.
NOT_CHECKED = "not checked"
STATUSES = (
    *BUILT,
    NOT_CHECKED,
    "no tests in the distribution",
    "another project's distribution",
    "no distribution",
    "too large",
)

_FOLDER = Path(__file__).resolve().parent / "repositories"
_KEYS = (
    "repository", "license", "distribution", "sha256", "revision", "install", "test", "status", "tried", "quarantined",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Unusable tests, as node ids or patterns of them with ``*``, and the reason."""

    tests: tuple[str, ...]
    why: str

    def means(self, test: str) -> bool:
        return any(re.fullmatch(".*".join(map(re.escape, name.split("*"))), test) for name in self.tests)


@dataclass(frozen=True, slots=True)
class Repository:
    """One of the paper's repositories."""

    repository: str
    license: str
    distribution: str  # the one that was tried, ``NAME==VERSION``
    sha256: str  # of the distribution
    revision: str  # git tag or commit, "" for the default branch (the paper states none)
    install: tuple[str, ...]  # as in a ``case.toml``, () = what the project declares
    test: tuple[str, ...]  # as ``install``
    status: str  # one of :data:`STATUSES`
    tried: str  # what was tried and the result, in one or two sentences
    quarantined: tuple[Quarantined, ...]
    published: Counts

    @property
    def name(self) -> str:
        """The part after the owner, which is unique among the 28."""
        return self.repository.partition("/")[2]

    @property
    def url(self) -> str:
        return f"https://github.com/{self.repository}"

    @property
    def git(self) -> str:
        return f"git+{self.url}.git" + (f"@{self.revision}" if self.revision else "")

    @property
    def usable(self) -> bool:
        return self.status in (*BUILT, NOT_CHECKED)

    @property
    def source(self) -> str:
        """The pinned distribution if its test suite runs, else the git repository."""
        return self.distribution if self.usable else self.git

    def case(self) -> TestCase:
        return TestCase(
            id=self.name,
            name=self.repository,
            description=f"{self.repository}, one of the 28 repositories of the paper's Table 2.",
            kind="real",
            language="Python",
            source=self.source,
            sha256={self.distribution: self.sha256} if self.usable else {},
            license=self.license or None,
            install=self.install,
            test=self.test,
            folder=_FOLDER,
            agent_description=f"{self.name}: an open-source Python project.",
        )


@functools.cache
def load_repositories() -> tuple[Repository, ...]:
    return tuple(_read(repository, counts) for repository, counts in published_counts().items())


def find_repository(text: str) -> Repository:
    """Return the repository ``owner/name``, ``name`` or URL, ignoring case. Raises UnknownRepository."""
    wanted = re.sub(r"^(?:git\+)?https?://github\.com/|\.git$|/$", "", text.strip()).casefold()
    entries = load_repositories()
    for entry in entries:
        if wanted in (entry.repository.casefold(), entry.name.casefold()):
            return entry
    similar = similar_repositories(text)
    hint = f"did you mean {' or '.join(similar)}?" if similar else "`workbench catalog` lists them."
    raise UnknownRepository(f"The catalogue has no repository '{one_line(text, 60)}'; {hint}")


def similar_repositories(text: str) -> list[str]:
    import difflib

    names: dict[str, str] = {}
    for entry in load_repositories():
        names |= {entry.repository.casefold(): entry.repository, entry.name.casefold(): entry.repository}
    wanted = text.strip().casefold()
    found = difflib.get_close_matches(wanted, names, n=6, cutoff=0.6)
    found += [name for name in names if len(wanted) > 2 and wanted in name]
    return list(dict.fromkeys(names[name] for name in found))[:3]


def _read(repository: str, counts: Counts) -> Repository:
    file = _FOLDER / f"{repository.partition('/')[2]}.toml"
    values = load_toml(file)
    table = Table(values, file, _KEYS)
    if table.text("repository") != repository:
        raise table.wrong("repository", f"'{repository}', as in Table 2")
    status = table.text("status")
    if status not in STATUSES:
        raise table.wrong("status", f"one of {', '.join(STATUSES)}")
    distribution, sha256 = table.text("distribution", ""), table.text("sha256", "")
    if bool(distribution) != bool(re.fullmatch(r"[0-9a-f]{64}", sha256)):
        raise table.wrong("sha256", "the checksum of the distribution, 64 hexadecimal digits")
    return Repository(
        repository=repository,
        license=table.text("license", ""),
        distribution=distribution,
        sha256=sha256,
        revision=table.text("revision", ""),
        install=table.texts("install"),
        test=table.texts("test"),
        status=status,
        tried=table.text("tried"),
        quarantined=_quarantined(values.get("quarantined", []), file),
        published=counts,
    )


def _quarantined(values: object, file: Path) -> tuple[Quarantined, ...]:
    if not isinstance(values, list) or not all(isinstance(entry, dict) for entry in values):
        raise BadCase(f"{file}: 'quarantined' must be tables, written [[quarantined]].")
    tables = [Table(entry, file, ("tests", "why"), "quarantined") for entry in values]
    return tuple(Quarantined(table.texts("tests"), table.text("why")) for table in tables)
