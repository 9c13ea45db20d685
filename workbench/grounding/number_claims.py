"""Which numbers of a README's prose mean something: versions, amounts with a unit, limits and defaults. Not years, not list marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from workbench.grounding.items import Claim, Place
from workbench.rubric import terms

_NUMBER = re.compile(
    r"(?<![\w.,:/#@+\"“-])v?(\d[\d,_]*(?:\.\d+)*)(?=[+%]|\.?(?:[\s,;:)\]!?/–—-]|$)|(?:ms|s|m|h|kB|KB|MB|GB|px|x|k)\b)"
)
_UNIT = re.compile(
    r"\s?-?(?:%|percent|ms\b|s\b|kB\b|KB\b|MB\b|GB\b|KiB\b|MiB\b|GiB\b|px\b|milliseconds?|seconds?|secs?\b|minutes?|mins?\b|hours?|"
    r"days?|weeks?|months?|bytes?|bits?|characters?|chars?\b|words?|lines?|files?|rows?|columns?|items?|entries|records?|times\b|"
    r"retries|attempts|requests?|connections?|threads?|workers?|processes|levels?|steps?|digits?|colou?rs?|languages?|locales?|"
    r"fonts?|tests?|functions?|methods?|classes|modules?|commands?|options?|tokens?|pixels?|dependenc|parameters?|arguments?|"
    r"endpoints?|(?:different|distinct|built-in|supported|available)\s+\w+)",
    re.I,
)
_BEFORE = re.compile(
    r"(?:\b(?:defaults?(?:\s+(?:is|to|value|of|port|length|size|timeout))*|ports?|up\s+to|at\s+(?:most|least)|max(?:imum)?(?:\s+of)?|"
    r"min(?:imum)?(?:\s+of)?|limit(?:ed)?(?:\s+(?:of|to|is))?|exit\s+codes?|status(?:\s+codes?)?|version|python|release|between|"
    r"more\s+than|less\s+than|over|under|exactly|only)[\s:=(>=~^*`]*|[<>=~^]=?\s?)$",
    re.I,
)
_CODES = re.compile(r"\b(?:exit|return|status)\s+codes?\b", re.I)
_CODE_STEMS = frozenset(terms.stem(word) for word in ("exit", "code", "return", "status"))
_SENTENCE = 200
"""Characters on each side of a number that say what it counts."""
_MORE = re.compile(r"\s*(?:,|-|–|—|to|and|or|/)\s*$")
_PlaceAt = Callable[[int, int], Place]


def in_prose(text: str, start: int, end: int, place: _PlaceAt) -> Iterator[Claim]:
    """Yield the numbers of a piece of prose that mean something; ``text`` is the README with code and links blanked."""
    last_end = -1
    codes = _CODES.search(text, start, end) is not None
    for match in _NUMBER.finditer(text, start, end):
        shown = match.group(1).rstrip(",_")
        before, after = (
            text[max(start, match.start() - 40) : match.start()],
            text[match.start(1) + len(shown) : end][:40],
        )
        version = "." in shown
        joined = last_end >= 0 and _MORE.fullmatch(text[last_end : match.start()]) is not None
        meant = codes or _UNIT.match(after) is not None or _BEFORE.search(before) is not None or joined
        if not version and (not meant or re.fullmatch(r"(?:19|20)\d\d", shown)):
            continue
        if shown.count(".") > 2 and not meant:
            continue
        last_end = match.start(1) + len(shown)
        bare = shown.replace(",", "").replace("_", "")
        spellings = tuple(dict.fromkeys([shown, bare, *([f"{int(bare):_}"] if bare.isdigit() else [])]))
        around = (
            _CODE_STEMS | _context(after[:30], bare)
            if codes
            else _context(text[max(start, match.start() - _SENTENCE) : min(end, last_end + _SENTENCE)], bare)
        )
        context = frozenset[str]() if version else frozenset(around)
        yield Claim("number", shown, place(match.start(1), last_end), (spellings,), context=context)


def _context(sentence: str, number: str) -> set[str]:
    stems = {token.stem for token in terms.tokens(sentence) if len(token.stem) > 2 and token.stem != number}
    # Words are looked for by how they begin: "retry" as "retr", so that "retries" is found.
    return {stem[:-1] if stem.endswith("y") and len(stem) > 4 else stem for stem in stems}
