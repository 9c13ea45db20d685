"""Link each claim to the steps that showed it, or else to the repository, or else to nothing."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from workbench.claims.claim import Claim, Needles
from workbench.grounding.items import (
    NOT_SEEN,
    NOWHERE,
    SEEN,
    STATUSES,
    UNSEEN,
    Grounding,
    Item,
    RepositoryFile,
    Shown,
)

MOST_OF_A_FILE = 2_000_000
"""Maximum number of bytes to search in one file."""
MOST_OF_ALL = 60_000_000
"""Maximum number of bytes to search in a whole repository; sources are searched before data."""
_MOST_PLACES = 40
"""Maximum number of occurrences of a number in one text to check for matching context."""
_NEAR = 200
"""Number of bytes on each side of a number, within its line, that are searched for context."""
_PARSERS = re.compile(rb"\btyper\b|\bfire\b|\bclick\b|BooleanOptionalAction|\bargparse\b|\boptparse\b")
_MADE_UP = re.compile(rb"\btyper\b|\bfire\.Fire\b|BooleanOptionalAction|\bclap\b|\bcyclopts\b|\btap\b")


GroundingClaim = Claim[Needles]


def ground(
    claims: Sequence[GroundingClaim],
    shown: Sequence[Shown],
    repository: Iterable[RepositoryFile] | None,
    *,
    cut: bool = False,
) -> Grounding:
    """Find the evidence for each claim; the most doubtful items come first.

    ``shown`` holds the text that each step showed, in any order, excluding tool errors. ``repository`` is None if it is
    not on this machine; a claim that no step showed is then *not seen*, and never counts as an invention. ``cut`` means
    that only the beginning of the README was read.
    """
    finder = _Finder(claims)
    texts = [(one.step, finder.shown(one)) for one in sorted(shown, key=lambda one: one.step)]
    index: dict[bytes, set[int]] = defaultdict(set)
    for place, (_, text) in enumerate(texts):
        for word in text.has:
            index[word].add(place)
    # Search only once for a name that occurs many times.
    known: dict[tuple[object, ...], list[list[int]]] = {}
    seen: dict[GroundingClaim, tuple[int, ...]] = {}
    missing: dict[GroundingClaim, list[int]] = {}
    for claim in claims:
        key = (claim.kind, claim.lookup)
        if key not in known:
            known[key] = [
                finder.places(claim, group, [text for _, text in texts], index) for group in claim.lookup.groups
            ]
        found = known[key]
        if all(found):
            together = sorted(set(found[0]).intersection(*found[1:]))
            seen[claim] = tuple(dict.fromkeys(texts[place][0] for place in together or found[-1]))
        else:
            missing[claim] = [number for number, places in enumerate(found) if not places]
    located = _in_repository(missing, finder, repository) if missing and repository is not None else {}
    return Grounding(_items(claims, seen, located, repository is not None), repository is not None, cut)


@dataclass(slots=True)
class _SearchedText:
    """A text with its origin and the searched words that it contains."""

    name: str
    data: bytes
    has: frozenset[bytes]


class _Finder:
    """Finds the needles of claims in texts; a text shown by several steps is split into words only once."""

    def __init__(self, claims: Sequence[GroundingClaim]) -> None:
        spellings = (spelling for claim in claims for group in claim.lookup.groups for spelling in group)
        self._wanted = frozenset().union(*map(_words_of, spellings), filter(None, map(_parameter, claims)))
        self._known: dict[bytes, frozenset[bytes]] = {}

    def shown(self, shown: Shown) -> _SearchedText:
        """Return the text that a step showed, with its path; names in a listing become paths."""
        data = shown.data
        if shown.listed:
            data = _listing(data, shown.path.strip("./") + "/" if shown.path not in {"", "."} else "")
        elif shown.path:
            data = shown.path.encode("utf-8", "surrogatepass") + b"\n" + data
        return self.text(shown.path, data)

    def text(self, name: str, data: bytes) -> _SearchedText:
        has = self._known.get(data) if len(data) > 200 else None
        if has is None:
            has = _present(data, self._wanted)
            if len(data) > 200:
                self._known[data] = has
        return _SearchedText(name, data, has)

    def places(
        self,
        claim: GroundingClaim,
        group: Sequence[str],
        texts: Sequence[_SearchedText],
        index: Mapping[bytes, set[int]],
    ) -> list[int]:
        """Return the indices of the texts that contain a needle; texts that lack any of its words are not searched."""
        places: set[int] = set(index.get(_parameter(claim), ()))
        for spelling in group:
            if words := _words_of(spelling):
                places |= set.intersection(*(index.get(word, set()) for word in words))
        plain = claim.kind == "identifier" and not claim.lookup.within and all(map(_is_plain, group))
        return [one for one in sorted(places) if plain or self.place(claim, group, texts[one]) is not None]

    def place(self, claim: GroundingClaim, group: Sequence[str], text: _SearchedText) -> tuple[int, int] | None:
        """Return the position of a needle's first spelling that occurs in a text, or None if none occurs."""
        if claim.lookup.within and text.name.rsplit("/", 1)[-1] not in claim.lookup.within:
            return None
        for spelling in group:
            if (words := _words_of(spelling)) and words <= text.has:
                found = self._exact(claim, spelling, text)
                if found is not None:
                    return found
        return _made_option(claim, text) if _parameter(claim) else None

    @staticmethod
    def _exact(claim: GroundingClaim, spelling: str, text: _SearchedText) -> tuple[int, int] | None:
        if claim.lookup.within:
            target = re.escape(spelling.encode())
            match = re.search(rb"^(?:\.PHONY:.*\b)?" + target + rb"\s*:(?!=)|\"" + target + rb"\"\s*:", text.data, re.M)
            return match.span() if match else None
        if claim.kind == "identifier":
            if _is_plain(spelling):
                at = text.data.find(spelling.encode("utf-8", "surrogatepass"))
                return at, at + len(spelling)  # the word occurs in the text; its position is only for display
            kind = "identifier" if " " in spelling else "attribute"
            return next(_places_of(kind, spelling, text.data), None)
        for place in islice(_places_of(claim.kind, spelling, text.data), _MOST_PLACES if claim.lookup.context else 1):
            if not claim.lookup.context or _has_beginning(_around(text.data, *place), claim.lookup.context):
                return place
        return None


def _is_plain(spelling: str) -> bool:
    """Whether a spelling is a single word, so that the set of a text's words is enough to find it."""
    return " " not in spelling and "." not in spelling


def _listing(data: bytes, base: str) -> bytes:
    try:
        names = json.loads(data)
    except (ValueError, RecursionError):
        names = data.decode("utf-8", "replace").split("\n")
    if not isinstance(names, list):
        return data
    return "\n".join(base + str(name) for name in names).encode("utf-8", "surrogatepass")


def _around(data: bytes, start: int, end: int) -> bytes:
    before = data.rfind(b"\n", max(0, start - _NEAR), start)
    behind = data.find(b"\n", end, end + _NEAR)
    return data[max(0, start - _NEAR) if before < 0 else before : end + _NEAR if behind < 0 else behind]


def _parameter(claim: GroundingClaim) -> bytes:
    """Return the parameter from which a parser may derive a long option, or b"" for any other claim."""
    if claim.kind != "option" or not claim.text.startswith("--"):
        return b""
    return claim.text.removeprefix("--").removeprefix("no-").replace("-", "_").encode()


def _made_option(claim: GroundingClaim, text: _SearchedText) -> tuple[int, int] | None:
    """Find the definition of the parameter or option from which a parser derives this option, or return None."""
    name, plain = claim.text.removeprefix("--"), _parameter(claim)
    if name.startswith("no-") and plain in text.has and _PARSERS.search(text.data):
        match = re.search(rb"--" + re.escape(plain.replace(b"_", b"-")) + rb"(?![\w-])", text.data)
        if match is not None:
            return match.span()
    made = text.data.find(b"--no-{") if name.startswith("no-") else -1
    if made >= 0:  # a single call that creates an option for each of several names
        return made, made + 6
    if plain in text.has and _MADE_UP.search(text.data):
        match = re.search(rb"\b" + re.escape(plain) + rb"\s*(?::|=)", text.data)
        return match.span() if match else None
    return None


# -- the repository beyond the steps


def _in_repository(
    missing: Mapping[GroundingClaim, Sequence[int]], finder: _Finder, repository: Iterable[RepositoryFile]
) -> dict[GroundingClaim, tuple[str, int]]:
    """Locate in the repository the claims that no step showed, by their last needle; definitions win over uses."""
    searched = [(claim, number) for claim, numbers in missing.items() for number in numbers]
    places: dict[tuple[GroundingClaim, int], tuple[str, int]] = {}
    files = sorted(repository, key=_reading_order)
    for file in files:
        text = finder.text(file.path, (file.path + "\n").encode("utf-8", "surrogatepass"))
        for one in searched:
            claim, number = one
            by_name = one not in places and not claim.lookup.within and claim.kind != "number"
            if by_name and finder.place(claim, claim.lookup.groups[number], text):
                places[one] = (file.path, 0)
    left = MOST_OF_ALL
    defined: set[tuple[GroundingClaim, int]] = set()
    for file in files:
        waiting = [one for one in searched if one not in defined and (one[0].kind == "identifier" or one not in places)]
        if not waiting or left <= 0:
            break
        data = file.read()[:MOST_OF_A_FILE]
        left -= len(data)
        if b"\0" in data[:8_000]:
            continue
        text = finder.text(file.path, data)
        for one in waiting:
            claim, group = one[0], one[0].lookup.groups[one[1]]
            found = finder.place(claim, group, text)
            if found is None:
                continue
            definition = _definition(claim, group, data)
            if definition is not None:
                defined.add(one)
            if definition is not None or not places.get(one, ("", 0))[1]:
                places[one] = (file.path, _line_of(data, found[0] if definition is None else definition))
    return {
        claim: places[claim, max(numbers)]
        for claim, numbers in missing.items()
        if all((claim, number) in places for number in numbers)
    }


def _definition(claim: GroundingClaim, group: Sequence[str], data: bytes) -> int | None:
    """Return the position of an identifier's definition in a file, or None if it has none."""
    if claim.kind != "identifier":
        return None
    name = re.escape(group[0].lstrip(".").removeprefix("def ").encode("utf-8", "surrogatepass"))
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


def _reading_order(file: RepositoryFile) -> tuple[bool, bool, int, str]:
    """Sort key for sources before tests and data, and files near the root first, so that definitions precede uses."""
    source = file.path.endswith((".py", ".pyi", ".toml", ".cfg", ".txt", ".md", ".rst"))
    return not source, "test" in file.path.lower(), file.path.count("/"), file.path


def _items(
    claims: Sequence[GroundingClaim],
    seen: Mapping[GroundingClaim, Sequence[int]],
    located: Mapping[GroundingClaim, tuple[str, int]],
    repository: bool,
) -> tuple[Item, ...]:
    together: dict[tuple[str, str], list[GroundingClaim]] = {}
    for claim in claims:
        together.setdefault((claim.kind, claim.text), []).append(claim)
    items = []
    for (kind, text), uses in together.items():
        steps = tuple(sorted({step for claim in uses for step in seen.get(claim, ())}))
        found = next((located[claim] for claim in uses if claim in located), None)
        if not steps and found is None and not any(claim.lookup.certain for claim in uses):
            continue
        status = SEEN if steps else NOT_SEEN if not repository else UNSEEN if found else NOWHERE
        path, line = found if found is not None and not steps else ("", 0)
        items.append(Item(kind, text, tuple(claim.place for claim in uses), status, steps, path, line))
    items.sort(key=lambda item: (STATUSES.index(item.status), item.places[0].start))
    return tuple(items)


# -- words of texts

# Two passes in C (``bytes.translate`` and ``bytes.split``) cut a text into words in a tenth of the time that a regular
# expression takes. The spelling itself is searched for only if all its words occur.

_IS_WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_TABLE = bytes(code if code in _IS_WORD or code >= 0x80 else 0x20 for code in range(256))
_WORD = re.compile(r"[A-Za-z0-9_\x80-\U0010ffff]+")


@lru_cache(maxsize=10_000)
def _words_of(spelling: str) -> frozenset[bytes]:
    return frozenset(word.encode("utf-8", "surrogatepass") for word in _WORD.findall(spelling))


def _present(text: bytes, wanted: frozenset[bytes]) -> frozenset[bytes]:
    return wanted.intersection(text.translate(_TABLE).split())


_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset(b"0123456789")
_WORDS = frozenset(_IS_WORD) | frozenset(range(0x80, 0x100))
_DASH, _DOT, _V = b"-.v"
# Bytes that must not come directly before or after a spelling, or after a dot or dash that follows it.
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
    """Yield whole occurrences of a spelling: ``--top`` is not in ``--topmost``, nor is ``3.1`` in ``3.11``.

    This uses ``bytes.find`` and two byte checks, because a look-behind pattern would try every position.
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
