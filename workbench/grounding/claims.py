"""Claims of a README: identifiers, paths, commands, options, dependencies and numbers, each with its place.

Code names things; prose does so only where a word is spelled like code. Common knowledge (:mod:`.known`), names that an
example of the README defines, and placeholders are no claims.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Set
from functools import partial

from workbench.grounding import command_claims, known, python_claims, spelling
from workbench.grounding.items import Claim, Place
from workbench.rubric import terms
from workbench.rubric.markdown import Fence, Outline, outline

_SPAN = re.compile(r"(`{1,2})(?!`)([^`\n]{1,200}?)\1(?!`)")
# Everything is bounded: a README of a hundred thousand opening brackets must not cost the square of that.
_BLANKED = re.compile(
    r"!\[[^\]\n]{0,300}\]\([^)\n]{0,500}\)|!\[[^\]\n]{0,300}\]\[[^\]\n]{0,100}\]|<!--[\s\S]{0,300}?-->|<[^>\n]{0,300}>|"
    r"\[[^\]\n]{0,300}\]\(https?:[^)\n]{0,500}\)|\]\([^)\n]{0,500}\)|\[[^\]\n]{0,300}\]\[[^\]\n]{0,100}\]|\]\[[^\]\n]{0,100}\]|"
    r"^\[[^\]\n]{1,100}\]:.*$|(?:https?|ftp)://\S+|\bwww\.\S+|(?<!\S)[^\s@]{1,60}@[^\s@]{1,60}\.\S{1,20}|`[^`]{0,300}`_{1,2}|"
    r"\|[\w -]{1,60}\|(?=\W)|^\.\. .*$|^[ \t]*:\w[\w-]*:.*$|\b\w{1,60}_(?=[\s.,;:)]|$)",
    re.M,
)
_LINKED_FILE = re.compile(r"\[([\w./-]{1,100})\]\(https?:[^)\n]{0,500}\)|`([\w./-]{1,100}) <https?:[^>\n]{0,300}>`_")
_LINK = re.compile(r"(?<!!)\[[^\]\n]{0,300}\]\(([^)\s#]{1,300})(?:#[^)\n]{0,200})?\)")
_PROSE_NAME = re.compile(
    r"(?<![\w.@/$-])(?:(?P<call>[A-Za-z_]\w*(?:\.\w+)*)\(\)|(?P<option>--[a-z][\w-]+)|(?P<snake>[A-Za-z]\w*_\w+)|"
    r"(?P<camel>[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)|(?P<file>(?:[\w-]+/)*[\w-]+\.(?:py|toml|cfg|ini|yaml|yml|json|txt|md|rst|sh|env)\b))"
    r"(?![\w/-])"
)
_CLASS_AFTER = re.compile(r"\s+(?:class|function|method|object|exception|decorator|module)\b")
_CALL = re.compile(r"([A-Za-z_][\w.]*)\s*\(")
_KEYWORD = re.compile(r"[(,]\s*([a-z_]\w*)\s*=(?!=)")
_WHOLE_CALL = re.compile(r"@?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*(\(.*\))?(?:\s*(?:->|:).*)?")
_HYPHENED = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_COMMAND_NEAR = re.compile(r"\b(?:command|cli|tool|script|program|executable|entry\s?point)s?\b", re.I)
_REQUIRES = re.compile(r"install|require|depend|prerequisite", re.I)
_LISTED_PACKAGE = re.compile(
    r"(?:[-*+]\s+|\|\s*)?(?:\*\*|\[)?([A-Za-z][\w.-]{1,40})(?:\*\*|\])?(?=\s*(?:$|[|:(<>=~!,–—]|\s-\s|\d))", re.M
)
_NEEDED = re.compile(
    r"\b(?:dependenc(?:y|ies)(?:\s+(?:is|are))?|requires?|depends\s+on|built\s+(?:on|with)|powered\s+by|based\s+on|needs)[\s:]+"
    r"(?:the\s+)?[`*\[]{1,3}([A-Za-z][\w.-]{1,40})[`*\]]",
    re.I,
)
_TREE = re.compile(r"^(?P<indent>[ \t\xa0│|]{0,200})(?:├|└|\+|`|\|)[─—-]{1,3}\s*(?P<name>[^\s#]+)", re.M)
_ASSIGNED = re.compile(r"^[ \t]*(?:export[ \t]+|set[ \t]+)?([A-Za-z_]\w*)[ \t]*=", re.M)


def claims_of(readme: str, *, modules: Set[str] = frozenset(), names: Set[str] = frozenset()) -> tuple[Claim, ...]:
    """Claims of a README in Markdown or reStructuredText by place; only its first 100,000 characters are read.

    ``modules`` are the project's top-level modules, to tell its imports from others. ``names`` are the project's own names,
    which are no claims.
    """
    found = _Readme(outline(readme), modules, names).claims()
    return tuple(sorted(found, key=lambda claim: (claim.place.start, claim.place.end)))


class _Readme:
    def __init__(self, parsed: Outline, modules: Set[str], names: Set[str]) -> None:
        self._outline = parsed
        self._text = parsed.text
        self._lines = [0, *(match.end() for match in re.finditer(r"\r\n?|\n", parsed.text))]
        self._modules = {module.lower() for module in modules}
        self._names = {_plain(name) for name in names}
        self._blanked = _BLANKED.sub(lambda match: " " * len(match.group()), _SPAN.sub(_same_length, parsed.text))
        self._trees = [(fence, python_claims.tree_of(python_claims.code_of(fence))) for fence in self._python_fences()]
        self._defined = {name for _, tree in self._trees if tree is not None for name in python_claims.defined(tree)}
        for fence in parsed.fences:
            if not fence.language or command_claims.is_shell(fence) or fence.language in {"ini", "env", "dotenv"}:
                self._defined.update(_ASSIGNED.findall(fence.code))

    def _python_fences(self) -> list[Fence]:
        return [fence for fence in self._outline.fences if python_claims.is_python(fence)]

    def _place(self, start: int, end: int) -> Place:
        return Place(bisect_right(self._lines, start), start, end)

    def claims(self) -> Iterator[Claim]:
        taken: set[tuple[str, int]] = set()
        found = list(self._all())
        others = {claim.text for claim in found if claim.kind in {"command", "dependency"}}
        for claim in found:
            key = (claim.text, claim.place.start)
            if key in taken or self._is_name(claim) or (claim.kind == "identifier" and claim.text in others):
                continue
            taken.add(key)
            if claim.certain and claim.kind == "identifier" and claim.text.split(".")[0] in self._defined:
                claim = _doubted(claim)
            yield claim

    def _is_name(self, claim: Claim) -> bool:
        return claim.kind in {"identifier", "dependency", "path"} and _plain(claim.text) in self._names

    def _all(self) -> Iterator[Claim]:
        parsed = self._outline
        for block in parsed.blocks:
            yield from self._spans(block.start, block.end)
            yield from self._links(block.start, block.end)
            yield from self._prose(block.start, block.end)
        for heading in parsed.headings:
            yield from self._spans(heading.start, heading.end)
            if _REQUIRES.search(heading.text):
                yield from self._listed(*self._own_section(heading.end))
        bound = set(self._names)
        for fence, tree in self._trees:
            if tree is not None:
                yield from python_claims.Example(tree, self._own, partial(self._in_fence, fence), bound).claims()
        python = {fence for fence, _ in self._trees}
        for fence in parsed.fences:
            if fence in python:
                continue
            if _TREE.search(fence.code):
                yield from self._tree(fence)
            elif command_claims.is_shell(fence):
                yield from command_claims.in_fence(self._text, fence, self._place)

    def _own(self, module: str) -> bool:
        return module.lower() in self._modules or _plain(module) in self._names

    def _in_fence(self, fence: Fence, word: str, line: int) -> Place | None:
        """Place of a word in a line of a code block, else its first place in the block."""
        first = bisect_right(self._lines, fence.start) - 1 + (0 if fence.indented else 1)
        at = min(first + line - 1, len(self._lines) - 1)
        for start in (self._lines[at], fence.start):
            found = _whole(self._text, word, start, fence.end)
            if found >= 0:
                return self._place(found, found + len(word))
        return None

    def _own_section(self, start: int) -> tuple[int, int]:
        return start, next(
            (heading.start for heading in self._outline.headings if heading.start > start), len(self._text)
        )

    # -- code in running text

    def _spans(self, start: int, end: int) -> Iterator[Claim]:
        for match in _SPAN.finditer(self._text, start, end):
            content, at = match.group(2).strip(), match.start(2) + len(match.group(2)) - len(match.group(2).lstrip())
            if self._text[match.end() : match.end() + 1] == "_" or "<http" in content:  # a link of reStructuredText
                continue
            around = self._blanked[max(start, match.start() - 60) : min(end, match.end() + 30)]
            yield from self._code(content, at, around)

    def _code(self, content: str, at: int, around: str) -> Iterator[Claim]:
        whole = self._place(at, at + len(content))
        if command_claims.commands_word(content.removeprefix("$ ")):
            shift = 2 if content.startswith("$ ") else 0
            yield from command_claims.in_line(content[shift:], at + shift, self._place)
        elif content.startswith("-"):
            for match in spelling.OPTION.finditer(content):
                yield from _some(spelling.option(match.group(), self._place(at + match.start(), at + match.end())))
        elif known.FILE.fullmatch(content) or known.FOLDER.fullmatch(content):
            if not _is_call_of_method(content):
                yield from _some(spelling.path(content, whole, certain=not known.is_readers_data(content)))
        elif _HYPHENED.fullmatch(content):
            if _plain(content) not in self._names or _COMMAND_NEAR.search(around):
                make = spelling.command if _COMMAND_NEAR.search(around) else spelling.dependency
                yield from _some(None if known.is_known(content) else make(content, whole))
        elif call := _WHOLE_CALL.fullmatch(content):
            yield from self._called(call.group(1), content, at)
        elif assigned := _ASSIGNED.match(content):
            spot = self._place(at + assigned.start(1), at + assigned.end(1))
            yield from _some(spelling.identifier(assigned.group(1), spot, certain=assigned.group(1).islower()))
        else:
            for match in _CALL.finditer(content):
                yield from _some(
                    spelling.identifier(match.group(1).strip("."), self._place(at + match.start(1), at + match.end(1)))
                )

    def _called(self, name: str, content: str, at: int) -> Iterator[Claim]:
        start = at + content.index(name)
        # DURATION, N: what stands for a value; with an underscore it is the name of a variable.
        certain = not (name.isupper() and "_" not in name)
        yield from _some(spelling.identifier(name, self._place(start, start + len(name)), certain=certain))
        for match in _KEYWORD.finditer(content):
            yield from _some(spelling.identifier(match.group(1), self._place(at + match.start(1), at + match.end(1))))

    # -- prose

    def _links(self, start: int, end: int) -> Iterator[Claim]:
        for match in _LINKED_FILE.finditer(self._text, start, end):
            number = match.lastindex or 1
            if known.FILE.fullmatch(match.group(number)):
                yield from _some(spelling.path(match.group(number), self._place(*match.span(number)), certain=False))
        for match in _LINK.finditer(self._text, start, end):
            target = match.group(1)
            if ":" not in target and not target.startswith("#"):
                yield from _some(spelling.path(target, self._place(match.start(1), match.end(1))))

    def _prose(self, start: int, end: int) -> Iterator[Claim]:
        text = self._blanked
        for match in _PROSE_NAME.finditer(text, start, end):
            kind = match.lastgroup or ""
            name = match.group(kind)
            place = self._place(match.start(kind), match.end(kind))
            if kind == "option":
                yield from _some(spelling.option(name, place))
            elif kind == "file":
                yield from _some(spelling.path(name, place, certain=not known.is_readers_data(name)))
            else:
                certain = kind != "camel" or _CLASS_AFTER.match(text, match.end()) is not None
                yield from _some(spelling.identifier(name, place, certain=certain))
        for match in _NEEDED.finditer(self._text, start, end):
            name = match.group(1)
            if not known.is_python(name) and name.lower() not in known.PROGRAMS and not known.FILE.fullmatch(name):
                yield from _some(spelling.dependency(name, self._place(*match.span(1)), certain=False))
        yield from _numbers(text, start, end, self._place)

    def _listed(self, start: int, end: int) -> Iterator[Claim]:
        for block in self._outline.blocks:
            if start <= block.start < end and len(block.text) < 200:
                text = self._text[block.start : block.end]
                match = _LISTED_PACKAGE.match(text)
                if match and not known.is_python(match.group(1)) and match.group(1).lower() not in known.PROGRAMS:
                    at = block.start + match.start(1)
                    yield from _some(
                        spelling.dependency(match.group(1), self._place(at, at + len(match.group(1))), certain=False)
                    )

    # -- drawings of a tree

    def _tree(self, fence: Fence) -> Iterator[Claim]:
        for match in _TREE.finditer(self._text, fence.start, fence.end):
            name = match.group("name")
            if re.fullmatch(r"[\w.@+-]+/?", name):
                place = self._place(match.start("name"), match.end("name"))
                yield from _some(spelling.path(name, place, certain=_plain(name.rstrip("/")) not in self._names))


def _whole(text: str, word: str, start: int, end: int) -> int:
    at = text.find(word, start, end)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(word) : at + len(word) + 1]
        if not any(char.isalnum() or char == "_" for char in around):
            return at
        at = text.find(word, at + 1, end)
    return -1


def _same_length(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _plain(name: str) -> str:
    return re.sub(r"[-_.\s]+", "-", name).lower()


def _some(claim: Claim | None) -> Iterator[Claim]:
    if claim is not None:
        yield claim


def _doubted(claim: Claim) -> Claim:
    return Claim(claim.kind, claim.text, claim.place, claim.needles, False, claim.context, claim.within)


def _is_call_of_method(content: str) -> bool:
    """Whether a dotted name with a file extension (``app.conf``) is a name rather than a file."""
    return bool(re.match(r"[A-Z]\w*\.[a-z]+$", content)) and not content.isupper() and "/" not in content


# -- numbers

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
_AMOUNT_BEFORE = re.compile(
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


def _numbers(text: str, start: int, end: int, place: Callable[[int, int], Place]) -> Iterator[Claim]:
    """Yield the meaningful numbers of prose; in ``text`` code and links are blank."""
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
        meant = codes or _UNIT.match(after) is not None or _AMOUNT_BEFORE.search(before) is not None or joined
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
