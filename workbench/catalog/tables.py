"""Read a TOML file key by key, with a clear message for every mistake.

Every message names the file, the key and the expected value, because the user has the file open in an editor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from workbench.catalog.problems import BadCase
from workbench.files import Unreadable, read_text
from workbench.text import one_line

_LARGEST = 1_000_000


def load_toml(file: Path) -> dict[str, object]:
    """Return the top-level table of a TOML file.

    Raises:
        BadCase: It is missing, unreadable, far too large, or not TOML.
    """
    import tomllib

    try:
        return tomllib.loads(read_text(file, most=_LARGEST))
    except Unreadable as problem:
        raise BadCase(str(problem)) from None
    except (ValueError, RecursionError) as error:
        raise BadCase(f"{file} is not valid TOML: {one_line(str(error), 120)}.") from None


class Table:
    """A TOML table whose keys are checked on construction and whose values are checked when read."""

    def __init__(self, values: Mapping[str, object], file: Path, known: Iterable[str], where: str = "") -> None:
        self._values = values
        self._where = where
        self.file = file
        known = tuple(known)
        for key in values:
            if key not in known:
                import difflib

                similar = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean '{similar[0]}'?" if similar else f"known keys are {', '.join(sorted(known))}."
                raise BadCase(f"{file}: the key '{self._shown(key)}' is not known; {hint}")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def wrong(self, key: str, expected: str) -> BadCase:
        """Return an error saying what the value of ``key`` must be."""
        return BadCase(f"{self.file}: '{self._shown(key)}' must be {expected}.")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string; without a default it must be present and not blank."""
        value = self._values.get(key, default)
        if value is None:
            raise BadCase(f"{self.file}: the key '{self._shown(key)}' is missing; it must be a text.")
        if not isinstance(value, str):
            raise self.wrong(key, f"a text in quotes, not {_kind(value)}")
        if default is None and not value.strip():
            raise self.wrong(key, "a text that is not empty")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of non-blank strings, empty by default."""
        value = self._values.get(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, f'a list of texts, such as ["…"], not {_kind(value)}')
        for number, item in enumerate(value, 1):
            if not isinstance(item, str) or not item.strip():
                what = _kind(item) if not isinstance(item, str) else "an empty text"
                raise self.wrong(key, f"a list of texts, but item {number} is {what}")
        return tuple(value)

    def flag(self, key: str) -> bool:
        """Return true or false, false by default."""
        value = self._values.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(key, f"true or false, not {_kind(value)}")
        return value

    def table(self, key: str) -> dict[str, object] | None:
        """Return a nested table, or None if it is missing."""
        value = self._values.get(key)
        if value is None or isinstance(value, dict):
            return value
        raise self.wrong(key, f"a table, written [{self._shown(key)}], not {_kind(value)}")

    def _shown(self, key: str) -> str:
        return one_line(f"{self._where}.{key}" if self._where else key, 60)


def _kind(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or time")
