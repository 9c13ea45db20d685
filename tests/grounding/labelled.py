"""A sample of READMEs with their items labelled by hand, and how far grounding agrees with it.

`labelled.tsv` was written from reading READMEs and repositories, before grounding was run on the held-out half. A README of a
release beside the code of a former one (``…-old``) has what was not there yet: real inventions, and no made-up ones.
"""

from __future__ import annotations

import csv
import json
import lzma
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workbench.grounding.claims import claims_of
from workbench.grounding.items import NOWHERE, SEEN, Grounding, RepositoryFile, Shown
from workbench.grounding.linking import ground

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Label:
    source: str
    half: str
    kind: str
    text: str
    status: str
    where: str
    excerpt: str


@cache
def labels() -> tuple[Label, ...]:
    with (HERE / "labelled.tsv").open(newline="") as file:
        return tuple(Label(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def sources() -> dict[str, Any]:
    return dict(json.loads(lzma.decompress((HERE / "sources.json.xz").read_bytes())))


@cache
def grounded(name: str) -> Grounding:
    """Return the grounding of a source's README by the steps and files that belong to it."""
    source = sources()[name]
    modules = {
        path.removeprefix("src/").split("/")[0].removesuffix(".py") for path in source["files"] if path.endswith(".py")
    }
    claims = claims_of(source["readme"], modules=modules, names={source["name"]})
    shown = [Shown(number, path, text.encode(), listed) for number, path, listed, text in source["steps"]]
    files = [
        RepositoryFile(path, len((text or "").encode()), (text or "").encode) for path, text in source["files"].items()
    ]
    return ground(claims, shown, files)


@dataclass
class Agreement:
    """Precision and recall of links to the right step or file, and of inventions; ``wrong`` says each disagreement."""

    links: Counter[str]
    inventions: Counter[str]
    wrong: list[str]

    def of(self, what: Counter[str]) -> tuple[float, float]:
        right = what["right"]
        return right / max(1, what["found"]), right / max(1, what["labelled"])


def agreement(half: str) -> Agreement:
    """Compare with the labels of one half; an item that is found and not labelled counts against the precision."""
    links, inventions, wrong = Counter[str](), Counter[str](), list[str]()
    mine = [label for label in labels() if label.half == half]
    for name in dict.fromkeys(label.source for label in mine):
        wanted = {(label.kind, label.text): label for label in mine if label.source == name}
        found = {(item.kind, item.text.rstrip("/")): item for item in grounded(name).items}
        for key in wanted.keys() | found.keys():
            label, item = wanted.get(key), found.get(key)
            where = "" if item is None else str(item.steps[0]) if item.status == SEEN else item.path
            said = "" if label is None else label.where
            right = item is not None and label is not None and (item.status, where) == (label.status, said)
            for present, status in ((label, label and label.status), (item, item and item.status)):
                if present is not None:
                    count = inventions if status == NOWHERE else links
                    count["labelled" if present is label else "found"] += 1
            if right:
                (inventions if item and item.status == NOWHERE else links)["right"] += 1
            else:
                by_hand = f"{label.status} {said}" if label else "no item"
                wrong.append(
                    f"{name}: {' '.join(key)}: by hand {by_hand}, found {item.status + ' ' + where if item else 'no item'}"
                )
    return Agreement(links, inventions, wrong)
