"""Everything in a Python file that can have a docstring: the module, its classes and its functions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, NamedTuple

from workbench.repository.functions import Block, Reading, Span

DefinitionKind = Literal["module", "class", "function"]


class DefinitionKey(NamedTuple):
    """A definition of a file: kind, qualified name, and which of that name, from 1; ``("module", "", 1)``."""

    kind: DefinitionKind
    qualified_name: str
    occurrence: int

    @property
    def text(self) -> str:
        """The name for people: ``Class.method``, ``name#2``, ``the module``."""
        name = self.qualified_name or "the module"
        return f"{name}#{self.occurrence}" if self.occurrence > 1 else name


@dataclass(frozen=True, slots=True)
class Definition:
    """A module, class or function; spans are bytes of the file, as those of ``functions.Function``."""

    path: str
    key: DefinitionKey
    span: Span
    header: Span
    docstring_span: Span | None
    body: Span
    docstring: str | None
    needs_something: bool  # without a docstring the body is empty, or the next string becomes one

    @property
    def id(self) -> str:
        return f"{self.path}::{self.key.text}"


def find_definitions(source: bytes, path: str) -> tuple[Definition, ...]:
    """Return the module and its classes and functions in source order; never raises on invalid syntax."""
    reading = Reading(source)
    occurrences: Counter[tuple[str, str]] = Counter()
    found = [_definition(path, DefinitionKey("module", "", 1), reading.module())]
    for kind, name, block in reading.blocks():
        occurrences[kind, name] += 1
        found.append(_definition(path, DefinitionKey(kind, name, occurrences[kind, name]), block))
    return tuple(found)


def _definition(path: str, key: DefinitionKey, block: Block) -> Definition:
    return Definition(
        path, key, block.span, block.header, block.docstring_span, block.body, block.docstring, block.needs_something
    )
