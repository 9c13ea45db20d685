"""Reduce a piece of code from an answer to the body of one function."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.base import python_syntax
from workbench.regeneration.names import FUNCTIONS, lift_siblings
from workbench.regeneration.program import AnswerProgram, own_nodes, parse_program
from workbench.repository.functions import Function, find_functions
from workbench.repository.lines import LineKind, SourceLine, dedent, read_lines, syntax_problem
from workbench.repository.splicing import body_text

_HEADER = re.compile(r"(?:async[ \t]+)?def[ \t]+(?P<name>\w+)")
_ONLY_IN_FUNCTIONS = re.compile(r"(?:return|yield|await|nonlocal)\b")
_MARKDOWN = re.compile(r"(?:[-*>+]|\d+[.)]|#{1,6})\s+\S")
_TRIVIAL = re.compile(r"(?:\s|#[^\n]*|\bpass\b|\.\.\.|raise NotImplementedError(?:\([^)]*\))?|;)*")
_TEXT_AFTER = "text after the body was left out"
_MAX_ATTEMPTS = 40
_MAX_LINES = 1000  # for longer code, a line-by-line search for prose takes too long


@dataclass(frozen=True, slots=True)
class Reduced:
    """A dedented body (first statement in column 0), notes on what was left out, and the reason if it is invalid."""

    body: str
    notes: tuple[str, ...] = ()
    problem: str | None = None
    defines_target: bool = False

    @property
    def trivial(self) -> bool:
        """Whether the body is empty or contains only ``pass``, ``...`` and comments."""
        return _TRIVIAL.fullmatch(self.body) is not None


def reduce_to_body(
    code: str, function: Function, source: bytes = b"", *, prose_around: bool = False, other_code: Sequence[str] = ()
) -> Reduced:
    """Return the body of ``function`` that ``code`` contains.

    ``code`` may be the body, the body with a repeated header or docstring, or an enclosing class or file. Definitions
    repeated from the file ``source`` are left out. ``prose_around`` removes leading and trailing prose, as found in an
    answer without a fence. ``other_code`` is the answer's other code blocks, which may define names that this code
    uses.
    """
    code = _strip_blank_edges(code)
    if not code:
        return Reduced("", (), "the answer is empty")
    headless = _without_unindented_header(code, function)
    if headless is not None:
        reduced = _as_statements(headless, function, source, other_code, prose_around=prose_around)
        return replace(reduced, notes=("the header was repeated", *reduced.notes), defines_target=True)
    repeated = _from_definition(code, function, source, other_code)
    if repeated is not None:
        return repeated
    return _as_statements(code, function, source, other_code, prose_around=prose_around)


def body_problem(body: str, function: Function) -> str | None:
    if not any(line.kind is LineKind.CODE for line in read_lines(body)):
        return None if function.docstring is not None else "the body has no statement, and there is no docstring"
    return syntax_problem(_wrapped(body)) or _no_effect(body, function)


def returns(body: str) -> bool:
    """Return whether a valid body returns or yields, which usage examples and tests never do at the top level."""
    # `pass` is added because the body may consist of comments only.
    statements = python_syntax.parse(f"{_wrapped(body)} pass\n").body
    return any(isinstance(one, ast.Return | ast.Yield | ast.YieldFrom) for one in own_nodes(statements[0]))


def _no_effect(body: str, function: Function) -> str | None:
    """Return why a body without any effect is rejected: with only definitions and values, it would return None."""
    statements = python_syntax.parse(_wrapped(body)).body[0].body  # type: ignore[attr-defined]
    statements = [one for one in statements if not isinstance(one, ast.Pass | ast.Import | ast.ImportFrom)]
    defined = [one.name for one in statements if isinstance(one, (*FUNCTIONS, ast.ClassDef)) and not one.decorator_list]
    values = [one for one in statements if isinstance(one, ast.Expr) and _is_pure(one.value)]
    if not statements or len(defined) + len(values) < len(statements):
        return None
    if defined:
        return f"the answer defines {', '.join(defined[:3])} instead of {function.name}"
    strings = all(isinstance(one.value, ast.Constant) and isinstance(one.value.value, str) for one in values)
    return None if strings else "the answer is a value without statements"


def _is_pure(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is not ...
    effects = ast.Call | ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr
    return isinstance(node, ast.Lambda) or not any(isinstance(one, effects) for one in ast.walk(node))


def _wrapped(body: str) -> str:
    lines = read_lines(body)
    moved = "".join(line.text if line.kind in (LineKind.STRING, LineKind.BLANK) else " " + line.text for line in lines)
    return f"async def _():\n{moved}\n"


def _finish(body: str, function: Function, notes: tuple[str, ...], *, defines_target: bool = False) -> Reduced:
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


def _from_definition(code: str, function: Function, source: bytes, other_code: Sequence[str]) -> Reduced | None:
    """Return the body of the target's definition in ``code``, or None if ``code`` contains no definition."""
    text = dedent(code)
    flat = text.encode("utf-8", "surrogatepass")
    found = find_functions(flat, function.path)
    named = [f for f in found if f.name == function.name]
    within = {number for one in found for number in range(one.first_line, one.end_line + 1)}
    if any(
        number not in within and line.kind is LineKind.CODE and _ONLY_IN_FUNCTIONS.match(line.content)
        for number, line in enumerate(read_lines(text), 1)
    ):
        return None
    note = "the definition was repeated"
    if not named:
        program = AnswerProgram(text, 0, other_code, function, source)
        if program.assigns(function.name):
            call = program.call_to(function.name)
            return _finish_checked(call.body, function, ("the function was assigned", *call.notes))
        named = _under_another_name(found, function, program)
        if not named:
            return None
        note = f"the function was named {named[0].name}"
    # The file may also define the name several times, for example as a property and its setter.
    repeats = len(named) > 1 and (
        sum(one.qualified_name == function.qualified_name for one in find_functions(source, function.path)) > 1
    )
    best = max(named, key=lambda f: _likeness(f, function, flat, repeats))
    if best.kind == "method" and function.kind == "function" and len(_names(best)) == len(_names(function)) + 1:
        outer, _, inner = best.qualified_name.partition(".")
        member = f".{inner}".removesuffix(f".{best.name}") + f"().{best.name}" if "." in inner else f"().{inner}"
        call = AnswerProgram(text, 0, other_code, function, source).call_to(outer, member)
        return _finish_checked(call.body, function, (f"the function was in the class {outer}", *call.notes))
    if best.kind == "method" and (tree := parse_program(text)) is not None:
        lifted = lift_siblings(text, tree, best.start_line, function, source)
        if lifted != text:
            text, flat = lifted, lifted.encode("utf-8", "surrogatepass")
            best = next(f for f in find_functions(flat, function.path) if f.start_line == best.start_line)
    if best.qualified_name.count(".") > 0 and note.endswith("repeated"):
        note = "the class or function around it was repeated"
    body = dedent(_strip_blank_edges(re.sub(r"^[ \t]*(?:;[ \t]*|\\\n\s*)?(?=\S)", "", body_text(flat, best))))
    notes = [note]
    if best.docstring is not None:
        if function.docstring is None and flat[slice(*best.body)].strip() == b"":
            body = "pass"
        notes.append("the docstring was repeated" if body.strip() else "only a docstring: equals the stub")
    program = AnswerProgram(text, best.start_line, other_code, function, source)
    if program.node is not None and body.strip():
        completed = program.complete(program.node, body)
        body, notes = completed.body, [*notes, *completed.notes]
    return _finish_checked(body, function, tuple(notes), defines_target=best.name == function.name)


def _under_another_name(found: Sequence[Function], function: Function, program: AnswerProgram) -> list[Function]:
    """Return the only function with the target's parameters, or the answer's only function if the number matches."""
    if not program.only_defines:
        return []
    outer = [f for f in found if f.kind != "nested"]
    same = [f for f in outer if _names(f) == _names(function)]
    alike = [f for f in outer if len(f.parameters) == len(function.parameters)] if len(outer) == 1 else []
    return same if len(same) == 1 else alike


def _finish_checked(body: str, function: Function, notes: tuple[str, ...], *, defines_target: bool = True) -> Reduced:
    body = body.rstrip()
    if not body and not any("docstring" in note for note in notes):
        return Reduced(body, notes, f"the definition of {function.name} has no body", defines_target)
    return Reduced(body, notes, body_problem(body, function), defines_target)


def _names(function: Function) -> list[str]:
    return [parameter.name for parameter in function.parameters]


def _likeness(
    found: Function, target: Function, code: bytes, repeats: bool
) -> tuple[bool, bool, bool, bool, bool, bool, int]:
    """Return a sort key for definitions with the target's name; of equals, the last one wins, as in Python."""
    trivial = _TRIVIAL.fullmatch(body_text(code, found)) is not None
    in_class = found.qualified_name.count(".") > 0
    return (
        # A method of the same name in another class is a different function.
        not in_class
        if target.kind == "function"
        else not in_class or f".{target.qualified_name}".endswith(f".{found.qualified_name}"),
        not trivial,
        in_class == (target.kind != "function"),
        _names(found) == _names(target),
        found.decorators == target.decorators,
        repeats and found.occurrence == target.occurrence,
        found.span.start,
    )


def _without_unindented_header(code: str, function: Function) -> str | None:
    """Return the text after a repeated header if the body below it is not indented, or None otherwise."""
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


def _as_statements(
    code: str, function: Function, source: bytes, other_code: Sequence[str], *, prose_around: bool
) -> Reduced:
    first: Reduced | None = None
    for text, notes, rest in _indentations(code):
        reduced = _finish(dedent(text), function, notes)
        if reduced.problem is None:
            return _with_definitions(reduced, function, source, [*other_code, rest])
        first = first or reduced
    if prose_around and syntax_problem(_wrapped(dedent(code))) is not None:
        trimmed = _between_prose(code, function, source, other_code)
        if trimmed is not None:
            return trimmed
    return first or Reduced("", (), "the answer has no code")


def _with_definitions(reduced: Reduced, function: Function, source: bytes, other_code: Sequence[str]) -> Reduced:
    others = [dedent(text) for text in other_code if text.strip()]
    if not others or not reduced.body.strip():
        return reduced
    program = AnswerProgram("", 0, others, function, source)
    completed = program.complete_statements(reduced.body, _wrapped(reduced.body))
    if completed.body == reduced.body:
        return reduced
    notes = (*(note for note in reduced.notes if note != _TEXT_AFTER), *completed.notes)
    return replace(reduced, body=completed.body, notes=notes, problem=body_problem(completed.body, function))


def _indentations(code: str) -> list[tuple[str, tuple[str, ...], str]]:
    """Return (text, notes, omitted rest) for each plausible indentation of the first line, most likely first."""
    lines = read_lines(_strip_blank_edges(code))
    starts = [n for n, line in enumerate(lines) if line.kind is LineKind.CODE]
    if not starts:
        return [(code, (), "")]
    interpretations = [_until_dedent(lines, lines[starts[0]].indent)]
    if len(starts) > 1:
        first, second = lines[starts[0]], lines[starts[1]]
        opens = re.search(r":\s*(?:#.*)?$", first.content) is not None
        indents = [lines[n].indent for n in starts[1:]]
        own = [indent for indent in indents if indent]
        repaired = second.indent if not opens else min(own, key=lambda i: len(i.expandtabs(8)), default="")
        if repaired and repaired != first.indent:
            moved = list(lines)
            moved[starts[0]] = SourceLine(repaired + first.text[len(first.indent) :], repaired, LineKind.CODE)
            text, notes, rest = _until_dedent(moved, repaired)
            reading = (text, ("the first line's indentation was corrected", *notes), rest)
            if first.indent and len(first.indent.expandtabs(8)) > len(repaired.expandtabs(8)):
                interpretations.insert(0, reading)  # Taken literally, the code would end after the first line.
            else:
                interpretations.append(reading)
    return interpretations


def _until_dedent(lines: list[SourceLine], base: str) -> tuple[str, tuple[str, ...], str]:
    """Split the lines before the first statement whose indentation is less than ``base``."""
    width = len(base.expandtabs(8))
    for number, line in enumerate(lines):
        if line.kind is LineKind.CODE and len(line.indent.expandtabs(8)) < width:
            body = lines[:number]
            while body and (
                body[-1].kind is LineKind.BLANK or (body[-1].kind is LineKind.COMMENT and len(body[-1].indent) < width)
            ):
                body.pop()
            rest = "".join(line.text for line in lines[number:])
            return "".join(line.text for line in body), (_TEXT_AFTER,), rest
    return "".join(line.text for line in lines), (), ""


def _is_prose(line: SourceLine) -> bool:
    content = line.content.strip()
    if not content or content.startswith("```"):
        return bool(content)
    words = re.findall(r"[^\W\d_][\w'’-]*", content)
    resembles_prose = len(words) >= 2 or content.endswith((":", ".")) or _MARKDOWN.match(content)
    return bool(resembles_prose) and syntax_problem(content) is not None and _is_invalid_line(content)


def _is_invalid_line(content: str) -> bool:
    """Return whether a line is invalid even inside a function, unless it opens a block or continues an expression."""
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


def _between_prose(code: str, function: Function, source: bytes, other_code: Sequence[str]) -> Reduced | None:
    lines = read_lines(code)
    if len(lines) > _MAX_LINES:
        return None
    starts = [n for n, line in enumerate(lines) if line.text.strip() and not _is_prose(line)]
    attempts = 0
    for start in starts:
        if start and lines[start - 1].text.strip() and not _is_prose(lines[start - 1]):
            continue  # Code can start only after prose or a blank line.
        ends = [len(lines)] + [n for n in range(start + 1, len(lines)) if _is_prose(lines[n])]
        for end in ends:
            attempts += 1
            if attempts > _MAX_ATTEMPTS:
                return None
            piece = "".join(line.text for line in lines[start:end])
            reduced = reduce_to_body(piece, function, source, other_code=other_code)
            if reduced.problem is None and not reduced.trivial:
                return replace(reduced, notes=(*reduced.notes, "prose around the code was left out"))
    return None
