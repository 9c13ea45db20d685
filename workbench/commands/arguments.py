"""The arguments of commands: their types, the arguments that commands share, and how a module declares its own."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from workbench.base import numbers
from workbench.base.errors import UsageError
from workbench.base.files import expanded, shown
from workbench.plans.arguments import arguments_of


def whole(least: int = 1, most: int = numbers.MOST_ITEMS) -> Callable[[str], int]:
    """Return an argparse type for whole numbers from ``least`` to ``most``."""

    def read(text: str) -> int:
        try:
            return numbers.whole(text, least, most)
        except ValueError as expected:
            raise argparse.ArgumentTypeError(f"expected {expected}") from None

    return read


def names(text: str) -> tuple[str, ...]:
    """Return the names in a text such as ``one,two``, without duplicates."""
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if not all(found):
        raise argparse.ArgumentTypeError("expected names separated by commas")
    return found


def dollars(text: str) -> float:
    try:
        return numbers.amount(text)
    except ValueError as expected:
        raise argparse.ArgumentTypeError(f"expected {expected}") from None


def path(text: str) -> Path:
    try:
        return expanded(text)
    except UsageError as problem:
        raise argparse.ArgumentTypeError(str(problem).rstrip(".")) from None


def folder(text: str) -> Path:
    found = path(text)
    if not found.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {shown(found)}")
    return found


PlanT = TypeVar("PlanT")
Argument = str | tuple[Any, ...]
"""The help of an argument, or a tuple that starts with it.

In a tuple, it is followed by the type and default of the argument, or by a dict of further argparse keyword arguments.
"""
Execute = Callable[[argparse.Namespace], int]
Verb = tuple[str, Mapping[str, Argument], Execute]
"""The summary, the arguments, and the function that executes the verb and returns the exit code."""
Command = tuple[Mapping[str, Argument], Execute] | dict[str, Verb]
"""A command without verbs, or a dict of its verbs by name, with the default one first."""

_SHARED: dict[str, Argument] = {
    "session": "a session file or name",
    "--session SESSION": "a session file or name (default: a new one named after the time)",
    "--run RUN": "only this run",
    "--model-path DIR": ("folder with the weights of codebertscore", folder),
    "--engine ENGINE": "continue testing on this engine: dask://HOST:PORT, or local",
    "--queue": "wait for the running and queued runs of the session first",
    "--dry-run": "print an estimate from earlier runs of this machine and start nothing",
    "--yes": "start even if the estimate exceeds ask_above_dollars or ask_above_minutes",
    "--detach": "start in the background and exit; watch it in the app",
    "--read-only": "read-only mode: nothing is started, fetched, written or opened in $EDITOR",
    "--json": "print JSON lines; the last is the summary",
}


def shared(*wanted: str) -> dict[str, Argument]:
    usages = {usage.partition(" ")[0]: usage for usage in _SHARED}
    return {usages[name]: _SHARED[usages[name]] for name in wanted}


def declare(parser: argparse.ArgumentParser, arguments: Mapping[str, Argument]) -> None:
    """Add arguments, which are declared in the style of a usage line: ``--check``, ``--task ID…``, ``[item]``.

    The metavar determines the type: ``N`` and ``M`` are whole numbers from 1 up, ``USD`` is an amount in dollars,
    ``R[,R2]`` is a list of names, and anything else is text. The defaults are 0, () and "".
    """
    for usage, argument in arguments.items():
        help_text, *how = (argument,) if isinstance(argument, str) else argument
        optional = usage.startswith("[")
        words = usage.strip("[").removesuffix("]" if optional else "").split()
        flags = [word for word in words if word.startswith("-")]
        value = words[-1] if len(words) > len(flags or words[:1]) else None
        many = bool(value and value.endswith("…"))
        more: dict[str, Any] = {} if value is None else {"metavar": value.removesuffix("…")}
        if flags and value is None:
            more["action"] = "store_true"
        elif flags and many:
            more |= {"action": "append", "default": []}
        elif many:
            more["nargs"] = "*" if optional else "+"
        else:
            more |= {"nargs": "?"} if optional else {}
            typed = (names, ()) if value and "[," in value else _TYPED.get(value if flags else None, (None, ""))
            more |= dict(zip(("type", "default"), typed, strict=True))
        if how and isinstance(how[0], dict):
            more |= how[0] if "choices" not in how[0] else {"metavar": None, **how[0]}
        elif how:
            more |= {"type": how[0], "default": how[1] if how[1:] else 0 if value in _TYPED else None}
        parser.add_argument(*(flags or words[:1]), help=help_text, **more)


def plan_arguments(kind: type[Any], *names: str, **helps: str) -> dict[str, Argument]:
    """Return the arguments of a plan, or only those of the named fields, in the form that :func:`declare` accepts.

    ``helps`` replaces the help of individual arguments.
    """
    found: dict[str, Argument] = {}
    plain = {one.name: one.default for one in fields(kind)}
    for name, one in arguments_of(kind).items():
        if not one.usage or (names and name not in names):
            continue
        how: dict[str, Any] = {}
        if one.usage.startswith("-"):
            how |= {"dest": name} | ({} if one.usage.endswith("…") else {"default": plain[name]})
        if one.number is not None:
            how["type"] = whole(max(1, one.number[1]), one.number[2])
        found[one.usage] = (helps.get(name, one.help), how | dict(one.how))
    return found


def plan_of(kind: type[PlanT], arguments: argparse.Namespace, **other: Any) -> PlanT:
    """Return the plan that a command line describes.

    ``other`` contains values that override the arguments or set further fields.
    """
    values = {name: getattr(arguments, name) for name in arguments_of(kind) if hasattr(arguments, name)}
    return kind(**{name: tuple(one) if isinstance(one, list) else one for name, one in values.items()} | other)


_TYPED: dict[str | None, tuple[Callable[[str], Any], Any]] = {
    "N": (whole(), 0), "M": (whole(), 0), "USD": (dollars, 0.0)
}  # fmt: skip


def add_verbs(parser: argparse.ArgumentParser, verbs: Mapping[str, Verb]) -> None:
    """Add the verbs of a command, with the default one first."""
    added = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=type(parser), title="verbs")
    for name, (summary, arguments, execute) in verbs.items():
        usual = " (default)" if name == next(iter(verbs)) else ""
        verb = added.add_parser(name, help=summary + usual, description=summary)
        verb.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
        declare(verb, arguments)
        verb.set_defaults(execute=execute, parser=verb)


def check_texts(argv: list[str]) -> str:
    """Return why the arguments must be a mistake, or "" if they are plausible.

    An empty argument, for example, usually comes from an unset shell variable.
    """
    for before, text in zip(["", *argv], argv, strict=False):
        option, equals, value = text.partition("=")
        named = option if equals and text.startswith("--") else before if before.startswith("-") else ""
        after = f" for {named}" if named else ""
        if not text.strip() or (equals and text.startswith("--") and not value.strip()):
            return f"an argument{after} is empty (an unset shell variable?); give it a value or leave it out"
        if any(ord(character) < 32 or ord(character) == 127 for character in text):
            return f"the argument {ascii(text)[:60]}{after} contains control characters"
    return ""


def with_verb(argv: Sequence[str], name: str, command: Command) -> list[str]:
    """Return the arguments, inserting the default verb if they do not name one."""
    place = list(argv).index(name) + 1
    named = argv[place : place + 1]
    if not isinstance(command, dict) or (named and named[0] in (*command, "-h", "--help")):
        return list(argv)
    default, (_, arguments, _) = next(iter(command.items()))
    # If the default verb takes no positional argument, a word must be a misspelt verb; the parser reports it with the
    # choices.
    takes_words = any(not usage.startswith("-") for usage in arguments)
    misspelt = named and not (takes_words or named[0].startswith("-"))
    return list(argv) if misspelt else [*argv[:place], default, *argv[place:]]
