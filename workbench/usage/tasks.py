"""Usage tasks: a public callable or form of a command, with recorded calls. Readers see two of the calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.sandbox.types import Limits

Kind = Literal["function", "method", "command"]
ParameterKind = Literal["positional", "variadic", "keyword"]

STAGES = ("literal", "calls", "results", "limit", "replay", "original")
"""Reasons for dropping a callable, in the order in which they are checked."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call and its result.

    ``inputs`` are canonical expressions (see ``workbench.sandbox.workbench_runner.values``), one for each parameter of
    the answer. For a command, they are string literals, and the expected result is a dictionary with ``stdout``,
    ``exit`` and, if the command wrote files, ``files``.
    """

    inputs: tuple[str, ...]
    expected: str  # canonical expression
    files: Mapping[str, str] = field(default_factory=dict)  # relative path -> text that a command may read
    stdin: str = ""


@dataclass(frozen=True, slots=True)
class CallTarget:
    """The callable or command that the recorded calls use."""

    kind: Kind
    name: str  # shortest public import path (`pkg.slugify`, `pkg.Table.add`), or a command's form (`wc count FILE`)
    path: str  # file of its definition, relative to the repository
    line: int
    documented: bool = (
        True  # whether a README should name the target, which is public by `__all__`, the docs or an entry point
    )
    # Options and subcommands in a command's form, as they are typed
    words: tuple[str, ...] = ()
    reference: str = ""  # the answer that makes the recorded calls: Python with `answer`, or a shell command


@dataclass(frozen=True, slots=True)
class UsageTask:
    """A usage task: its statement contains the ``shown`` calls, and answers are tested on the ``hidden`` calls."""

    id: str  # readable: `path::name`
    target: CallTarget
    package: str  # the import name of the package, or the program of a command
    parameters: tuple[str, ...]  # neutral names: a, b, c
    shown: tuple[Call, ...]
    hidden: tuple[Call, ...]
    seconds: float = 0.0  # total duration of the hidden calls in the replay

    def limits(self, base: Limits) -> Limits:
        """Return an answer's limits: ten times the duration of the recorded calls plus 5 seconds, at most those of ``base``."""
        return replace(base, seconds=min(base.seconds, 10 * self.seconds + 5.0))
