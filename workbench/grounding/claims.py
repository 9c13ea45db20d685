"""Claims of a README: identifiers, paths, commands, options, dependencies and numbers, each with its place.

Code names things; prose does so only where a word is spelled like code. Common knowledge (:mod:`workbench.claims.known`),
names that an example of the README defines, and placeholders are no claims.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from functools import partial

from workbench.claims import known, terms
from workbench.claims.claim import Claim, Needles
from workbench.claims.page import Code, Page, outline
from workbench.claims.python import example_of, is_python
from workbench.claims.shell import command_line, command_lines
from workbench.grounding.code_claims import add_command, add_example, defined, is_command, is_shell
from workbench.grounding.items import OPTION, Claims, plain

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


def claims_of(
    readme: str, *, modules: Set[str] = frozenset(), names: Set[str] = frozenset()
) -> tuple[Claim[Needles], ...]:
    """Claims of a README in Markdown or reStructuredText by place; only its first 100,000 characters are read.

    ``modules`` are the project's top-level modules, to tell its imports from others. ``names`` are the project's own names,
    which are no claims.
    """
    found = _Readme(outline(readme), modules, names).claims()
    return tuple(sorted(found, key=lambda claim: (claim.place.start, claim.place.end)))


class _Readme(Claims):
    def __init__(self, page: Page, modules: Set[str], names: Set[str]) -> None:
        super().__init__(page.text)
        self._page, self._text = page, page.text
        self._modules = {module.lower() for module in modules}
        self._names = {plain(name) for name in names}
        self._blanked = _BLANKED.sub(_same_length, _SPAN.sub(_same_length, page.text))
        self._trees = [(code, example_of(code.code)) for code in page.codes if is_python(code)]
        self._defined = {name for _, tree in self._trees if tree is not None for name in defined(tree)}
        for code in page.codes:
            if not code.language or is_shell(code) or code.language in {"ini", "env", "dotenv"}:
                self._defined.update(_ASSIGNED.findall(code.code))

    def claims(self) -> Iterator[Claim[Needles]]:
        self._read()
        taken: set[tuple[str, int]] = set()
        others = {claim.text for claim in self.found if claim.kind in {"command", "dependency"}}
        for claim in self.found:
            key = (claim.text, claim.place.start)
            is_name = claim.kind in {"identifier", "dependency", "path"} and plain(claim.text) in self._names
            if key in taken or is_name or (claim.kind == "identifier" and claim.text in others):
                continue
            taken.add(key)
            own = claim.kind == "identifier" and claim.text.split(".")[0] in self._defined
            yield replace(claim, lookup=replace(claim.lookup, certain=False)) if own else claim

    def _read(self) -> None:
        page = self._page
        for block in page.blocks:
            self._spans(block.start, block.end)
            self._links(block.start, block.end)
            self._prose(block.start, block.end)
        for heading in page.headings:
            self._spans(heading.start, heading.end)
            if _REQUIRES.search(heading.text):
                following = (other.start for other in page.headings if other.start > heading.end)
                self._listed(heading.end, next(following, len(self._text)))
        bound = set(self._names)
        for code, tree in self._trees:
            if tree is not None:
                add_example(self, tree, self._own, bound, partial(self._in_code, code))
        python = {code for code, _ in self._trees}
        for code in page.codes:
            if code in python:
                continue
            if _TREE.search(code.code):
                self._tree(code)
            elif is_shell(code):
                for line in command_lines(page, code):
                    for words in line.commands:
                        add_command(self, words)

    def _own(self, module: str) -> bool:
        return module.lower() in self._modules or plain(module) in self._names

    def _in_code(self, code: Code, add: Callable[[str, int], None], word: str, line: int) -> None:
        """Add a claim about a word in a line of a code block, else at its first place in the block."""
        at = min(code.line + line - 2, len(self._lines) - 1)
        places = (_whole(self._text, word, start, code.end) for start in (self._lines[at], code.start))
        if (found := next((place for place in places if place >= 0), None)) is not None:
            add(word, found)

    # -- code in running text

    def _spans(self, start: int, end: int) -> None:
        for match in _SPAN.finditer(self._text, start, end):
            content, at = match.group(2).strip(), match.start(2) + len(match.group(2)) - len(match.group(2).lstrip())
            if self._text[match.end() : match.end() + 1] == "_" or "<http" in content:  # a link of reStructuredText
                continue
            self._code(content, at, self._blanked[max(start, match.start() - 60) : min(end, match.end() + 30)])

    def _code(self, content: str, at: int, around: str) -> None:
        if is_command(command := content.removeprefix("$ ")):
            for words in command_line(self._text, command, at, at + len(content)).commands:
                add_command(self, words)
        elif content.startswith("-"):
            for match in OPTION.finditer(content):
                self.option(match.group(), at + match.start())
        elif known.FILE.fullmatch(content) or known.FOLDER.fullmatch(content):
            if not _is_call_of_method(content):
                self.path(content, at, certain=not known.is_readers_data(content))
        elif _HYPHENED.fullmatch(content):
            if (plain(content) not in self._names or _COMMAND_NEAR.search(around)) and not known.is_known(content):
                (self.command if _COMMAND_NEAR.search(around) else self.dependency)(content, at)
        elif call := _WHOLE_CALL.fullmatch(content):
            name = call.group(1)
            # DURATION, N: what stands for a value; with an underscore it is the name of a variable.
            self.identifier(name, at + content.index(name), certain=not (name.isupper() and "_" not in name))
            for match in _KEYWORD.finditer(content):
                self.identifier(match.group(1), at + match.start(1))
        elif assigned := _ASSIGNED.match(content):
            self.identifier(assigned.group(1), at + assigned.start(1), certain=assigned.group(1).islower())
        else:
            for match in _CALL.finditer(content):
                self.identifier(match.group(1).strip("."), at + match.start(1))

    # -- prose

    def _links(self, start: int, end: int) -> None:
        for match in _LINKED_FILE.finditer(self._text, start, end):
            number = match.lastindex or 1
            if known.FILE.fullmatch(match.group(number)):
                self.path(match.group(number), match.start(number), certain=False)
        for match in _LINK.finditer(self._text, start, end):
            if ":" not in match.group(1) and not match.group(1).startswith("#"):
                self.path(match.group(1), match.start(1))

    def _prose(self, start: int, end: int) -> None:
        text = self._blanked
        for match in _PROSE_NAME.finditer(text, start, end):
            kind = match.lastgroup or ""
            name, at = match.group(kind), match.start(kind)
            if kind == "option":
                self.option(name, at)
            elif kind == "file":
                self.path(name, at, certain=not known.is_readers_data(name))
            else:
                certain = kind != "camel" or _CLASS_AFTER.match(text, match.end()) is not None
                self.identifier(name, at, certain=certain)
        for match in _NEEDED.finditer(self._text, start, end):
            if not known.FILE.fullmatch(match.group(1)):
                self._package(match)
        _add_numbers(self, text, start, end)

    def _package(self, match: re.Match[str] | None) -> None:
        if match and not known.is_python(match.group(1)) and match.group(1).lower() not in known.PROGRAMS:
            self.dependency(match.group(1), match.start(1), certain=False)

    def _listed(self, start: int, end: int) -> None:
        for block in self._page.blocks:
            if start <= block.start < end and len(block.text) < 200:
                self._package(_LISTED_PACKAGE.match(self._text, block.start, block.end))

    def _tree(self, code: Code) -> None:
        """The files in the drawing of a tree."""
        for match in _TREE.finditer(self._text, code.start, code.end):
            name = match.group("name")
            if re.fullmatch(r"[\w.@+-]+/?", name):
                self.path(name, match.start("name"), certain=plain(name.rstrip("/")) not in self._names)


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


def _add_numbers(claims: Claims, text: str, start: int, end: int) -> None:
    """The meaningful numbers of prose; in ``text`` code and links are blank."""
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
        claims.add("number", shown, match.start(1), (spellings,), context=frozenset() if version else around)


def _context(sentence: str, number: str) -> set[str]:
    stems = {token.stem for token in terms.tokens(sentence) if len(token.stem) > 2 and token.stem != number}
    # Words are looked for by how they begin: "retry" as "retr", so that "retries" is found.
    return {stem[:-1] if stem.endswith("y") and len(stem) > 4 else stem for stem in stems}
