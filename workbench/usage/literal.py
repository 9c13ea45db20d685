"""The reader ``literal``: tries what a page names on the shown calls, and keeps the first answer that fits them.

It needs no model and is deterministic. It uses only names, options and examples in the page's code spans and blocks.
"""

from __future__ import annotations

import ast
import builtins
import copy
import itertools
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from workbench.base import python_syntax
from workbench.base.text import one_line
from workbench.claims.python import Definition, imports_of, python_of
from workbench.usage.command_attempts import command_attempts
from workbench.usage.page_reader import read_page
from workbench.usage.pages import Example, Named, UsagePage
from workbench.usage.probing import AnswerAttempt
from workbench.usage.tasks import UsageTask

MOST_CALLS, MOST_COMMANDS = 240, 60
"""Maximum numbers of attempts for a function or method, and for a command, which takes much longer."""
_MOST_EACH = 6  # attempts for one example or name
_MOST_SLOTS = 6


def candidates(page: str, task: UsageTask) -> list[AnswerAttempt]:
    """Return the answers to a task that the page suggests, most likely first."""
    found = read_page(page)
    if task.target.kind == "command":
        return _bounded([command_attempts(found, task)], MOST_COMMANDS)
    examples = [_from_example(one, task) for one in sorted(found.examples, key=lambda one: bool(one.unbound))]
    names: dict[str, Named] = {}
    for one in found.callables:
        names.setdefault(one.path, one)
    in_examples = {one.path for one in found.callables if one.example}
    named = [
        _from_name(one, found, task) for one in sorted(names.values(), key=lambda one: one.path not in in_examples)
    ]
    return _bounded(itertools.zip_longest(*examples, *named), MOST_CALLS)


def _bounded(rounds: Iterable[Iterable[AnswerAttempt | None]], most: int) -> list[AnswerAttempt]:
    """Return the first distinct attempts, taking one from each example or name in every round."""
    found: dict[str, AnswerAttempt] = {}
    for attempt in itertools.chain.from_iterable(rounds):
        if attempt is not None:
            found.setdefault(attempt.answer_text, attempt)
            if len(found) == most:
                break
    return list(found.values())


def why_none(page: str, attempts: Sequence[AnswerAttempt], task: UsageTask) -> str:
    """Return why no attempt was chosen."""
    if attempts:
        start = "The page names nothing that fits" if page.strip() else "Nothing fits"
        return f"{start}; {len(attempts)} calls were tried."
    what = "command or option of this program" if task.target.kind == "command" else "function in code"
    return f"The page names no {what}." if page.strip() else "There is no page."


# -- functions and methods


def _from_example(example: Example, task: UsageTask) -> Iterator[AnswerAttempt]:
    """Yield answers that replace the literals or placeholders of an example with the inputs."""
    nodes: list[ast.AST] = [*example.statements, example.expression]
    values = example.unbound | _BUILT_IN | _names_bound(example.imports, library=True)
    slots = [slot for node in nodes for slot in _slots(node, values)][:_MOST_SLOTS]
    shown = [] if not task.shown else [_parsed(text) for text in task.shown[0].inputs]
    count = len(task.parameters)
    why = f"Line {example.line} of the page shows `{one_line(ast.unparse(example.expression), 80)}`."
    if len(slots) < count:
        texts = [example_answer(example, task, dict(zip(slots, range(count), strict=False)), extra=len(slots))]
    else:
        ways = itertools.permutations(range(len(slots)), count)
        ranked = sorted(ways, key=lambda way: _unlikeliness(way, slots, shown))
        texts = [
            example_answer(example, task, {slots[at]: number for number, at in enumerate(way)}, drop=drop)
            for way in ranked[:_MOST_EACH]
            for drop in (False, True)
        ]
    yield from (AnswerAttempt(text, example.line, why, example.path) for text in texts if text)


def _unlikeliness(way: Sequence[int], slots: Sequence[ast.expr], inputs: Sequence[ast.expr | None]) -> tuple[int, ...]:
    """Rank an assignment of inputs to slots: by types that differ, then by changes of the order, then by position."""
    pairs = zip(way, inputs, strict=False)
    unlike = sum(_kind(slots[at]) not in ("", _kind(value)) for at, value in pairs)
    return unlike, sum(one > other for one, other in itertools.combinations(way, 2)), *way


def _kind(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    if isinstance(node, ast.UnaryOp):
        return _kind(node.operand)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[-1]
    return type(node).__name__ if isinstance(node, ast.List | ast.Dict | ast.Tuple | ast.Set) else ""


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except python_syntax.UNREADABLE:
        return None


_BUILT_IN = frozenset(dir(builtins)) - {"print", "open", "input"}


def _names_bound(imports: Iterable[str], *, library: bool = False) -> set[str]:
    """Return the names that import statements bind, or only those of the standard library."""
    tree = python_of("\n".join(imports))
    found = imports_of(tree) if tree is not None else ()
    return {one.bound for one in found if not library or one.top in sys.stdlib_module_names}


_SLOT_FIELDS = frozenset({"args", "value", "left", "right", "elts", "values"})


def _slots(node: ast.AST, values: Set[str]) -> Iterator[ast.expr]:
    """Yield the outermost values that an input can replace, in order: arguments, operands and assigned values.

    An expression counts as a value if it uses no names other than ``values``.
    """
    whole = isinstance(node, ast.Attribute | ast.Starred | ast.JoinedStr | ast.FormattedValue | ast.Expr)
    for name, content in ast.iter_fields(node):
        for one in content if isinstance(content, list) else [content]:
            if isinstance(one, ast.expr) and name in _SLOT_FIELDS and not whole and _is_value(one, values):
                yield one
            elif isinstance(one, ast.AST) and not isinstance(one, ast.FunctionDef | ast.ClassDef | ast.Lambda):
                yield from _slots(one, values)


def _is_value(node: ast.expr, values: Set[str]) -> bool:
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return names <= values and not isinstance(node, ast.JoinedStr | ast.Lambda)


class _Substitution(ast.NodeTransformer):
    def __init__(self, names: dict[ast.AST, str], dropped: frozenset[ast.AST]) -> None:
        self._names, self._dropped = names, dropped

    def visit(self, node: ast.AST) -> ast.AST:
        if node in self._names:
            return ast.Name(self._names[node], ast.Load())
        if isinstance(node, ast.Call):
            node = copy.copy(node)
            node.args = [one for one in node.args if one not in self._dropped]
            node.keywords = [one for one in node.keywords if one.value not in self._dropped]
        return self.generic_visit(copy.copy(node))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, name, [self.visit(one) if isinstance(one, ast.AST) else one for one in value])
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node


def example_answer(
    example: Example, task: UsageTask, assigned: Mapping[ast.expr, int], *, extra: int | None = None, drop: bool = False
) -> str:
    """Return the example with inputs in place of some values.

    Inputs starting with ``extra`` are added to the call; ``drop`` leaves out the other values of keywords and
    placeholders.
    """
    nodes: list[ast.AST] = [*example.statements, example.expression]
    parts = [one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name)]
    bound = {one.id for one in parts}
    names = [f"{name}_" if name in bound else name for name in task.parameters]
    calls = [one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Call)]
    dropped: set[ast.AST] = set()
    for call in calls if drop else ():
        dropped |= {one.value for one in call.keywords if one.value not in assigned}
        dropped |= {one for one in call.args if isinstance(one, ast.Name) and one.id in example.unbound} - {*assigned}
    if drop and not dropped:
        return ""
    changed = _Substitution({slot: names[number] for slot, number in assigned.items()}, frozenset(dropped))
    statements = [ast.unparse(ast.fix_missing_locations(changed.visit(one))) for one in example.statements]
    expression = changed.visit(example.expression)
    if extra is not None:
        target = next((one for one in ast.walk(expression) if isinstance(one, ast.Call)), None)
        if target is None or any(isinstance(one, ast.Starred) for one in target.args):
            return ""
        target.args += [ast.Name(name, ast.Load()) for name in names[extra:]]
    result = ast.unparse(ast.fix_missing_locations(expression))
    left = {one.id for one in ast.walk(expression) if isinstance(one, ast.Name)} & example.unbound
    if left:
        return ""
    package = task.package.split(".")[0]
    stored = {one.id for one in parts if isinstance(one.ctx, ast.Store)}
    defined = {one.name for one in example.statements if isinstance(one, Definition)}
    known = stored | defined | _BUILT_IN | _names_bound(example.imports) | example.unbound | {"print", "open", "input"}
    missing = [one.id for one in parts if one.id not in known]
    imports = [
        *example.imports,
        *(f"import {name}" if name == package else f"from {package} import {name}" for name in dict.fromkeys(missing)),
    ]
    return _module(imports, names, [*statements, f"return {result}"])


def _module(imports: Iterable[str], names: Sequence[str], body: Iterable[str]) -> str:
    head = "\n".join(imports)
    inside = textwrap.indent("\n".join(body), "    ")
    return f"{head}\n\n\ndef answer({', '.join(names)}):\n{inside}\n".lstrip("\n")


def _from_name(named: Named, page: UsagePage, task: UsageTask) -> Iterator[AnswerAttempt]:
    """Yield answers that call a named function with the inputs, or a named method on an object created from inputs."""
    why = f"Line {named.line} of the page names `{named.path.removeprefix('?.')}`."
    for text in _name_answers(named, page, task):
        yield AnswerAttempt(text, named.line, why, named.path)


def _name_answers(named: Named, page: UsagePage, task: UsageTask) -> Iterator[str]:
    parts, inputs = named.path.split("."), list(task.parameters)
    package = task.package.split(".")[0]
    if parts[0] == "?" or (len(parts) > 1 and not _is_imported(parts, page, package)):
        for maker, statement in _makers(page, package):
            if task.shown and inputs and task.shown[0].inputs[0].startswith(("(", "[")):
                call = f"{maker}(*{inputs[0]}).{parts[-1]}({', '.join(inputs[1:])})"
                yield _module([statement], inputs, [f"return {call}"])
            for split in range(len(inputs), -1, -1):
                call = f"{maker}({', '.join(inputs[:split])}).{parts[-1]}({', '.join(inputs[split:])})"
                yield _module([statement], inputs, [f"return {call}"])
        if parts[0] == "?" or not parts[0][:1].isupper():
            return
    ways = [_calls_of(imports, path, parts, task) for imports, path in _ways_to_import(parts, page, package)]
    yield from (text for turn in itertools.zip_longest(*ways) for text in turn if text)


def _calls_of(imports: str, path: str, parts: Sequence[str], task: UsageTask) -> Iterator[str]:
    inputs = list(task.parameters)
    calls = [f"{path}({', '.join(inputs)})"]
    if len(inputs) == 2:
        calls.append(f"{path}({inputs[1]}, {inputs[0]})")
    last = task.shown[0].inputs[-1] if task.shown and inputs else ""
    if last.startswith(("(", "[")):
        calls.append(f"{path}({', '.join([*inputs[:-1], f'*{inputs[-1]}'])})")
    if len(parts) > 1 and parts[-2][:1].isupper():
        owner, _, member = path.rpartition(".")
        calls += [
            f"{owner}({', '.join(inputs[:at])}).{member}({', '.join(inputs[at:])})" for at in range(len(inputs) + 1)
        ]
        calls += [f"{owner}({', '.join(inputs)}).{member}"]
    yield from (_module([imports], inputs, [f"return {call}"]) for call in calls)


def _is_imported(parts: Sequence[str], page: UsagePage, package: str) -> bool:
    tops = {package, *(module.split(".")[0] for module in page.modules)}
    return parts[0] in tops or parts[0][:1].isupper()


def _makers(page: UsagePage, package: str) -> Iterator[tuple[str, str]]:
    """Yield the classes that the page names, with their imports."""
    classes = dict.fromkeys(
        tuple(one.path.split(".")) for one in page.callables if one.path.split(".")[-1][:1].isupper()
    )
    for parts in list(classes)[:5]:
        for imports, path in itertools.islice(_ways_to_import(parts, page, package), 1):
            yield path, imports


def _ways_to_import(parts: Sequence[str], page: UsagePage, package: str) -> Iterator[tuple[str, str]]:
    tops = {package, *(module.split(".")[0] for module in page.modules)}
    if parts[0] in tops and len(parts) > 1:
        at = next((n for n, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1) or 1
        yield f"from {'.'.join(parts[:at])} import {parts[at]}", ".".join(parts[at:])
        return
    own = sorted(page.modules, key=lambda one: one.split(".")[0] != package)
    for module in list(dict.fromkeys([package, *own]))[:4]:
        yield f"from {module} import {parts[0]}", ".".join(parts)
