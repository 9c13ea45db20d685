"""The 28 repositories of the paper's Table 2: figures, sources, how to test them, and records of building them.

The paper's counts (Table 2) and pass@k (Tables 1 and 3) are CSV files in ``published/``. The tasks in Table 2 add up to
3,094, although the paper's text says 2,924; the tables are used as printed. Each repository has a TOML file in
``repositories/``. Records, which ``workbench catalog check`` writes, contain the counts and control results of one
machine; the user's own records in the data folder take precedence over the bundled ones in ``records/``.
"""

from __future__ import annotations

import csv
import functools
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.base import paths, typed_json
from workbench.base.text import one_line
from workbench.catalog.case_files import BadCase, TestCase, TomlTable, UnknownRepository, load_toml

#: The number of tasks in the paper's text, which differs from the sum of Table 2.
TASKS_IN_THE_TEXT = 2924
#: The paper calls a repository popular if it has more stars than this.
POPULAR = 100
#: Bounds stated in the paper's text: absolute correlation of any lexical metric with pass@k, and correlation of pass@k
#: with the CodeBERTScore between code and documentation.
MOST_LEXICAL_CORRELATION, CODE_DOC_CORRELATION = 0.2, 0.12
#: Figures from the paper's text: bounds of the interquartile ranges over repositories, and an upper bound on the share
#: of repositories in which two columns keep their order.
QUARTILES_APART, ORDER_KEPT = (0.15, 0.25), 0.4

_PUBLISHED = Path(__file__).resolve().parent / "published"


@dataclass(frozen=True, slots=True)
class PublishedCounts:
    """A row of Table 2: functions found, left before the last filter, and evaluated; forks and stars at that time."""

    candidates: int
    all_tasks: int
    tasks: int
    forks: int
    stars: int


@dataclass(frozen=True, slots=True)
class Score:
    """A published pass@k from 0 to 1, with two digits; documenter ``default`` means the original docstrings."""

    documenter: str
    documenter_model: str
    evaluator: str
    k: int
    value: float


@functools.cache
def published_counts() -> Mapping[str, PublishedCounts]:
    return {
        row["repository"]: PublishedCounts(
            int(row["n_candidates"]), int(row["n_all_tasks"]), int(row["n_tasks"]), int(row["forks"]), int(row["stars"])
        )
        for row in _rows("table2_repositories.csv")
    }


@functools.cache
def published_scores(repository: str = "") -> tuple[Score, ...]:
    """Return the pass@k of one repository (Table 3) or, if no name is passed, the means over all of them (Table 1)."""
    if not repository:
        return tuple(
            Score(row["doc_system"], row["doc_model"], column.partition("_")[2], int(column[5]), float(row[column]))
            for row in _rows("table1_pass_at_k.csv")
            for column in row
            if column.startswith("pass@")
        )
    return tuple(
        Score(row["doc_system"], row["doc_model"], row["evaluator"], int(row["k"]), float(row["pass@k"]))
        for row in _rows("table3_per_repository.csv")
        if row["repository"] == repository
    )


def published_name(source: str) -> str:
    """Return which of the paper's repositories a source refers to, or "" for none.

    A source may be ``owner/name``, a URL that ends in it (with ``.git`` or ``@REVISION``), or the name alone. A local
    folder of that name is the user's own and does not refer to any of them.
    """
    text = source.strip().removesuffix("/")
    text = re.sub(r"(?<=.)@[^/@:]*$", "", text).removesuffix(".git").lower()
    for known in published_counts():
        name = known.lower()
        if text in (name, name.rpartition("/")[2]) or ("://" in text and text.endswith(f"/{name}")):
            return known
    return ""


def _rows(name: str) -> list[dict[str, str]]:
    with (_PUBLISHED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# -- the paper's figures


#: The distribution includes tests, yields tasks and has a record. ``partly`` means that some tests are quarantined.
BUILT = ("builds", "partly")
#: The test suite runs on this machine, but there is no record of a complete check.
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
    """Unusable tests, as node IDs or patterns with ``*``, and the reason."""

    tests: tuple[str, ...]
    why: str

    def means(self, test: str) -> bool:
        return any(re.fullmatch(".*".join(map(re.escape, name.split("*"))), test) for name in self.tests)


@dataclass(frozen=True, slots=True)
class PaperRepository:
    """One of the paper's repositories."""

    repository: str
    license: str
    distribution: str  # the distribution that was tried, as ``NAME==VERSION``
    sha256: str  # checksum of the distribution
    revision: str  # git tag or commit, or "" for the default branch (the paper states none)
    install: tuple[str, ...]  # as in a ``case.toml``; () to use the project's declarations
    test: tuple[str, ...]  # as for ``install``
    status: str  # one of :data:`STATUSES`
    tried: str  # the attempt and its result, in one or two sentences
    quarantined: tuple[Quarantined, ...]
    published: PublishedCounts

    @property
    def name(self) -> str:
        """Return the part after the owner, which is unique among the 28."""
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
        """Return the pinned distribution if its test suite runs, or else the git repository."""
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
def load_repositories() -> tuple[PaperRepository, ...]:
    return tuple(_read(repository, counts) for repository, counts in published_counts().items())


def find_repository(text: str) -> PaperRepository:
    """Return the repository ``owner/name``, ``name`` or URL, ignoring case.

    Raises:
        UnknownRepository: There is no such repository in the catalog.
    """
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


def _read(repository: str, counts: PublishedCounts) -> PaperRepository:
    file = _FOLDER / f"{repository.partition('/')[2]}.toml"
    values = load_toml(file)
    table = TomlTable(values, file, _KEYS)
    if table.text("repository") != repository:
        raise table.wrong("repository", f"'{repository}', as in Table 2")
    status = table.text("status")
    if status not in STATUSES:
        raise table.wrong("status", f"one of {', '.join(STATUSES)}")
    distribution, sha256 = table.text("distribution", ""), table.text("sha256", "")
    if bool(distribution) != bool(re.fullmatch(r"[0-9a-f]{64}", sha256)):
        raise table.wrong("sha256", "the checksum of the distribution, 64 hexadecimal digits")
    return PaperRepository(
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
    tables = [TomlTable(entry, file, ("tests", "why"), "quarantined") for entry in values]
    return tuple(Quarantined(table.texts("tests"), table.text("why")) for table in tables)


# -- records of building tasks


_BUNDLED = Path(__file__).resolve().parent / "records"


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """The result of building a repository's tasks and running the controls on each of them."""

    repository: str
    source: str
    snapshot: str
    functions: int
    other_functions: int  # functions in tests, documentation and ``setup.py``
    traced: int  # functions that a stable test executes
    in_time: int  # of these, functions executed by tests within the time limit
    tasks: int  # of these, functions whose tests pass with the original body and fail with a stub
    dropped: Mapping[str, int]
    stable: int  # number of tests that passed in every run of the suite
    unstable: Mapping[str, str]  # tests that passed in only some runs, with their outcomes
    failing: Mapping[str, str]  # tests that never passed or hang, and files that cannot be imported, with the reason
    skipped: Mapping[str, str]  # tests that are skipped or expected to fail, with the reason
    reference: int  # tasks that pass with the original body; should equal ``tasks``
    stub: int  # tasks that pass with a stub; should be 0
    seconds: Mapping[str, float]  # wall-clock time of ``tasks`` (without the environment) and ``controls``
    date: str
    python: str
    sandbox: str
    workbench: str

    @property
    def sound(self) -> bool:
        return self.tasks > 0 and self.reference == self.tasks and self.stub == 0

    @property
    def unusable(self) -> int:
        return len(self.failing) + len(self.unstable)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def own_records_dir() -> Path:
    return paths.data_dir() / "catalogue"


def bundled_record(entry: PaperRepository) -> BuildRecord | None:
    return _record_in(_BUNDLED / f"{entry.name}.json")


def record_of(entry: PaperRepository) -> BuildRecord | None:
    return _record_in(own_records_dir() / f"{entry.name}.json") or bundled_record(entry)


def write_record(entry: PaperRepository, record: BuildRecord, folder: Path | None = None) -> Path:
    file = (folder or own_records_dir()) / f"{entry.name}.json"
    part = file.with_suffix(".part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(record.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(part, file)  # noqa: PTH105  atomic
    except OSError as error:
        raise BadCase(f"{file} cannot be written: {(error.strerror or str(error)).lower()}.") from None
    return file


def _record_in(file: Path) -> BuildRecord | None:
    try:
        return typed_json.decode(BuildRecord, file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadCase(
            f"{file} is not a valid record of a built repository ({error}); delete it or run the check again."
        ) from None
