"""Kinds of arguments that several commands take: numbers within bounds, paths; what does not fit is told by argparse."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench import numbers
from workbench.errors import UsageError
from workbench.files import expanded, shown


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


_SHARED: dict[str, dict[str, Any]] = {
    "session": {"help": "a session file, or the name of one"},
    "--session": {"help": "a session file or name; a new one is made if there is none"},
    "--run": {"help": "only this run"},
    "--model": {"default": "", "help": "a LiteLLM name, local, or replay:SESSION"},
    "--model-path": {"type": folder, "metavar": "DIR", "help": "the weights of codebertscore"},
    "--rubric": {"type": names, "default": (), "metavar": "R[,R2]", "help": "aeo-bench, strict; both unless given"},
    "--judge-repeats": {
        "type": whole(1, numbers.MOST_REPEATS), "default": 1, "metavar": "N", "help": "times that a model judges each tier"
    },
    "--engine": {"default": "", "help": "test elsewhere from now on: dask://HOST:PORT, or local"},
    "--limit": {"type": whole(), "default": 0, "metavar": "N", "help": "only the first N tasks"},
    "--task": {
        "action": "append", "default": [], "metavar": "ID",
        "help": "only this task: id, beginning, glob, or function name",
    },
    "--spend-limit": {"type": dollars, "default": 0.0, "metavar": "USD", "help": "stop asking beyond this"},
    "--queue": {
        "action": "store_true", "help": "begin when the session's runs that are under way or wait already are over"
    },
    "--dry-run": {
        "action": "store_true", "help": "say what it would take, by this machine's earlier runs, and start nothing"
    },
    "--yes": {
        "action": "store_true", "help": "start it even if it will take more than ask_above_dollars or ask_above_minutes"
    },
    "--detach": {"action": "store_true", "help": "start and leave; watch it in the app"},
    "--read-only": {
        "action": "store_true", "help": "look only: nothing is started, fetched, written or opened in $EDITOR"
    },
    "--json": {"action": "store_true", "help": "print JSON lines; the last is the summary"},
}  # fmt: skip


def shared(parser: argparse.ArgumentParser, *wanted: str) -> None:
    """Add arguments that several commands take, in this order."""
    for name in wanted:
        parser.add_argument(name, **_SHARED[name])


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


class Verbs:
    """The verbs of one command, of which ``default`` is meant where none is named."""

    def __init__(self, parser: argparse.ArgumentParser, default: str) -> None:
        self._default = default
        self._verbs = parser.add_subparsers(
            dest="verb", metavar="VERB", required=True, parser_class=type(parser), title="verbs"
        )

    def add(self, name: str, summary: str, execute: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        usual = " (if no verb is named)" if name == self._default else ""
        verb: argparse.ArgumentParser = self._verbs.add_parser(name, help=summary + usual, description=summary)
        verb.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")
        verb.set_defaults(execute=execute, parser=verb)
        return verb


def with_verb(given: Sequence[str], command: str, module: Any) -> list[str]:
    """Return the arguments with the verb that is meant: a module says which ones it has in ``VERBS``, the default first."""
    verbs: tuple[str, ...] = getattr(module, "VERBS", ())
    place = list(given).index(command) + 1
    named = given[place : place + 1]
    # Where the default verb takes no words, a word that is no verb is a mistake, and the parser says which there are.
    words = getattr(module, "DEFAULT_TAKES_WORDS", True)
    if not verbs or (named and (named[0] in (*verbs, "-h", "--help") or not (words or named[0].startswith("-")))):
        return list(given)
    return [*given[:place], verbs[0], *given[place:]]
