"""Reduce a piece of code in an answer to the body of one function."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from workbench.repository.functions import Function, find_functions
from workbench.repository.indentation import dedent
from workbench.repository.lines import Line, LineKind, read_lines, syntax_problem
from workbench.repository.splicing import body_text

_HEADER = re.compile(r"(?:async[ \t]+)?def[ \t]+(?P<name>\w+)")
_ONLY_IN_FUNCTIONS = re.compile(r"(?:return|yield|await|nonlocal)\b")
_IMPORT = re.compile(r"(?:import|from)\b(?!.*\b__future__\b)")
_MARKDOWN = re.compile(r"(?:[-*>+]|\d+[.)]|#{1,6})\s+\S")
_TRIVIAL = re.compile(r"(?:\s|#[^\n]*|\bpass\b|\.\.\.|raise NotImplementedError(?:\([^)]*\))?|;)*")
_MAX_TRIES = 40
_MAX_LINES = 1000  # above this, searching for prose line by line takes too long


@dataclass(frozen=True, slots=True)
class Reduced:
    """A dedented body (first statement in column 0), notes on what was left out, and the problem with it, if any."""

    body: str
    notes: tuple[str, ...] = ()
    problem: str | None = None
    defines_target: bool = False

    @property
    def trivial(self) -> bool:
        """Whether it is empty or consists of ``pass``, ``...`` and comments only."""
        return _TRIVIAL.fullmatch(self.body) is not None


def reduce_to_body(code: str, function: Function, source: bytes = b"", *, prose_around: bool = False) -> Reduced:
    """Return the body of ``function`` that ``code`` contains.

    ``code`` may be the body, the body with the header or docstring repeated, or an enclosing class or file. ``source`` is
    the file itself: imports that the answer repeats from it are left out. ``prose_around`` allows leading and trailing
    lines of prose to be removed, as in an answer without a fence.
    """
    code = _strip_blank_edges(code)
    headless = _without_unindented_header(code, function)
    if headless is not None:
        reduced = _as_statements(headless, function, prose_around=prose_around)
        return replace(reduced, notes=("the header was repeated", *reduced.notes), defines_target=True)
    repeated = _from_definition(code, function, source)
    if repeated is not None:
        return repeated
    return _as_statements(code, function, prose_around=prose_around)


def body_problem(body: str, function: Function) -> str | None:
    """Return why ``body`` cannot be the body of ``function``, or None."""
    if not any(line.kind is LineKind.CODE for line in read_lines(body)):
        return None if function.docstring is not None else "the body holds no statement, and there is no docstring"
    return syntax_problem(_wrapped(body))


def _wrapped(body: str) -> str:
    lines = read_lines(body)
    moved = "".join(line.text if line.kind in (LineKind.STRING, LineKind.BLANK) else " " + line.text for line in lines)
    return f"async def _():\n{moved}\n"


def _finish(body: str, function: Function, notes: tuple[str, ...], *, defines_target: bool = False) -> Reduced:
    """Drop a repeated docstring and check what remains."""
    if function.docstring is not None:
        wrapped = _wrapped(body).encode("utf-8", "surrogatepass")
        wrapper = find_functions(wrapped, "")
        if wrapper and wrapper[0].docstring_span is not None:
            rest = body_text(wrapped, wrapper[0])
            body = dedent(_strip_blank_edges(re.sub(r"^[ \t]*;[ \t]*", "", rest)))
            notes = (*notes, "the docstring was repeated" if body.strip() else "only a docstring: equals the stub")
    body = body.rstrip()
    return Reduced(body, notes, body_problem(body, function), defines_target)


def _strip_blank_edges(text: str) -> str:
    text = re.sub(r"\A(?:[ \t\f]*\n)+", "", text)
    return text.rstrip()


def _from_definition(code: str, function: Function, source: bytes) -> Reduced | None:
    """Return the body of the target's definition in ``code``; None if ``code`` is a body instead of a definition."""
    flat = dedent(code).encode("utf-8", "surrogatepass")
    found = find_functions(flat, function.path)
    named = [f for f in found if f.name == function.name]
    outside = _lines_outside(flat, found)
    if any(_ONLY_IN_FUNCTIONS.match(line.content) for line in outside):
        return None
    note = "the definition was repeated"
    if not named:
        same = [f for f in found if f.kind != "nested" and _names(f) == _names(function)]
        others = [line for line in outside if not _IMPORT.match(line.content)]
        if len(same) != 1 or others:
            return None
        named, note = same, f"the function was called {same[0].name}"
    best = max(named, key=lambda f: _likeness(f, function, flat))
    if best.qualified_name.count(".") > 0 and note.endswith("repeated"):
        note = "the class or function around it was repeated"
    body = dedent(_strip_blank_edges(re.sub(r"^[ \t]*(?:;[ \t]*|\\\n\s*)?(?=\S)", "", body_text(flat, best))))
    notes = [note]
    if best.docstring is not None:
        if function.docstring is None and flat[slice(*best.body)].strip() == b"":
            body = "pass"
        notes.append("the docstring was repeated" if body.strip() else "only a docstring: equals the stub")
    imports = _new_imports(flat, found, source)
    if imports and body.strip():
        body = "\n".join([*imports, body])
        notes.append("imports were moved into the body")
    beside = [f for f in found if f.span.end <= best.span.start or f.span.start >= best.span.end]
    if beside:
        notes.append("other definitions were left out")
    return _finish_checked(body, function, tuple(notes))


def _finish_checked(body: str, function: Function, notes: tuple[str, ...]) -> Reduced:
    body = body.rstrip()
    return Reduced(body, notes, body_problem(body, function), defines_target=True)


def _names(function: Function) -> list[str]:
    return [parameter.name for parameter in function.parameters]


def _likeness(found: Function, target: Function, code: bytes) -> tuple[bool, bool, bool, bool, bool, int]:
    trivial = _TRIVIAL.fullmatch(body_text(code, found)) is not None
    return (
        not trivial,
        target.qualified_name.endswith(found.qualified_name) and found.qualified_name.count(".") > 0
        if target.kind != "function"
        else found.kind == "function",
        _names(found) == _names(target),
        found.decorators == target.decorators,
        found.occurrence == target.occurrence,
        -found.span.start,
    )


def _lines_outside(code: bytes, found: tuple[Function, ...]) -> list[Line]:
    """Return the logical lines of ``code`` that are outside any function."""
    inside: set[int] = set()
    for function in found:
        inside.update(range(function.first_line, function.end_line + 1))
    lines = read_lines(code.decode("utf-8", "surrogatepass"))
    return [line for n, line in enumerate(lines, 1) if n not in inside and line.kind is LineKind.CODE]


def _new_imports(code: bytes, found: tuple[Function, ...], source: bytes) -> list[str]:
    """Return imports at the answer's top level that the file itself lacks."""
    inside: set[int] = set()
    for function in found:
        inside.update(range(function.first_line, function.end_line + 1))
    known = {line.strip() for line in source.decode("utf-8", "replace").splitlines()}
    imports: list[str] = []
    taking = False
    for number, line in enumerate(read_lines(code.decode("utf-8", "surrogatepass")), 1):
        if line.kind is LineKind.CODE:
            taking = (
                number not in inside
                and not line.indent
                and _IMPORT.match(line.content) is not None
                and line.content.strip() not in known
            )
        if taking and line.kind is not LineKind.BLANK:
            imports.append(line.text.rstrip("\r\n"))
    return imports


def _without_unindented_header(code: str, function: Function) -> str | None:
    """Return the text after a repeated header whose body is not indented below it, else None."""
    lines = read_lines(code)
    position = 0
    while position < len(lines) and (
        lines[position].kind is not LineKind.CODE or lines[position].content.startswith("@")
    ):
        position += 1
    if position == len(lines):
        return None
    header = lines[position]
    match = _HEADER.match(header.content)
    if not match or match["name"] != function.name:
        return None
    end = position + 1
    while end < len(lines) and lines[end].kind in (LineKind.CONTINUATION, LineKind.STRING):
        end += 1
    if not re.search(r":\s*(?:#.*)?$", lines[end - 1].text.rstrip("\r\n")):
        return None
    following = next((line for line in lines[end:] if line.kind is LineKind.CODE), None)
    if following is None or len(following.indent.expandtabs(8)) > len(header.indent.expandtabs(8)):
        return None
    return "".join(line.text for line in lines[end:])


def _as_statements(code: str, function: Function, *, prose_around: bool) -> Reduced:
    """Interpret ``code`` as the statements of the body, at any indentation."""
    first_try: Reduced | None = None
    for text, notes in _readings(code):
        reduced = _finish(dedent(text), function, notes)
        if reduced.problem is None:
            return reduced
        first_try = first_try or reduced
    if prose_around:
        trimmed = _between_prose(code, function)
        if trimmed is not None:
            return trimmed
    return first_try or Reduced("", (), "the answer holds no code")


def _readings(code: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the possible interpretations of the indentation of ``code``, the literal one first."""
    lines = read_lines(_strip_blank_edges(code))
    starts = [n for n, line in enumerate(lines) if line.kind is LineKind.CODE]
    if not starts:
        return [(code, ())]
    readings = [_until_dedent(lines, lines[starts[0]].indent)]
    if len(starts) > 1:
        first, second = lines[starts[0]], lines[starts[1]]
        opens = re.search(r":\s*(?:#.*)?$", first.content) is not None
        indents = [lines[n].indent for n in starts[1:]]
        own = [indent for indent in indents if indent]
        repaired = second.indent if not opens else min(own, key=lambda i: len(i.expandtabs(8)), default="")
        if repaired and repaired != first.indent:
            moved = list(lines)
            moved[starts[0]] = Line(repaired + first.text[len(first.indent) :], repaired, LineKind.CODE)
            text, notes = _until_dedent(moved, repaired)
            reading = (text, ("the first line had another indentation", *notes))
            if first.indent and len(first.indent.expandtabs(8)) > len(repaired.expandtabs(8)):
                readings.insert(0, reading)  # the literal interpretation would stop after the first line
            else:
                readings.append(reading)
    return readings


def _until_dedent(lines: list[Line], base: str) -> tuple[str, tuple[str, ...]]:
    """Return the lines up to the first statement that is indented less than ``base``."""
    width = len(base.expandtabs(8))
    for number, line in enumerate(lines):
        if line.kind is LineKind.CODE and len(line.indent.expandtabs(8)) < width:
            kept = lines[:number]
            while kept and (
                kept[-1].kind is LineKind.BLANK or (kept[-1].kind is LineKind.COMMENT and len(kept[-1].indent) < width)
            ):
                kept.pop()
            return "".join(line.text for line in kept), ("text after the body was left out",)
    return "".join(line.text for line in lines), ()


def _is_prose(line: Line) -> bool:
    content = line.content.strip()
    if not content or content.startswith("```"):
        return bool(content)
    words = re.findall(r"[^\W\d_][\w'’-]*", content)
    looks_so = len(words) >= 2 or content.endswith((":", ".")) or _MARKDOWN.match(content)
    return bool(looks_so) and syntax_problem(content) is not None and _wrapped_problem(content)


def _wrapped_problem(content: str) -> bool:
    """Return whether a line is invalid even inside a function; the header of a block is not."""
    if syntax_problem(_wrapped(content)) is None:
        return False
    if content.endswith(":"):
        opener = re.match(
            r"(?:el)?if\b|else:|try:|finally:|for\b|while\b|with\b|except\b|def\b|class\b|async\b|match\b|case\b",
            content,
        )
        return opener is None or (
            syntax_problem(_wrapped(f"{content}\n pass")) is not None
            and not content.startswith(("elif", "else", "except", "finally", "case"))
        )
    return not re.search(r"[(\[{\\,]$|^[)\]}]", content)


def _between_prose(code: str, function: Function) -> Reduced | None:
    """Return the statements between lines of prose, or None if none of them parse."""
    lines = read_lines(code)
    if len(lines) > _MAX_LINES:
        return None
    starts = [n for n, line in enumerate(lines) if line.text.strip() and not _is_prose(line)]
    tries = 0
    for start in starts:
        if start and lines[start - 1].text.strip() and not _is_prose(lines[start - 1]):
            continue  # only where prose or a blank line ends
        ends = [len(lines)] + [n for n in range(start + 1, len(lines)) if _is_prose(lines[n])]
        for end in ends:
            tries += 1
            if tries > _MAX_TRIES:
                return None
            piece = "".join(line.text for line in lines[start:end])
            reduced = reduce_to_body(piece, function)
            if reduced.problem is None and not reduced.trivial:
                return replace(reduced, notes=(*reduced.notes, "prose around the code was left out"))
    return None
