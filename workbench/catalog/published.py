"""The paper's figures for its 28 repositories: counts (Table 2) and pass@k (Tables 1 and 3), read from CSV files.

Table 2's tasks sum to 3,094, while the paper's text says 2,924; the tables are used as printed.
"""

from __future__ import annotations

import csv
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: The number of tasks in the paper's text, which differs from the sum of Table 2.
TASKS_IN_THE_TEXT = 2924
#: Stars above which the paper calls a repository popular.
POPULAR = 100
#: What the text says of correlations with pass@k: no lexical metric's is further from 0, CodeBERTScore of code and docs is below.
MOST_LEXICAL_CORRELATION, CODE_DOC_CORRELATION = 0.2, 0.12
#: Between these, the text says, lie interquartile ranges over repositories; in fewer than this share of them two columns keep their order.
QUARTILES_APART, ORDER_KEPT = (0.15, 0.25), 0.4

_FOLDER = Path(__file__).resolve().parent / "published"


@dataclass(frozen=True, slots=True)
class Counts:
    """A row of Table 2: functions found, left before the last filter, and evaluated; forks and stars at that time."""

    candidates: int
    all_tasks: int
    tasks: int
    forks: int
    stars: int


@dataclass(frozen=True, slots=True)
class Score:
    """A published pass@k, from 0 to 1 with two digits; the documenter ``default`` is the original docstrings."""

    documenter: str
    documenter_model: str
    evaluator: str
    k: int
    value: float


@functools.cache
def published_counts() -> Mapping[str, Counts]:
    return {
        row["repository"]: Counts(
            int(row["n_candidates"]), int(row["n_all_tasks"]), int(row["n_tasks"]), int(row["forks"]), int(row["stars"])
        )
        for row in _rows("table2_repositories.csv")
    }


@functools.cache
def published_scores(repository: str = "") -> tuple[Score, ...]:
    """Return the pass@k of one repository (Table 3) or, without a name, the means over all of them (Table 1)."""
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
    """Return which of the paper's repositories a source names, "" for none.

    A source names one as ``owner/name``, by an address that ends in it (with ``.git``, with ``@REVISION``), or by its
    name alone. A folder of that name is a person's own and means none.
    """
    text = source.strip().removesuffix("/")
    text = re.sub(r"(?<=.)@[^/@:]*$", "", text).removesuffix(".git").lower()
    for known in published_counts():
        name = known.lower()
        if text in (name, name.rpartition("/")[2]) or ("://" in text and text.endswith(f"/{name}")):
            return known
    return ""


def _rows(name: str) -> list[dict[str, str]]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
