"""Answers for commands: the commands and options that a page shows, with a task's inputs as their values."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from workbench.base import python_syntax
from workbench.base.text import one_line
from workbench.usage.pages import PageCommand, UsagePage, commands_of_program, options_of_program, spellings
from workbench.usage.probing import AnswerAttempt, text_of
from workbench.usage.tasks import UsageTask

_MOST_VALUES = 6


def command_attempts(page: UsagePage, task: UsageTask) -> Iterator[AnswerAttempt]:
    """Yield the program's commands on the page with the inputs in place of their values, then the program's options."""
    own = commands_of_program(page, task.package, task.target.path)
    ways = [_of_command(one, task) for one in sorted(own, key=lambda one: not one.block)]
    yield from (one for turn in itertools.zip_longest(*ways) for one in turn if one is not None)
    yield from _of_options(own, page, task)


def _of_command(command: PageCommand, task: UsageTask) -> Iterator[AnswerAttempt]:
    why = f"Line {command.line} of the page shows `{one_line(command.text, 80)}`."
    for words in _with_inputs(command, task):
        yield AnswerAttempt(f"{task.package} {words}".rstrip(), command.line, why)


def _with_inputs(command: PageCommand, task: UsageTask) -> Iterator[str]:
    count = len(task.parameters)
    holes = [f'"${number}"' for number in range(1, count + 1)]
    words = [part for word in command.words for part in _parts(word)]
    slots = [n for n, word in enumerate(words) if not word.startswith("-")][:_MOST_VALUES]
    if len(slots) < count:
        rest = iter(holes)
        yield _joined([next(rest) if n in slots else shlex.quote(word) for n, word in enumerate(words)], rest)
        return
    inputs = [text_of(one) for one in task.shown[0].inputs] if task.shown else []
    files = {name for call in task.shown for name in call.files}
    ways = sorted(
        itertools.permutations(slots, count),
        key=lambda way: (
            sum(_shape(words[at], files) != _shape(value, files) for at, value in zip(way, inputs, strict=False)),
            sum(one > other for one, other in itertools.combinations(way, 2)),
            tuple(-at for at in way),
        ),
    )
    written = _written(task)
    for way in ways[:3]:
        outputs = [n for n in slots if n not in way and _shape(words[n], files) == "file"] if written else []
        if outputs:
            placed = {at: holes[number] for number, at in enumerate(way)} | {outputs[-1]: shlex.quote(written)}
            yield _joined([placed.get(n, shlex.quote(word)) for n, word in enumerate(words)], ())
        for dropped in (True, False):
            spare = [n for n in slots if n not in way and (dropped and _shape(words[n], files) == "file")]
            if dropped and not spare:
                continue
            placed = {at: holes[number] for number, at in enumerate(way)}
            yield _joined([placed.get(n, shlex.quote(word)) for n, word in enumerate(words) if n not in spare], ())


def _written(task: UsageTask) -> str:
    """Return the name of the file that the program writes in every shown case, or ""."""
    results: Iterator[Any] = (python_syntax.literal(call.expected) for call in task.shown)
    names = [{name for name, text in result.get("files", {}).items() if text is not None} for result in results]
    return min(set.intersection(*names), default="") if names else ""


def _parts(word: str) -> list[str]:
    name, equals, value = word.partition("=")
    return [name, value] if equals and name.startswith("-") else [word]


def _joined(words: Iterable[str], rest: Iterable[str]) -> str:
    return " ".join([*words, *rest])


def _shape(word: str, files: set[str]) -> str:
    if re.fullmatch(r"[-+]?\d+(?:\.\d+)?", word):
        return "number"
    return (
        "file"
        if word in files or re.fullmatch(r"[\w./-]*\.[A-Za-z]\w{0,5}|<?\[?FILES?\]?>?(?:\.{3})?", word)
        else "word"
    )


def _of_options(own: Sequence[PageCommand], page: UsagePage, task: UsageTask) -> Iterator[AnswerAttempt]:
    """Yield the program with no option, then with one and with two of the options that the page names."""
    named = options_of_program(page, task)
    if not any(call.stdin for call in task.shown):
        named.pop("-", None)
    same = spellings(named)
    useful = [one for one in named.items() if same[one[0]] not in {"-h", "--help", "--version"}]
    options = [
        (name, any(named[one][0] for one in named if same[one] == name), line)
        for name, (_, line) in sorted(useful, key=lambda one: one[0] == "-")
        if same[name] == name
    ]
    aliases = [(name, takes, line) for name, (takes, line) in useful if same[name] != name]
    subcommands = dict.fromkeys(
        one.words[0] for one in own if one.words and re.fullmatch(r"[a-z][a-z-]*", one.words[0])
    )
    holes = [f'"${number}"' for number in range(1, len(task.parameters) + 1)]
    # The statement already names the program, so a page without its commands gets no credit for a call without options.
    none: list[tuple[tuple[str, bool, int], ...]] = [()] if own else []
    ways = [*none, *((one,) for one in [*options, *aliases]), *itertools.combinations(options, 2)]
    if not any(_operands(one, named) for one in own):  # Then calls with operands are less likely.
        ways.sort(key=lambda way: len(way) and sum(takes for _, takes, _ in way) < len(holes))
    for several in ways:
        taken = sum(takes for _, takes, _ in several)
        if taken > len(holes):
            continue
        for start in ("", *subcommands):
            for order in _orders(holes, taken):
                rest = list(order)
                words = [start] if start else []
                for name, takes, _ in several:
                    words += [name, rest.pop(0)] if takes else [name]
                line = several[-1][2] if several else own[0].line
                words_named = " and ".join(f"`{name}`" for name, _, _ in several) or "the program"
                text = " ".join([task.package, *words, *rest])
                yield AnswerAttempt(text, line, f"Line {line} of the page names {words_named}.")


def _operands(command: PageCommand, options: Mapping[str, tuple[bool, int]]) -> list[str]:
    """Return the words of a command that are neither options nor their values."""
    before = ["", *command.words]
    return [
        word
        for last, word in zip(before, command.words, strict=False)
        if not word.startswith("-") and not options.get(last, (False, 0))[0]
    ]


def _orders(holes: Sequence[str], taken: int) -> list[tuple[str, ...]]:
    """Return orderings of the inputs; in each, a different input is the option's value."""
    if not taken or len(holes) < 2:
        return [tuple(holes)]
    ways = itertools.permutations(holes, min(taken, 2))
    return [(*way, *(one for one in holes if one not in way)) for way in ways][:4]
