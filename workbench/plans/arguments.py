"""The arguments of plans, each declared once.

A declaration defines a command-line option, a dialog field, a key in a study.toml, and a part of identities.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any, Self, TypeVar

from workbench.base import numbers, typed_json
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extensions import plugin_named
from workbench.documenters.types import SCOPES

PlanT = TypeVar("PlanT")


class Effect(Enum):
    """The effect of a different argument value on an order that is placed in the same session."""

    RUN = "another run beside the first"
    TASK = "tasks that differ become new ones in the same run"
    CANDIDATE = "further candidates in the same run"
    TRIAL = "another trial"
    NOTHING = "existing results are shown"


@dataclass(frozen=True, slots=True)
class DialogField:
    """The dialog field of an argument in the app; ``role`` marks a model, which must be available."""

    name: str
    help: str = ""
    completes: Callable[[], Iterable[str]] = tuple
    paths: bool = False
    most: int = 0
    placeholder: str = ""
    needed: str = ""
    check: Callable[[str], object] | None = None
    role: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """The metadata of a plan's field. Commands accept it only if it has ``usage``, studies only if it has ``study``."""

    usage: str = ""  # As shown in a usage line: `--docs DOCS`
    help: str = ""
    how: Mapping[str, Any] = field(default_factory=dict)  # Further keyword arguments for argparse
    effect: Effect = Effect.NOTHING
    study: str = ""  # Table and key in a study.toml: `settings.checks`
    line: DialogField | None = None
    number: tuple[str, int, int] | None = None  # Name in messages, minimum and maximum


def argument(default: Any, /, usage: str = "", help: str = "", **more: Any) -> Any:
    known = {item.name for item in fields(Argument)}
    declared = {name: more.pop(name) for name in known & more.keys()}
    return field(default=default, metadata={"argument": Argument(usage, help, more, **declared)})


def arguments_of(kind: type[Any] | object) -> dict[str, Argument]:
    """Return the arguments of a plan by field name, with inherited ones last."""
    own = (kind if isinstance(kind, type) else type(kind)).__annotations__
    every = {one.name: one.metadata["argument"] for one in fields(kind) if "argument" in one.metadata}  # type: ignore[arg-type]
    return {name: every[name] for name in (*(name for name in own if name in every), *every)}


def study_keys(kind: type[Any], table: str) -> list[tuple[str, str, type[Any], Any]]:
    """Return the key, field, type and default of each argument of a plan in a table of a study.toml."""
    plain = {one.name: (one.type, one.default) for one in fields(kind)}
    found = []
    for name, one in arguments_of(kind).items():
        if one.study.startswith(f"{table}."):
            declared, default = plain[name]
            of = bool if "const" in one.how else {"int": int, "bool": bool, "str": str}.get(str(declared), tuple)
            usual = False if "const" in one.how else 0 if table == "limits" else one.how.get("default", default)
            found.append((one.study.removeprefix(f"{table}."), name, of, usual))
    return found


def of_study(kind: type[Any], tables: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields that the tables of a study (``limits``, ``settings``) set to non-default values."""
    found = {}
    for table, values in tables.items():
        for key, name, _, usual in study_keys(kind, table):
            value = getattr(values, key)
            if value != usual:
                found[name] = arguments_of(kind)[name].how.get("const", value) if value is True else value
    return found


def further(plan: object, effect: Effect, named: Iterable[str]) -> str:
    """Return ``/name=value`` for each argument of a plan that has ``effect`` and a non-default value.

    Arguments in ``named`` are excluded.
    """
    plain = {one.name: one.default for one in fields(plan)}  # type: ignore[arg-type]
    values = {
        name: getattr(plan, name)
        for name, one in arguments_of(plan).items()
        if one.effect is effect and name not in named
    }
    return "".join(f"/{name}={value}" for name, value in values.items() if value != plain[name])


class PlanDamaged(WorkbenchError):
    """The plan of a run cannot be read."""


def read_plan(kind: type[PlanT], text: str) -> PlanT:
    try:
        return typed_json.decode(kind, text)
    except typed_json.WrongForm as error:
        raise PlanDamaged(
            f"The plan of a run in this session is damaged ({error.place or 'all of it'}), so it cannot continue; "
            "its results can still be shown. Start a new one."
        ) from None


class Plan:
    """Base class of plans, which are dataclasses."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)  # type: ignore[call-overload,no-any-return]

    @classmethod
    def from_json(cls, text: str) -> Self:
        return read_plan(cls, text)


# -- completions, types and checks of arguments


def models() -> tuple[str, ...]:
    from workbench.models.defaults import available_models

    return available_models()


def cases() -> tuple[str, ...]:
    from workbench.catalog import load_cases

    return tuple(case.id for case in load_cases()[0])


def check_importer(text: str) -> None:
    if plugin_named("importer", text) is None:
        raise UsageError(f"There is no importer {text!r}.")


def check_scope(text: str) -> None:
    if text not in SCOPES:
        raise UsageError(f"Scope must be {', '.join(SCOPES[:-1])} or {SCOPES[-1]}.")


def share(text: str) -> float:
    try:
        return numbers.amount(text, most=1.0, above=True)
    except ValueError:
        raise ArgumentTypeError("it must be a share above 0 and at most 1") from None


def read_ks(text: str) -> tuple[int, ...]:
    try:
        return tuple(numbers.whole(part, 1) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--k takes whole numbers of 1 or more, separated by commas, not {text!r}.") from None
