"""A check as a session keeps it: its JSON form, and the rules that it was made by."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.checking.verdicts import BlockResult, Checked, ClaimResult, Part, Truth, Verdict, counts
from workbench.errors import WorkbenchError
from workbench.rubric.works import Works, counting

if TYPE_CHECKING:
    from workbench.checking.verdicts import Checked
    from workbench.session.reader import SessionReader
    from workbench.session.rows import CheckRow

#: Counted on with every change of what a verdict means or when one is given: results of other rules stand beside each other.
RULES = 3
_OF_COLUMNS = {
    Verdict.WORKS: "works", Verdict.FAILS: "fails", Verdict.DIFFERS: "differs", Verdict.NOT_RUN: "not_run",
    Truth.TRUE: "claims_true", Truth.UNTRUE: "claims_untrue", Truth.UNKNOWN: "claims_unknown",
}  # fmt: skip

_TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": (int, float),
    "tuple[str, ...]": tuple,
    "tuple[int, ...]": tuple,
}


class CheckDamaged(WorkbenchError):
    """What a session keeps of a check cannot be read."""


def columns(checked: Checked) -> dict[str, int]:
    """Return how many blocks and claims there are of each verdict, by the columns of the session's table."""
    blocks = counts([one.verdict for one in checked.blocks], Verdict)
    claims = counts([one.truth for one in checked.claims], Truth)
    return {
        column: (blocks if isinstance(word, Verdict) else claims)[str(word)] for word, column in _OF_COLUMNS.items()
    }


def works(checked: Checked) -> Works:
    """Return how much of what was checked holds."""
    return Works.of(columns(checked))


def to_json(checked: Checked) -> str:
    """Return a check as JSON text."""
    return json.dumps(asdict(checked), ensure_ascii=False, default=str)


def from_json(text: str) -> Checked:
    """Return the check of a JSON text; what a newer program added is left out.

    Raises:
        CheckDamaged: It is none.
    """
    try:
        values = json.loads(text)
        blocks = tuple(_block(one) for one in values.pop("blocks"))
        claims = tuple(_made(ClaimResult, {**one, "truth": Truth(one["truth"])}) for one in values.pop("claims"))
        made: Checked = _made(Checked, {**values, "blocks": blocks, "claims": claims})
        if not {one.path for one in (*blocks, *claims)} <= set(made.pages):
            raise ValueError("a page that was not checked")
        return made
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise CheckDamaged("The recorded check is damaged; check the README again.") from None


def _block(values: dict[str, Any]) -> BlockResult:
    parts = tuple(_made(Part, {**one, "verdict": Verdict(one["verdict"])}) for one in values.get("parts", ()))
    made: BlockResult = _made(BlockResult, {**values, "parts": parts, "verdict": Verdict(values["verdict"])})
    return made


def _made(kind: type[Any], values: dict[str, Any]) -> Any:
    fields = kind.__dataclass_fields__
    known = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    made = kind(**{name: value for name, value in known.items() if name in fields})
    for name, one in fields.items():
        value = getattr(made, name)
        if not isinstance(value, _TYPES.get(one.type, object)):
            raise TypeError(name)
        if one.type == "tuple[str, ...]" and not all(isinstance(text, str) for text in value):
            raise TypeError(name)
    return made


def checked_of(reader: SessionReader, trial: str) -> Checked | None:
    """Return the check of a trial's README that counts with all that it says, None where there is none.

    Raises:
        CheckDamaged: What it says cannot be read.
        SessionError: The session cannot be read at all.
    """
    row = counting(reader.checks(trial))
    return None if row is None else result_of(reader, row)


def result_of(reader: SessionReader, row: CheckRow) -> Checked | None:
    """Return all that a check said, None where it has not come to an end.

    Raises:
        CheckDamaged: It cannot be read.
        SessionError: The session cannot be read at all.
    """
    if row.result_blob is None:
        return None
    text = reader.kept(row.result_blob, f"the check of trial {row.trial_id}")
    if text is None:
        raise CheckDamaged("The recorded check is missing from the session file; check the README again.")
    return from_json(text)
