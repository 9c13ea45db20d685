"""Link claims to the steps that showed them, else to the repository, else to nothing."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from workbench.grounding.items import (
    NOT_SEEN,
    NOWHERE,
    SEEN,
    STATUSES,
    UNSEEN,
    Claim,
    Grounding,
    Item,
    Place,
    RepositoryFile,
    Shown,
)

MOST_OF_A_FILE = 2_000_000
"""Bytes of a file of the repository that are looked at."""
MOST_OF_ALL = 60_000_000
"""Bytes of a repository that are looked at in all; sources before data."""
_MOST_PLACES = 40
"""Places of a number in one text at which its surroundings are looked at."""
_NEAR = 200
"""Bytes before and behind a number that are looked at, as far as they are of its line."""
_PARSERS = re.compile(rb"\btyper\b|\bfire\b|\bclick\b|BooleanOptionalAction|\bargparse\b|\boptparse\b")
_MADE_UP = re.compile(rb"\btyper\b|\bfire\.Fire\b|BooleanOptionalAction|\bclap\b|\bcyclopts\b|\btap\b")


@dataclass(slots=True)
class _Text:
    """A text with its origin and the wanted words in it."""

    name: str
    data: bytes
    has: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class _Needle:
    """A spelling with its words; a ``plain`` one is a single word and needs no further search."""

    spelling: str
    words: frozenset[bytes]

    @property
    def plain(self) -> bool:
        return " " not in self.spelling and "." not in self.spelling


def ground(
    claims: Sequence[Claim], shown: Sequence[Shown], repository: Iterable[RepositoryFile] | None, *, cut: bool = False
) -> Grounding:
    """Say what each claim rests on, the most doubtful first.

    ``shown`` has what each step showed, in any order, without errors of tools. ``repository`` is None where it is not on
    this machine: what no step showed is then *not seen*, never an invention. ``cut`` means that the README is longer than
    what was read of it.
    """
    if not claims:
        return Grounding((), repository is not None, cut)
    needles = {claim: _needles(claim) for claim in claims}
    wanted = frozenset().union(*(needle.words for groups in needles.values() for group in groups for needle in group))
    wanted |= {_parameter(claim.text) for claim in claims if claim.kind == "option" and claim.text.startswith("--")}
    finder = _Finder(wanted)
    texts = [(one.step, finder.text(one)) for one in sorted(shown, key=lambda one: one.step)]
    index = _index(texts)
    # A thing that is named ten times is looked for once.
    known: dict[tuple[object, ...], _Found] = {}
    seen: dict[Claim, _Found] = {}
    for claim in claims:
        key = (claim.kind, claim.needles, claim.context, claim.within)
        if key not in known:
            known[key] = finder.steps(claim, needles[claim], texts, index)
        seen[claim] = known[key]
    open_claims = [claim for claim in claims if not seen[claim].complete]
    lying = _lying(open_claims, needles, seen, finder, repository) if open_claims and repository is not None else {}
    return Grounding(_items(claims, seen, lying, repository is not None), repository is not None, cut)


@dataclass(frozen=True, slots=True)
class _Found:
    """Steps of each needle of a claim, in order, and steps that have all of them."""

    by_needle: list[list[int]]
    together: list[int]

    @property
    def complete(self) -> bool:
        return bool(self.by_needle) and all(self.by_needle)

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self.together or self.by_needle[-1])) if self.complete else ()


def _needles(claim: Claim) -> list[list[_Needle]]:
    return [[_Needle(one, _words_of(one)) for one in group] for group in claim.needles]


class _Finder:
    """Finds needles in texts; a text that several steps showed is split into words once."""

    def __init__(self, wanted: frozenset[bytes]) -> None:
        self._wanted = wanted
        self._known: dict[bytes, frozenset[bytes]] = {}

    def text(self, shown: Shown) -> _Text:
        """What a step showed, with its path; listed names become paths."""
        data = shown.data
        base = shown.path.strip("./") + "/" if shown.path not in {"", "."} else ""
        if shown.listed:
            data = _listing(data, base)
        elif shown.path:
            data = shown.path.encode("utf-8", "surrogatepass") + b"\n" + data
        return self.of(shown.path, data)

    def of(self, name: str, data: bytes) -> _Text:
        has = self._known.get(data) if len(data) > 200 else None
        if has is None:
            has = _present(data, self._wanted)
            if len(data) > 200:
                self._known[data] = has
        return _Text(name, data, has)

    def steps(
        self,
        claim: Claim,
        needles: list[list[_Needle]],
        texts: list[tuple[int, _Text]],
        index: dict[bytes, frozenset[int]],
    ) -> _Found:
        """Steps whose text has each needle of a claim; only texts with all words of a spelling are searched."""
        found: list[list[int]] = []
        for group in needles:
            places: set[int] = set()
            for needle in group:
                if needle.words:
                    places |= frozenset.intersection(*(index.get(word, frozenset()) for word in needle.words))
            if claim.kind == "option" and claim.text.startswith("--"):
                places |= index.get(_parameter(claim.text), frozenset())
            plain = claim.kind == "identifier" and not claim.within and all(one.plain for one in group)
            found.append(
                [place for place in sorted(places) if plain or self.place(claim, group, texts[place][1]) is not None]
            )
        together = sorted(set(found[0]).intersection(*found[1:]))
        return _Found(
            [[texts[place][0] for place in places] for places in found], [texts[place][0] for place in together]
        )

    def place(self, claim: Claim, group: list[_Needle], text: _Text) -> tuple[int, int] | None:
        """Where the first spelling of a group stands in a text; None where none does."""
        if claim.within and text.name.rsplit("/", 1)[-1] not in claim.within:
            return None
        for needle in group:
            if needle.words and needle.words <= text.has:
                found = self._exact(claim, needle, text)
                if found is not None:
                    return found
        if claim.kind == "option" and claim.text.startswith("--"):
            return _made_option(claim.text, text)
        return None

    @staticmethod
    def _exact(claim: Claim, needle: _Needle, text: _Text) -> tuple[int, int] | None:
        if claim.within:
            target = re.escape(needle.spelling.encode())
            match = re.search(rb"^(?:\.PHONY:.*\b)?" + target + rb"\s*:(?!=)|\"" + target + rb"\"\s*:", text.data, re.M)
            return match.span() if match else None
        if claim.kind == "identifier":
            if needle.plain:
                at = text.data.find(needle.spelling.encode("utf-8", "surrogatepass"))
                return at, at + len(needle.spelling)  # it is a word of the text: where it begins is only shown
            kind = "identifier" if " " in needle.spelling else "attribute"
            return next(_places_of(kind, needle.spelling, text.data), None)
        places = _places_of(claim.kind, needle.spelling, text.data)
        if not claim.context:
            return next(places, None)
        for place in islice(places, _MOST_PLACES):
            if _has_beginning(_around(text.data, *place), claim.context):
                return place
        return None


def _listing(data: bytes, base: str) -> bytes:
    try:
        names = json.loads(data)
    except (ValueError, RecursionError):
        names = data.decode("utf-8", "replace").split("\n")
    if not isinstance(names, list):
        return data
    return "\n".join(base + str(name) for name in names).encode("utf-8", "surrogatepass")


def _index(texts: list[tuple[int, _Text]]) -> dict[bytes, frozenset[int]]:
    places: dict[bytes, set[int]] = defaultdict(set)
    for place, (_, text) in enumerate(texts):
        for word in text.has:
            places[word].add(place)
    return {word: frozenset(found) for word, found in places.items()}


def _around(data: bytes, start: int, end: int) -> bytes:
    before = data.rfind(b"\n", max(0, start - _NEAR), start)
    behind = data.find(b"\n", end, end + _NEAR)
    return data[max(0, start - _NEAR) if before < 0 else before : end + _NEAR if behind < 0 else behind]


def _parameter(option: str) -> bytes:
    return option.removeprefix("--").removeprefix("no-").replace("-", "_").encode()


def _made_option(option: str, text: _Text) -> tuple[int, int] | None:
    """Where an option comes from that a parser derives from a parameter's name or another option."""
    name = option.removeprefix("--")
    plain = _parameter(option)
    if name.startswith("no-") and plain in text.has and _PARSERS.search(text.data):
        match = re.search(rb"--" + re.escape(plain.replace(b"_", b"-")) + rb"(?![\w-])", text.data)
        if match is not None:
            return match.span()
    made = text.data.find(b"--no-{") if name.startswith("no-") else -1
    if made >= 0:  # an option for each of several names
        return made, made + 6
    if plain in text.has and _MADE_UP.search(text.data):
        match = re.search(rb"\b" + re.escape(plain) + rb"\s*(?::|=)", text.data)
        return match.span() if match else None
    return None


# -- what nobody looked at


def _lying(
    claims: list[Claim],
    needles: dict[Claim, list[list[_Needle]]],
    seen: dict[Claim, _Found],
    finder: _Finder,
    repository: Iterable[RepositoryFile],
) -> dict[Claim, tuple[str, int]]:
    missing = {claim: [number for number, steps in enumerate(seen[claim].by_needle) if not steps] for claim in claims}
    places: dict[Claim, dict[int, tuple[str, int]]] = defaultdict(dict)
    files = sorted(repository, key=_reading_order)
    for file in files:
        text = finder.of(file.path, (file.path + "\n").encode("utf-8", "surrogatepass"))
        for claim, group_number in _open(missing, places):
            if not claim.within and claim.kind != "number" and finder.place(claim, needles[claim][group_number], text):
                places[claim][group_number] = (file.path, 0)
    left = MOST_OF_ALL
    defined: set[tuple[Claim, int]] = set()
    for file in files:
        waiting = [
            one
            for one in _all(missing)
            if one not in defined and (one[0].kind == "identifier" or one[1] not in places[one[0]])
        ]
        if not waiting or left <= 0:
            break
        data = file.read()[:MOST_OF_A_FILE]
        left -= len(data)
        if b"\0" in data[:8_000]:
            continue
        text = finder.of(file.path, data)
        for claim, group_number in waiting:
            found = finder.place(claim, needles[claim][group_number], text)
            if found is None:
                continue
            definition = _definition(claim, needles[claim][group_number], data)
            if definition is not None:
                defined.add((claim, group_number))
            if definition is not None or not places[claim].get(group_number, ("", 0))[1]:
                at = found[0] if definition is None else definition
                places[claim][group_number] = (file.path, _line_of(data, at))
    return {
        claim: places[claim][max(numbers)] for claim, numbers in missing.items() if len(places[claim]) == len(numbers)
    }


def _all(missing: dict[Claim, list[int]]) -> Iterator[tuple[Claim, int]]:
    for claim, numbers in missing.items():
        for number in numbers:
            yield claim, number


def _definition(claim: Claim, group: list[_Needle], data: bytes) -> int | None:
    """Where a file defines an identifier; a mere use says less about its origin."""
    if claim.kind != "identifier":
        return None
    name = re.escape(group[0].spelling.lstrip(".").removeprefix("def ").encode("utf-8", "surrogatepass"))
    match = re.search(
        rb"\b(?:def|class|function|func|fn|struct|interface)\s+"
        + name
        + rb"(?!\w)|^\s*(?:self\.)?"
        + name
        + rb"\s*(?:=(?!=)|:\s)",
        data,
        re.M,
    )
    return match.start() if match else None


def _open(
    missing: dict[Claim, list[int]], places: dict[Claim, dict[int, tuple[str, int]]]
) -> Iterator[tuple[Claim, int]]:
    for claim, numbers in missing.items():
        for number in numbers:
            if number not in places[claim]:
                yield claim, number


def _reading_order(file: RepositoryFile) -> tuple[bool, bool, int, str]:
    """Sources before tests and data, files near the root first: a definition comes before its uses."""
    source = file.path.endswith((".py", ".pyi", ".toml", ".cfg", ".txt", ".md", ".rst"))
    return not source, "test" in file.path.lower(), file.path.count("/"), file.path


def _items(
    claims: Sequence[Claim], seen: dict[Claim, _Found], lying: dict[Claim, tuple[str, int]], repository: bool
) -> tuple[Item, ...]:
    together: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        together.setdefault((claim.kind, claim.text), []).append(claim)
    items = []
    for (kind, text), uses in together.items():
        steps = tuple(sorted({step for claim in uses for step in seen[claim].steps}))
        found = next((lying[claim] for claim in uses if claim in lying), None)
        if not steps and found is None and not any(claim.certain for claim in uses):
            continue
        places: tuple[Place, ...] = tuple(claim.place for claim in uses)
        status = SEEN if steps else NOT_SEEN if not repository else UNSEEN if found else NOWHERE
        path, line = found if found is not None and not steps else ("", 0)
        items.append(Item(kind, text, places, status, steps, path, line))
    items.sort(key=lambda item: (STATUSES.index(item.status), item.places[0].start))
    return tuple(items)


# -- words of texts

# A text is cut into words by two passes in C (``bytes.translate`` and ``bytes.split``): a tenth of what a regular expression
# takes. Only where all words of a spelling are there is the spelling itself looked for.

_IS_WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_TABLE = bytes(code if code in _IS_WORD or code >= 0x80 else 0x20 for code in range(256))
_WORD = re.compile(r"[A-Za-z0-9_\x80-\U0010ffff]+")


def _words_of(spelling: str) -> frozenset[bytes]:
    return frozenset(word.encode("utf-8", "surrogatepass") for word in _WORD.findall(spelling))


def _present(text: bytes, wanted: frozenset[bytes]) -> frozenset[bytes]:
    return wanted.intersection(text.translate(_TABLE).split())


_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset(b"0123456789")
_WORDS = frozenset(_IS_WORD) | frozenset(range(0x80, 0x100))
_DASH, _DOT, _V = b"-.v"
# What may not stand right before and right behind a spelling, and what may not follow a dot or dash behind it.
_BEFORE = {"option": {*_WORDS, _DASH}, "path": {*_WORDS, _DASH}, "command": {*_WORDS, _DASH}, "attribute": set(),
           "dependency": {*_WORDS, _DASH, _DOT}, "number": {*_WORDS, _DOT}}  # fmt: skip
_BEHIND = {
    "option": {*_WORDS, _DASH},
    "path": {*_WORDS, _DASH},
    "command": {*_WORDS, _DASH},
    "number": {*_DIGITS, ord("_")},
}
_AFTER_DOT = {"path": _WORDS, "dependency": _LETTERS, "number": _DIGITS}
_AFTER_DASH = {"dependency": _WORDS}


def _places_of(kind: str, spelling: str, text: bytes) -> Iterator[tuple[int, int]]:
    """Yield whole occurrences of a spelling: ``--top`` is not in ``--topmost``, ``3.1`` not in ``3.11``.

    ``bytes.find`` and two byte checks: a look-behind pattern would try every position.
    """
    exact = spelling.encode("utf-8", "surrogatepass")
    before, behind = _BEFORE.get(kind, _WORDS), _BEHIND.get(kind, _WORDS)
    after_dot, after_dash = _AFTER_DOT.get(kind, frozenset()), _AFTER_DASH.get(kind, frozenset())
    at = text.find(exact)
    while at >= 0:
        end = at + len(exact)
        first = at - 1
        if kind == "number" and first >= 0 and text[first] == _V:
            first -= 1
        if (first < 0 or text[first] not in before) and (end >= len(text) or text[end] not in behind):
            after = text[end + 1] if end + 1 < len(text) else -1
            mark = text[end] if end < len(text) else -1
            if not ((mark == _DOT and after in after_dot) or (mark == _DASH and after in after_dash)):
                yield at, end
        at = text.find(exact, at + 1)


def _has_beginning(text: bytes, stems: frozenset[str]) -> bool:
    low = text.lower()
    for stem in stems:
        exact = stem.encode("utf-8", "surrogatepass")
        at = low.find(exact)
        while at >= 0:
            if at == 0 or low[at - 1] not in _LETTERS:
                return True
            at = low.find(exact, at + 1)
    return False


def _line_of(text: bytes, at: int) -> int:
    return text.count(b"\n", 0, at) + 1
