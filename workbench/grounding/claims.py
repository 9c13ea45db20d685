"""Claims of a README: identifiers, paths, commands, options, dependencies and numbers, each with its positions.

Words in code can be claims; words in prose are claims only if they are spelled like code. The following are not claims:
common knowledge (:mod:`workbench.claims.known`), names defined by an example in the README, placeholders, options of
other programs, and imports of other projects.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from functools import partial

from workbench.claims import known, shell, similarity
from workbench.claims.claim import Claim, Needles
from workbench.claims.page import SHELL, Code, Page, outline
from workbench.claims.python import example_of, imports_of, is_python, names_bound
from workbench.grounding.items import OPTION, ClaimCollector, plain

_SPAN = re.compile(r"(`{1,2})(?!`)([^`\n]{1,200}?)\1(?!`)")
# Every repetition is bounded, so that a hundred thousand opening brackets cannot take quadratic time.
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
    """Return the claims of a README in Markdown or reStructuredText, sorted by position.

    Only the first 100,000 characters are read. ``modules`` are the project's top-level modules, which distinguish its
    imports from others. ``names`` are the names of the project itself, which are not claims.
    """
    found = _Readme(outline(readme), modules, names).claims()
    return tuple(sorted(found, key=lambda claim: (claim.place.start, claim.place.end)))


class _Readme(ClaimCollector):
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
                for line in shell.command_lines(page, code):
                    for words in line.commands:
                        add_command(self, words)

    def _own(self, module: str) -> bool:
        return module.lower() in self._modules or plain(module) in self._names

    def _in_code(self, code: Code, add: Callable[[str, int], None], word: str, line: int) -> None:
        """Add a claim about a word, positioned on a line of a code block or else at its first occurrence in it."""
        at = min(code.line + line - 2, len(self._lines) - 1)
        places = (_whole(self._text, word, start, code.end) for start in (self._lines[at], code.start))
        if (found := next((place for place in places if place >= 0), None)) is not None:
            add(word, found)

    # -- code in running text

    def _spans(self, start: int, end: int) -> None:
        for match in _SPAN.finditer(self._text, start, end):
            content, at = match.group(2).strip(), match.start(2) + len(match.group(2)) - len(match.group(2).lstrip())
            if self._text[match.end() : match.end() + 1] == "_" or "<http" in content:  # a reStructuredText link
                continue
            self._code(content, at, self._blanked[max(start, match.start() - 60) : min(end, match.end() + 30)])

    def _code(self, content: str, at: int, around: str) -> None:
        if is_command(command := content.removeprefix("$ ")):
            for words in shell.command_line(self._text, command, at, at + len(content)).commands:
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
            # DURATION or N stands for a value, whereas an upper-case name with an underscore is a variable.
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
        """Add claims about the files in a drawing of a directory tree."""
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
    """Whether text that looks like a file name is really an attribute reference (``app.conf``)."""
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
_CODE_STEMS = frozenset(similarity.stem(word) for word in ("exit", "code", "return", "status"))
_SENTENCE = 200
"""Number of characters on each side of a number to search for words that name the counted items."""
_MORE = re.compile(r"\s*(?:,|-|–|—|to|and|or|/)\s*$")


def _add_numbers(claims: ClaimCollector, text: str, start: int, end: int) -> None:
    """Add claims about the meaningful numbers in prose; code and links in ``text`` have been replaced with spaces."""
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
    stems = {token.stem for token in similarity.tokens(sentence) if len(token.stem) > 2 and token.stem != number}
    # Only the beginning of a word is searched for, so "retr" finds both "retry" and "retries".
    return {stem[:-1] if stem.endswith("y") and len(stem) > 4 else stem for stem in stems}


# -- commands


def is_shell(code: Code) -> bool:
    if code.language:
        return code.language in SHELL
    lines = [line for line in code.code.splitlines() if line.strip()]
    return any(shell.PROMPT.match(line) or line.split()[0] in known.PROGRAMS for line in lines)


def is_command(content: str) -> bool:
    """Whether inline code is a command line, that is, a known program or a word followed by options."""
    words = content.split()
    if len(words) < 2:
        return False
    spelled = re.fullmatch(r"[A-Za-z][\w.-]*", words[0]) or known.FILE.fullmatch(words[0])
    first = words[0].rsplit("/", 1)[-1]
    return first in known.PROGRAMS or (bool(spelled) and any(OPTION.match(word) for word in words[1:]))


def add_command(claims: ClaimCollector, words: Sequence[shell.Word]) -> None:
    """Add the claims of a simple command: programs, scripts, options, files and packages."""
    begin = shell.started([word.text for word in words])
    while 0 < begin < len(words) and words[begin].text.startswith("-"):
        begin += 1
    words = words[begin:]
    if not words:
        return
    if (installed := shell.installs([word.text for word in words])) is not None:
        _add_installed(claims, words, installed)
        return
    program, rest = words[0], words[1:]
    base = re.sub(r"\.exe$", "", program.text.rsplit("/", 1)[-1])
    if shell.INTERPRETER.fullmatch(base):
        _add_python(claims, rest)
    elif base in known.BUILD_TOOLS:
        targets = [word for word in rest if re.fullmatch(r"[A-Za-z][\w:.-]*", word.text)]
        if base == "npm":
            targets = targets[1:] if targets and targets[0].text in {"run", "run-script"} else []
        for word in targets:
            claims.add(
                "command", f"{base} {word.text}", word.start, ((word.text,),),
                within=known.BUILD_TOOLS[base], end=word.start + len(word.text),
            )  # fmt: skip
    elif base in {"pytest", "cd"}:
        for word in rest if base == "pytest" else rest[:1]:
            if base == "cd" or word.text[:1].isalpha():
                claims.path(word.text, word.start, certain=False)
    elif (
        program.text.startswith("./")
        or (known.FILE.fullmatch(program.text) and "/" in program.text)
        or program.text.endswith((".py", ".sh"))
    ):
        claims.path(program.text, program.start)
        _add_arguments(claims, rest, own=True)
    elif base in known.PROGRAMS or not re.fullmatch(r"[A-Za-z][\w.-]*", program.text):
        _add_arguments(claims, rest, own=False)
    else:
        claims.command(program.text, program.start)
        _add_arguments(claims, rest, own=True)


def _add_python(claims: ClaimCollector, rest: Sequence[shell.Word]) -> None:
    while rest and re.fullmatch(r"-[uBOsIXW]\w*", rest[0].text):
        rest = rest[1:]
    if len(rest) > 1 and rest[0].text == "-m":
        module = rest[1].text
        top = module.split(".")[0]
        if top == "pytest":
            add_command(claims, rest[1:])
        elif known.is_python(top) or top in known.PROGRAMS:
            _add_arguments(claims, rest[2:], own=False)
        else:
            needles = tuple((part,) for part in module.split("."))
            certain, end = not known.is_placeholder(module), rest[1].start + len(module)
            claims.add("command", f"python -m {module}", rest[1].start, needles, certain, end=end)
            _add_arguments(claims, rest[2:], own=True)
    elif rest and rest[0].text.endswith(".py"):
        claims.path(rest[0].text, rest[0].start)
        _add_arguments(claims, rest[1:], own=True)


def _add_installed(claims: ClaimCollector, words: Sequence[shell.Word], installed: Sequence[shell.Installed]) -> None:
    for one in installed:
        start, (name, bracket, extras) = words[one.number].start, one.text.partition("[")
        if one.file:
            claims.path(one.text, start)
        elif ":" in one.text or "@" in one.text:
            continue
        elif bracket and re.fullmatch(r"[\w,. -]+\].*", extras):
            for extra in extras.partition("]")[0].split(","):
                claims.identifier(extra.strip(), start + one.text.index(extra))
            if shell.package_name(name):
                claims.dependency(name, start)
        elif "/" in one.text or one.text.startswith("."):
            claims.path(one.text, start, certain=False)
        elif shell.package_name(one.text):
            # Anyone may install development tools; the project need not depend on them.
            claims.dependency(one.text, start, certain=one.package not in known.TOOLING)


def _add_arguments(claims: ClaimCollector, rest: Sequence[shell.Word], *, own: bool) -> None:
    """Add claims about the options of the project's own programs, and about arguments that are files of the project."""
    for word in rest:
        if own and (found := OPTION.match(word.text)):
            claims.option(found.group(), word.start)
        elif not word.text.startswith("-") and (known.FILE.fullmatch(word.text) or "/" in word.text):
            claims.path(word.text, word.start, certain=False)


# -- Python


def defined(tree: ast.Module) -> set[str]:
    names = names_bound(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias) and node.asname:
            names.add(node.asname)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


_Add = Callable[[Callable[[str, int], None], str, int], None]


def add_example(
    claims: ClaimCollector, tree: ast.Module, own: Callable[[str], bool], bound: set[str], add: _Add
) -> None:
    """Add the claims of a code example: its imports, and how it uses the objects it imports from the project.

    ``own`` returns whether a top-level module belongs to the project. ``add`` adds a claim about a word on a line (from
    1) of the example. ``bound`` holds the names that examples have bound to objects of the project; this example's
    names are added.
    """
    nodes = list(ast.walk(tree))
    named: set[tuple[str, int]] = set()
    for one in imports_of(tree):
        if own(one.top):
            bound.add(one.bound)
            if "." in one.module and (one.module, one.statement) not in named:
                add(claims.imported, one.module, one.statement)
            if one.name not in ("", "*"):
                add(claims.imported, one.name, one.line)
        elif not known.is_python(one.top) and (one.module, one.statement) not in named:
            add(claims.dependency, one.top, one.statement)
        named.add((one.module, one.statement))
    # Values computed from the project's objects belong to the project too; follow up to three assignments.
    for _ in range(3):
        for node in nodes:
            _bind(node, bound)
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    fields = {field for node in nodes if isinstance(node, ast.Compare) for field in _fields(node)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and _root(node.value) in bound:
            if node not in fields:
                add(claims.attribute, node.attr, node.end_lineno or node.lineno)
        elif isinstance(node, ast.Call) and _root(node.func) in bound:
            for keyword in node.keywords:
                # An argument that a function merely passes on is the reader's own.
                if keyword.arg and keyword.arg not in parameters:
                    add(claims.identifier, keyword.arg, keyword.lineno)


def _fields(node: ast.Compare) -> Iterator[ast.Attribute]:
    """Yield attributes used in a comparison: they are fields of the reader's own data, as in ``User.age > 30``."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            yield part


def _bind(node: ast.AST, bound: set[str]) -> None:
    value: ast.expr | None = None
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        value, targets = node.value, node.targets
    elif isinstance(node, ast.For | ast.AsyncFor):
        value, targets = node.iter, [node.target]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        value, targets = node.context_expr, [node.optional_vars]
    while isinstance(value, ast.Await | ast.Subscript):
        value = value.value
    if isinstance(value, ast.Call | ast.Attribute) and _root(value) in bound:
        bound.update(target.id for target in targets if isinstance(target, ast.Name))


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Await | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
