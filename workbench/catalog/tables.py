"""Reading a TOML file key by key, with a sentence for whatever does not fit.

Every message names the file, the key and what is expected, because the reader has the file open in an editor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from workbench.catalog.problems import BadCase
from workbench.text import one_line

_LARGEST = 1_000_000


def load_toml(file: Path) -> dict[str, object]:
    """Return the top table of a TOML file.

    Raises:
        BadCase: It is missing, unreadable, far too large, or not TOML.
    """
    import tomllib

    try:
        with file.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except FileNotFoundError:
        raise BadCase(f"{file} does not exist.") from None
    except OSError as error:
        raise BadCase(f"{file} cannot be read: {(error.strerror or str(error)).lower()}.") from None
    if len(data) > _LARGEST:
        raise BadCase(f"{file} is larger than {_LARGEST:,} bytes and is not taken as a test case.")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadCase(f"{file} is not valid: it must be UTF-8 text.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadCase(f"{file} is not valid TOML: {one_line(str(error), 120)}.") from None


class Table:
    """A TOML table being read; `done` names the keys that nobody asked for."""

    def __init__(self, values: Mapping[str, object], file: Path, known: Iterable[str], where: str = "") -> None:
        self._values = values
        self._where = where
        self.file = file
        known = tuple(known)
        for key in values:
            if key not in known:
                import difflib

                near = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean '{near[0]}'?" if near else f"known keys are {', '.join(sorted(known))}."
                raise BadCase(f"{file}: the key '{self._shown(key)}' is not known; {hint}")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def wrong(self, key: str, expected: str) -> BadCase:
        """Return the error that ``key`` is not what is expected."""
        return BadCase(f"{self.file}: '{self._shown(key)}' must be {expected}.")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string; without a default it must be there and not be blank."""
        value = self._values.get(key, default)
        if value is None:
            raise BadCase(f"{self.file}: the key '{self._shown(key)}' is missing; it must be a text.")
        if not isinstance(value, str):
            raise self.wrong(key, f"a text in quotes, not {_kind(value)}")
        if default is None and not value.strip():
            raise self.wrong(key, "a text that is not empty")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings that are not blank, empty unless given."""
        value = self._values.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, f'a list of texts, such as ["…"], not {_kind(value)}')
        for number, item in enumerate(value, 1):
            if not isinstance(item, str) or not item.strip():
                what = _kind(item) if not isinstance(item, str) else "an empty text"
                raise self.wrong(key, f"a list of texts, but item {number} is {what}")
        return tuple(value)

    def table(self, key: str) -> dict[str, object] | None:
        """Return a table inside this one, None if it is not there."""
        value = self._values.get(key)
        if value is None or isinstance(value, dict):
            return value
        raise self.wrong(key, f"a table, written [{self._shown(key)}], not {_kind(value)}")

    def _shown(self, key: str) -> str:
        return one_line(f"{self._where}.{key}" if self._where else key, 60)


def _kind(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or time")
