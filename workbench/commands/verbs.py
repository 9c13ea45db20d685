"""Commands of several verbs: ``tasks build``, ``tasks show``; a parser for each, and one that is meant where none is named."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any


class Verbs:
    """The verbs of one command.

    Args:
        parser: The command's parser.
        default: The verb that is meant where none is named.
    """

    def __init__(self, parser: argparse.ArgumentParser, default: str) -> None:
        self._default = default
        self._verbs = parser.add_subparsers(
            dest="verb", metavar="VERB", required=True, parser_class=type(parser), title="verbs"
        )

    def add(self, name: str, summary: str, execute: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        """Return a new parser for a verb, to which its arguments are added."""
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
