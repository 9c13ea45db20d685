"""Convert JSON to dataclasses. msgspec is only imported on first use, because most commands do not need it."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

Value = TypeVar("Value")


class WrongForm(ValueError):
    """Invalid JSON, or JSON with the wrong structure; ``place`` is the wrong field, or "" for the whole value."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place


def decode(kind: type[Value], text: str | bytes) -> Value:
    """Decode JSON text as a type; unknown fields are ignored. Raises WrongForm."""
    try:
        values = json.loads(text)  # not msgspec, because texts may contain lone surrogates
    except RecursionError:
        raise WrongForm("its JSON is nested too deeply") from None
    except ValueError:
        raise WrongForm("it is not JSON") from None
    return convert(kind, values)


def convert(kind: type[Value], values: Any) -> Value:
    """Convert JSON values to a type, see :func:`decode`."""
    import msgspec

    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        what, _, path = str(error).replace("`", "").partition(" - at $.")
        missing = re.search(r"missing required field (\w+)", what)
        message = f"{what[0].lower()}{what[1:]}{path and f' at {path}'}"
        raise WrongForm(
            f"its JSON has the wrong structure: {message}", ".".join(filter(None, (path, missing and missing[1])))
        ) from None


def encode(value: Any) -> Any:
    """Return the JSON values of a dataclass; bytes become base64, which :func:`convert` can read."""
    import msgspec

    return msgspec.to_builtins(value)
