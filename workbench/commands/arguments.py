"""Kinds of arguments that several commands take: numbers within bounds, paths; what does not fit is told by argparse."""

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
    """Return a type for whole numbers; a default that stands for "not given" is left as it is."""

    def read(text: str) -> int:
        try:
            return numbers.whole(text, least, most)
        except ValueError as expected:
            raise argparse.ArgumentTypeError(f"it takes {expected}") from None

    return read


def names(text: str) -> tuple[str, ...]:
    """Return the names in ``one,two``, each once."""
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if not all(found):
        raise argparse.ArgumentTypeError("it takes names, separated by commas")
    return found


def dollars(text: str) -> float:
    try:
        return numbers.amount(text)
    except ValueError as expected:
        raise argparse.ArgumentTypeError(f"it takes {expected}") from None


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
"""What a help says of an argument; in a tuple, with the type and the default of its value, or with more of what argparse takes."""
Verb = tuple[str, Mapping[str, Argument], Callable[[argparse.Namespace], int]]
"""What a verb does, its arguments, and the function that does it."""

_SHARED: dict[str, Argument] = {
    "session": "a session file, or the name of one",
    "--session SESSION": "a session file or name; a new one is made if there is none",
    "--run RUN": "only this run",
    "--model-path DIR": ("the weights of codebertscore", folder),
    "--engine ENGINE": "test elsewhere from now on: dask://HOST:PORT, or local",
    "--queue": "begin when the session's runs that are under way or wait already are over",
    "--dry-run": "say what it would take, by this machine's earlier runs, and start nothing",
    "--yes": "start it even if it will take more than ask_above_dollars or ask_above_minutes",
    "--detach": "start and leave; watch it in the app",
    "--read-only": "look only: nothing is started, fetched, written or opened in $EDITOR",
    "--json": "print JSON lines; the last is the summary",
}


def shared(*wanted: str) -> dict[str, Argument]:
    usages = {usage.partition(" ")[0]: usage for usage in _SHARED}
    return {usages[name]: _SHARED[usages[name]] for name in wanted}


def declare(parser: argparse.ArgumentParser, arguments: Mapping[str, Argument]) -> None:
    """Add arguments that are written as a usage line shows them: ``--check``, ``--task ID…``, ``[item]``.

    What stands for a value says its type: ``N`` and ``M`` a whole number from 1, ``USD`` dollars, ``R[,R2]`` names, all else a
    text. What is not given is 0, () or "".
    """
    for usage, argument in arguments.items():
        said, *how = (argument,) if isinstance(argument, str) else argument
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
        parser.add_argument(*(flags or words[:1]), help=said, **more)


def asked(kind: type[Any], *names: str, **helps: str) -> dict[str, Argument]:
    """Return the arguments of a kind of plan, or those of these fields, as commands declare them; ``helps`` say some otherwise."""
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
    """Return the plan that a command line asks for; ``other`` are fields that it says otherwise, or not at all."""
    given = {name: getattr(arguments, name) for name in arguments_of(kind) if hasattr(arguments, name)}
    return kind(**{name: tuple(one) if isinstance(one, list) else one for name, one in given.items()} | other)


_TYPED: dict[str | None, tuple[Callable[[str], Any], Any]] = {
    "N": (whole(), 0), "M": (whole(), 0), "USD": (dollars, 0.0)
}  # fmt: skip


def add_verbs(parser: argparse.ArgumentParser, verbs: Mapping[str, Verb]) -> None:
    """Add the verbs of a command; the first is meant where none is named."""
    added = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=type(parser), title="verbs")
    for name, (summary, arguments, execute) in verbs.items():
        usual = " (if no verb is named)" if name == next(iter(verbs)) else ""
        verb = added.add_parser(name, help=summary + usual, description=summary)
        verb.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
        declare(verb, arguments)
        verb.set_defaults(execute=execute, parser=verb)


def check_texts(given: list[str]) -> str:
    """Return why a list of arguments cannot be meant: an empty one comes of a shell variable that is not set."""
    for before, text in zip(["", *given], given, strict=False):
        option, equals, value = text.partition("=")
        named = option if equals and text.startswith("--") else before if before.startswith("-") else ""
        after = f" for {named}" if named else ""
        if not text.strip() or (equals and text.startswith("--") and not value.strip()):
            return f"an argument{after} is empty (is a shell variable not set?); give it a value or leave it out"
        if any(ord(character) < 32 or ord(character) == 127 for character in text):
            return f"the argument {ascii(text)[:60]}{after} holds control characters"
    return ""


def with_verb(given: Sequence[str], command: str, module: Any) -> list[str]:
    """Return the arguments with the verb that is meant: a module says which ones it has in ``VERBS``, the default first."""
    verbs = tuple(getattr(module, "VERBS", ()))
    place = list(given).index(command) + 1
    named = given[place : place + 1]
    # Where the default verb takes no words, a word that is no verb is a mistake, and the parser says which there are.
    words = getattr(module, "DEFAULT_TAKES_WORDS", True)
    if not verbs or (named and (named[0] in (*verbs, "-h", "--help") or not (words or named[0].startswith("-")))):
        return list(given)
    return [*given[:place], verbs[0], *given[place:]]
