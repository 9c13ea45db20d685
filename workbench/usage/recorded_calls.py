"""Usage tasks from recorded calls: public names, forms of commands, parameters, and the answer that makes the calls.

At this stage, all calls of a task are hidden, and calls of commands have no results, which only a replay determines.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Any

from workbench.base.text import plural
from workbench.claims.python import Option, subcommands_of
from workbench.regeneration.tasks import Dropped
from workbench.sandbox.workbench_runner.values import NotLiteral, encode
from workbench.usage.public_names import PublicNames
from workbench.usage.tasks import Call, CallTarget, UsageTask

LEAST_CALLS, LEAST_RESULTS = 3, 2
MOST_CALLS = 22
"""Calls of a task: two are shown, and at most twenty hidden."""
VARIED_TO = 5
"""Forms of commands with fewer calls than this get additional calls on other inputs.

Tests often call a command once for each option, on the same few files. The number of additional calls is small, because
every call starts a process.
"""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ATTACHED = re.compile(r"(-[A-Za-z])(\d+)")


def tasks_of_calls(recorded: Mapping[str, Any], names: PublicNames) -> tuple[list[UsageTask], list[Dropped]]:
    """Return a task for each public callable and each form of a command, and the dropped callables and forms."""
    tasks: dict[str, UsageTask] = {}
    dropped: dict[str, Dropped] = {}
    for entry in recorded.get("callables", ()):
        place = names.place(entry["module"], entry["qualname"])
        if place is None:
            continue
        task = _of_callable(entry, place, names)
        if task.id in tasks:
            continue
        why = _why_not(task, Counter(entry.get("unliteral", {})))
        if why is None:
            tasks[task.id] = task
        else:
            dropped[task.id] = why
    for entry in recorded.get("dropped", ()):
        key = f"{entry['path']}::{entry['name']}"
        if names.may_be_public(entry["name"]):
            dropped.setdefault(key, Dropped(key, "literal", entry["reason"]))
    for task in _of_commands(recorded.get("commands", ()), names):
        if len(task.hidden) < LEAST_CALLS:
            dropped[task.id] = Dropped(task.id, "calls", _too_few(len(task.hidden)))
        else:
            tasks.setdefault(task.id, task)
    return list(tasks.values()), [one for key, one in dropped.items() if key not in tasks]


def _why_not(task: UsageTask, unliteral: Counter[str]) -> Dropped | None:
    reasons = ", ".join(f"{number} with {why}" for why, number in unliteral.most_common(3))
    if not task.hidden:
        return Dropped(task.id, "literal", f"None of its calls can be written as literals: {reasons}.")
    if len(task.hidden) < LEAST_CALLS:
        more = f" Others cannot be written as literals: {reasons}." if reasons else ""
        return Dropped(task.id, "calls", _too_few(len(task.hidden)) + more)
    return why_too_uniform(task)


def _too_few(number: int) -> str:
    return f"Tests make {plural(number, 'different literal call')}; a task needs {LEAST_CALLS}."


def why_too_uniform(task: UsageTask) -> Dropped | None:
    """Return why the results of a task's calls do not distinguish a right answer from a constant, or None."""
    if len({call.expected for call in task.hidden}) < LEAST_RESULTS:
        return Dropped(task.id, "results", f"All of its {len(task.hidden)} calls have the same result.")
    return None


# -- functions and methods


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    kind: str  # positional, variadic or keyword
    default: str | None
    inputs: tuple[str | None, ...]  # in every call; None for a non-literal default

    @property
    def is_used(self) -> bool:
        return any(text is not None and text != self.default for text in self.inputs)

    @property
    def is_empty(self) -> bool:
        return self.kind == "variadic" and all(text in (None, "()", "{}") for text in self.inputs)


def _of_callable(entry: Mapping[str, Any], place: tuple[str, str], names: PublicNames) -> UsageTask:
    module, attribute = place
    calls = entry["calls"]
    constructor = entry.get("constructor") if entry["kind"] == "method" else None
    made = _parameters(constructor or (), [call.get("self") or () for call in calls])
    own = _parameters(entry["parameters"], [call["inputs"] for call in calls])
    letters = iter([*_LETTERS, *(f"{letter}{number}" for number in range(1, 10) for letter in _LETTERS)])
    of_constructor, first = _arguments(made, letters)
    of_function, second = _arguments(own, letters)
    used = {**first, **second}
    rows = dict.fromkeys(
        (tuple(one.inputs[number] for one in used.values()), call["result"]) for number, call in enumerate(calls)
    )
    by_inputs: dict[tuple[str, ...], Call] = {}
    for inputs, result in rows:
        texts = tuple(text for text in inputs if text is not None)
        if len(texts) == len(inputs):
            by_inputs.setdefault(texts, Call(texts, result))
    owner, _, method = attribute.rpartition(".")
    top = attribute.split(".")[0]
    called = "called" if top == "answer" or top in used else top
    imported = f"from {module} import {top}" + (f" as {called}" if called != top else "")
    path = called + attribute[len(top) :]
    if constructor is not None:
        path = f"{called}{owner[len(top) :]}({of_constructor}).{method}"
    name = f"{module}.{attribute}"
    target = CallTarget(
        kind=entry["kind"],
        name=name,
        path=entry["path"],
        line=entry["line"],
        documented=names.is_documented(module, attribute),
        reference=f"{imported}\n\n\ndef answer({', '.join(used)}):\n    return {path}({of_function})\n",
    )
    hidden = tuple(by_inputs.values())
    return UsageTask(f"{entry['path']}::{name}", target, module.split(".")[0], tuple(used), (), hidden)


def _parameters(declared: Sequence[Mapping[str, Any]], inputs: Sequence[Sequence[str | None]]) -> list[_Parameter]:
    return [
        _Parameter(one["name"], one["kind"], one["default"], tuple(call[number] for call in inputs))
        for number, one in enumerate(declared)
    ]


def _arguments(parameters: Sequence[_Parameter], letters: Iterator[str]) -> tuple[str, dict[str, _Parameter]]:
    """Return the arguments of the reference's call, and its parameters by their neutral names.

    Parameters that have their defaults in every call are left out, unless later positional parameters require them.
    """
    variadic = any(one.kind == "variadic" and not one.is_empty for one in parameters)
    used: dict[str, _Parameter] = {}
    words = []
    by_position = True
    for one in parameters:
        needed = one.default is None and any(text is not None for text in one.inputs)
        before_variadic = one.kind == "positional" and variadic
        if one.is_empty or not (one.is_used or needed or before_variadic):
            by_position = by_position and one.kind != "positional"
            continue
        letter = next(letters)
        used[letter] = one
        if one.kind == "variadic":
            mapping = all(text is None or text.startswith("{") for text in one.inputs)
            words.append(f"{'**' if mapping else '*'}{letter}")
        else:
            words.append(letter if one.kind == "positional" and by_position else f"{one.name}={letter}")
    return ", ".join(words), used


# -- commands


@dataclass(frozen=True, slots=True)
class _Word:
    """A part of a command line: ``text`` as typed; with a ``slot``, it precedes a value."""

    text: str  # an option, subcommand or `--option=`; "" before a value by itself
    slot: str = ""  # the option or operand that the value belongs to, or "" without a value
    option: str = ""  # the option that the value belongs to, if any
    value: str = ""
    is_file: bool = False

    @property
    def shape(self) -> tuple[str, bool, bool]:
        return self.text, bool(self.slot), self.is_file


@dataclass(frozen=True, slots=True)
class _CommandCall:
    words: tuple[_Word, ...]
    files: Mapping[str, str]
    stdin: str

    @property
    def key(self) -> tuple[object, ...]:
        return tuple(word.value for word in self.words), tuple(sorted(self.files.items())), self.stdin

    def with_value(self, number: int, value: str) -> _CommandCall:
        words = list(self.words)
        words[number] = replace(words[number], value=value)
        return replace(self, words=tuple(words))


def _of_commands(entries: Iterable[Mapping[str, Any]], names: PublicNames) -> Iterator[UsageTask]:
    programs: defaultdict[str, list[_CommandCall]] = defaultdict(list)
    declared = (names.index.parsed(path) for path in names.modules.values())
    subcommands = frozenset(name for tree in declared if tree is not None for name in subcommands_of(tree))
    switches = frozenset(
        name for option in names.index.options if option.default in ("True", "False") for name in option.names
    )
    aliases = _aliases(names.index.options)
    for entry in entries:
        argv = [aliases.get(text, text) for text in entry["argv"]]
        words = tuple(_words(argv, entry["files"], subcommands, switches))
        call = _CommandCall(words, dict(entry["files"]), entry.get("stdin") or "")
        programs[_program(entry["program"], names)].append(call)
    for program, calls in programs.items():
        path, line = _place_of(program, names)
        if not path:
            continue  # the file is not in the repository, for example because a test created it
        forms: defaultdict[tuple[object, ...], dict[tuple[object, ...], _CommandCall]] = defaultdict(dict)
        for call in calls:
            forms[(*(word.shape for word in call.words), bool(call.stdin))].setdefault(call.key, call)
        for form in forms.values():
            yield _of_form(program, path, line, list(_varied(list(form.values()), calls)))


def _aliases(options: Iterable[Option]) -> dict[str, str]:
    """Map each spelling of an option to its longest one; leave out spellings that several options share."""
    longest: defaultdict[str, set[str]] = defaultdict(set)
    for option in options:
        for name in option.names:
            longest[name].add(max(option.names, key=len))
    return {name: next(iter(found)) for name, found in longest.items() if len(found) == 1}


def _words(
    argv: Sequence[str], files: Mapping[str, str], subcommands: frozenset[str], switches: frozenset[str]
) -> Iterator[_Word]:
    option = within = ""  # ``within``: the subcommands so far
    operands = 0
    only_operands = False
    for text in argv:
        name, equals, value = text.partition("=")
        attached = _ATTACHED.fullmatch(text)
        is_option = text.startswith("-") and not only_operands and not _NUMBER.fullmatch(text)
        if is_option and equals and text.startswith("--"):
            yield _Word(f"{name}=", within + name, name, value, value in files)
            option = ""
        elif is_option and attached and attached[1] not in switches:
            yield _Word(attached[1], within + attached[1], attached[1], attached[2])
            option = ""
        elif is_option:
            yield _Word(text)
            only_operands = text == "--"
            option = "" if text in switches or len(text) == 1 else text
        elif not operands and not option and text in subcommands and text not in files:
            yield _Word(text)
            within += f"{text} "
        else:
            operands += not option
            yield _Word("", within + (option or f"operand {operands}"), option, text, text in files)
            option = ""


def _program(recorded: str, names: PublicNames) -> str:
    """Return the console script that does the same as ``python -m MODULE``, if there is one."""
    scripts = names.index.declared.scripts
    module = recorded.partition("python -m ")[2].removesuffix(".__init__")
    targets = {name: target.split("[")[0].strip().partition(":")[0] for name, target in scripts.items()}
    same = [name for name, target in targets.items() if module and module in (target, target.removesuffix(".__main__"))]
    if not same and f"{module}.__main__" in names.modules and len(targets) == 1:
        same = [name for name, target in targets.items() if target.split(".")[0] == module]
    return same[0] if same else f"python -m {module}" if module else recorded


def _varied(form: Sequence[_CommandCall], every: Sequence[_CommandCall]) -> Iterator[_CommandCall]:
    """Yield the calls of one form and, if there are only a few, variants of them with other inputs.

    Other inputs are the values of an option, files and standard input in the program's other calls, then numbers and
    texts that are a little larger or smaller.
    """
    found = {call.key: call for call in form[:MOST_CALLS]}
    values: defaultdict[str, dict[str, None]] = defaultdict(dict)
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for call in every:
        for word in call.words:
            if word.slot and not word.is_file:
                values[word.slot][word.value] = None
        for path, text in call.files.items():
            texts[PurePosixPath(path).suffix][text] = None
    inputs = dict.fromkeys(call.stdin for call in every if call.stdin)
    rows = [list(_on_other_inputs(call, values, texts, inputs)) for call in form]
    # Vary one input of each call in turn, so that all calls get about the same number of variants
    for other in (one for turn in zip_longest(*rows) for one in turn if one is not None):
        if len(found) >= VARIED_TO:
            break
        found.setdefault(other.key, other)
    yield from found.values()


def _on_other_inputs(
    call: _CommandCall, values: Mapping[str, Iterable[str]], texts: Mapping[str, Iterable[str]], inputs: Iterable[str]
) -> Iterator[_CommandCall]:
    rows = []
    if call.stdin:
        rows.append([replace(call, stdin=text) for text in (*inputs, *_resized(call.stdin))])
    for number, word in enumerate(call.words):
        if word.is_file:
            text = call.files[word.value]
            others = (*texts.get(PurePosixPath(word.value).suffix, ()), *inputs, *_resized(text))
            rows.append([replace(call, files={**call.files, word.value: each}) for each in others])
        elif word.slot:
            near = (str(int(word.value) + step) for step in (1, 2)) if word.value.isdecimal() else ()
            rows.append([call.with_value(number, each) for each in (*values.get(word.slot, ()), *near)])
    yield from (one for turn in zip_longest(*rows) for one in turn if one is not None and one.key != call.key)


def _resized(text: str) -> tuple[str, ...]:
    lines = text.splitlines(keepends=True)
    return text + text, "".join(lines[: (len(lines) + 1) // 2]), "".join(lines[1:])


def _of_form(program: str, path: str, line: int, calls: Sequence[_CommandCall]) -> UsageTask:
    typed = program.split()
    reference = [shlex.join(typed)]
    name = [program]
    inputs: list[int] = []
    for number, word in enumerate(calls[0].words):
        values = {call.words[number].value for call in calls}
        before = shlex.quote(word.text) if word.text else ""
        # An operand that is the same in all calls is also an input, because a reader cannot derive it from the results.
        if word.slot and (word.is_file or not word.option or len(values) > 1):
            inputs.append(number)
            kind = "FILE" if word.is_file else "N" if all(map(_NUMBER.fullmatch, values)) else "TEXT"
            reference.append(f'{before}"${len(inputs)}"')
            name.append(f"{word.text}{kind}")
        else:
            reference.append(before + (shlex.quote(word.value) if word.slot else ""))
            name.append(f"{word.text}{word.value}")
    if calls[0].stdin:
        name.append("< INPUT")
    target = CallTarget(
        kind="command",
        name=" ".join(name),
        path=path,
        line=line,
        words=tuple(word.text.rstrip("=") for word in calls[0].words if word.text),
        reference=" ".join(reference),
    )
    hidden = []
    for call in calls:
        try:
            texts = tuple(encode(call.words[number].value) for number in inputs)
        except NotLiteral:
            continue
        hidden.append(Call(texts, "", call.files, call.stdin))
    parameters = tuple(f"${number}" for number in range(1, len(inputs) + 1))
    return UsageTask(f"{path}::{target.name}", target, program, parameters, (), tuple(hidden))


def _place_of(program: str, names: PublicNames) -> tuple[str, int]:
    """Return the file and line of the code that a program starts."""
    module, _, function = names.index.declared.scripts.get(program, "").split("[")[0].strip().partition(":")
    module = module or program.partition("python -m ")[2]
    module = f"{module}.__main__" if not function and f"{module}.__main__" in names.modules else module
    path = names.modules.get(module, "")
    tree = names.index.parsed(path) if path else None
    lines = (
        getattr(node, "lineno", 1) for node in (tree.body if tree else ()) if getattr(node, "name", "") == function
    )
    return path, next(lines, 1)
