"""Stub bodies, used by the stub filter and by the control ``stub``."""

from __future__ import annotations

import re

from workbench.repository.functions import Function

STUB_VERSION = "stub-1"

_DEFAULTS = {
    "None": "None", "int": "0", "float": "0.0", "complex": "0j", "str": '""', "bytes": 'b""', "bool": "False",
    "bytearray": "bytearray()", "list": "[]", "dict": "{}", "set": "set()", "frozenset": "frozenset()", "tuple": "()",
    "object": "None", "Any": "None", "List": "[]", "Dict": "{}", "Set": "set()", "FrozenSet": "frozenset()", "Tuple": "()",
    "Text": '""', "AnyStr": '""', "Sequence": "()", "Iterable": "()", "Collection": "()", "MutableSequence": "[]",
    "Mapping": "{}", "MutableMapping": "{}", "DefaultDict": "{}", "defaultdict": "{}", "OrderedDict": "{}",
    "Iterator": "iter(())", "Generator": "iter(())", "Counter": "{}",
}  # fmt: skip


def minimal_stub(function: Function) -> str:
    """Return the smallest body: ``pass`` or, for a generator, a body that yields nothing."""
    return "return\nyield" if function.is_generator else "pass"


def typed_stub(function: Function) -> str:
    """Return a body that returns the empty value of the return annotation; ``minimal_stub`` if there is none.

    ``Optional[T]`` and unions with ``None`` give ``None``; other unions give the empty value of their first member.
    """
    if function.is_generator:
        return minimal_stub(function)
    value = default_value(function.returns)
    return f"return {value}" if value is not None else minimal_stub(function)


def stubs(function: Function) -> tuple[str, ...]:
    """Return the distinct stubs of the function, ``minimal_stub`` first; a task's tests must fail with each of them."""
    return tuple(dict.fromkeys((minimal_stub(function), typed_stub(function))))


def default_value(annotation: str | None) -> str | None:
    if annotation is None:
        return None
    text = annotation.strip().strip("\"'").strip()
    members = _split(text, "|")
    wrapper = re.match(
        r"(?:typing\.)?(Union|Optional|Annotated|Final|ClassVar|Awaitable|Coroutine)\[(.*)\]\Z", text, re.S
    )
    if wrapper:
        inside = _split(wrapper[2], ",")
        if wrapper[1] == "Optional":
            return "None"
        if wrapper[1] == "Coroutine":
            return default_value(inside[-1])
        members = inside if wrapper[1] == "Union" else inside[:1]
    if len(members) > 1 or wrapper:
        if any(member in ("None", "NoneType") for member in members):
            return "None"
        return next((value for member in members if (value := default_value(member)) is not None), None)
    literal = re.match(r"(?:typing\.)?Literal\[(.*)\]\Z", text, re.S)
    if literal:
        return _split(literal[1], ",")[0]
    name = re.match(r"[\w.]+", text)
    return _DEFAULTS.get(name[0].rpartition(".")[2]) if name else None


def _split(text: str, separator: str) -> list[str]:
    parts, depth, quoted, start = [], 0, "", 0
    for position, character in enumerate(text):
        if quoted:
            quoted = "" if character == quoted else quoted
        elif character in "\"'":
            quoted = character
        elif character in "[({":
            depth += 1
        elif character in "])}":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]
