"""A form that starts an order.

The form shows the estimate, asks for confirmation if that is high, and stays open until the order has started.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from workbench.app import runs
from workbench.app.keys import with_keys
from workbench.app.toolkit.fields import Field, Help, Values
from workbench.app.toolkit.form import Confirm, Form
from workbench.app.toolkit.lifecycle import is_gone
from workbench.app.toolkit.workers import sentence_of
from workbench.base import paths
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.read_only import ReadOnly, is_read_only
from workbench.base.text import one_line
from workbench.plans.arguments import arguments_of
from workbench.session.groups import CONTROLS
from workbench.session.json_forms import picked

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp
    from workbench.base.settings import Settings
    from workbench.orders.estimate import WorkEstimate
    from workbench.orders.measured import MeasuredRates
    from workbench.orders.order import WorkOrder

PlanT = TypeVar("PlanT")


class OrderForm(Form[PlanT], Generic[PlanT]):
    """Starts an order and dismisses with its plan, or None if cancelled.

    A subclass creates the order for a plan and shows it. ``plain`` has the default values of the fields; answers
    that differ from them are stored under the name ``DIALOG``. Example:
    :class:`workbench.app.cases.run_dialog.RunDialog`.
    """

    LIVE = True
    DIALOG: ClassVar[str]

    def __init__(
        self,
        host: WorkbenchApp,
        title: str,
        fields: Sequence[Field],
        plain: Mapping[str, Any],
        first: str = "",
        *,
        note: Help = "",
    ) -> None:
        super().__init__(title, fields, first, note=note)
        self.host, self._plain = host, plain
        self._measured: dict[Path | None, MeasuredRates] = {}
        self._is_starting = False

    # -- hooks for subclasses, called in threads except for `show`

    def order(self, plan: PlanT, values: Values) -> WorkOrder:
        raise NotImplementedError

    def show(self, order: Any) -> None:
        """Show the started order."""
        raise NotImplementedError

    def estimate(self, order: Any) -> WorkEstimate:
        found: WorkEstimate = order.estimate(self.measured(order.session))
        return found

    def in_plain_process(self, plan: PlanT) -> PlanT:
        return replace(plan, sandbox="process")  # type: ignore[type-var]

    # -- shared behaviour

    def measured(self, into: Path | None = None) -> MeasuredRates:
        """Return the rates for estimates, measured in earlier work and in the target session; they are read once."""
        from workbench.orders.measured import measure

        if into not in self._measured:
            self._measured[into] = measure(self.host.opened, into)
        return self._measured[into]

    def save_values(self, values: Values) -> None:
        save_answers(self.DIALOG, {name: values[name] for name in self._plain}, self._plain)

    def finish(self, answer: PlanT) -> None:
        if not self._is_starting:
            self._is_starting = True
            # Show the order even if the form was closed in the meantime.
            self.host.run_worker(self._begin(answer, self.values))

    async def _begin(self, plan: PlanT, values: Values) -> None:
        from workbench.sandbox import NoIsolation

        host = self.host
        try:
            order = await asyncio.to_thread(self.order, plan, values)
            if not await confirm_cost(host, await asyncio.to_thread(self.estimate, order)) or is_gone(self):
                return
            self.show_summary("Starting…")
            queue = values.get("when") == "queue"
            try:
                await asyncio.to_thread(order.begin, queue=queue, warm=host.warm)
            except NoIsolation as error:
                if not error.promises or not await host.push_screen_wait(unsandboxed_question(error)):
                    raise
                order = await asyncio.to_thread(self.order, self.in_plain_process(plan), values)
                await asyncio.to_thread(order.begin, queue=queue, warm=host.warm)
        except (WorkbenchError, OSError) as error:
            if is_gone(self):
                host.notify(sentence_of(error), severity="error", timeout=12)
            else:
                self._summarized = {}  # no order is starting now, so show the summary again
                self.refuse(error)
        else:
            self.save_values(values)
            self.dismiss(plan)
            self.show(order)
        finally:
            self._is_starting = False


def plan_fields(
    kind: type[Any], answers: Mapping[str, Any], settings: Settings, **changes: Mapping[str, Any]
) -> list[Field]:
    """Return the fields that a kind of plan declares, filled with ``answers``.

    ``changes`` maps plan attributes to field attributes that override the declared ones.
    """
    found = []
    for name, one in arguments_of(kind).items():
        if (line := one.line) is not None:
            own = picked(line, "name", "help", "paths", "most", "placeholder", "needed", "check")
            if line.role:
                own["check"] = partial(_check_evaluator, line.role, settings)
            values = own | {"value": answers.get(line.name, ""), "known": tuple(line.completes())}
            found.append(Field(**values | dict(changes.get(name, {}))))
    return found


def _check_evaluator(role: str, settings: Settings, model: str) -> None:
    if model not in CONTROLS and not model.startswith("samples:"):
        check_named_model(model, role, settings)


def answers_of(plan: object) -> dict[str, str]:
    """Return the field values for a plan."""
    lines = {name: one.line.name for name, one in arguments_of(plan).items() if one.line is not None}
    return {line: str(getattr(plan, name) or "") for name, line in lines.items()}


def plan_values(kind: type[Any], values: Values) -> dict[str, Any]:
    """Return the plan attributes for field values; an empty field leaves its attribute at the default."""
    found = {}
    for name, one in arguments_of(kind).items():
        if one.line is not None and (text := values.get(one.line.name, "")):
            found[name] = int(text) if one.line.most else text
    return found


def may_start(host: WorkbenchApp) -> bool:
    if is_read_only():
        host.notify(str(ReadOnly("start runs")), severity="warning")
    return not is_read_only()


def run_fields(session: str, *, busy: bool) -> tuple[Field, ...]:
    """Return the fields that every kind of run has: the session and, if another run is active, when to start."""
    where = Field(
        "session", session, about_session, runs.known_sessions(), placeholder="a new one", check=check_session
    )
    return (where, _WHEN) if busy else (where,)


def _check_when(text: str) -> None:
    if text not in {"now", "queue"}:
        raise UsageError("Choose now or queue.")


_ABOUT_WHEN = (
    "Another run of this session is active: now starts in parallel, queue starts after it ({app.runs} shows the queue)."
)
_WHEN = Field("when", "now", lambda values: with_keys(_ABOUT_WHEN), ("now", "queue"), check=_check_when)


def check_session(text: str) -> None:
    runs.session_named(text, "")


def about_session(values: Values) -> str:
    """Return the help for the field ``session``, which says where the run is stored."""
    text = values["session"]
    if not text:
        return "Empty: the run creates a new session."
    try:
        path = runs.session_named(text, "")
    except UsageError as error:
        return str(error)
    if not path.exists():
        return f"Creates {one_line(path.stem, 100)} in {one_line(str(path), 300)}."
    if not runs.is_writable(path):
        return f"{one_line(path.stem, 100)} is read-only, so a new session is created."
    chosen = with_keys(" The session was chosen in Sessions ({app.sessions}).") if path == runs.chosen_session() else ""
    return f"The run goes into {one_line(path.stem, 100)}.{chosen}"


def check_named_model(model: str, role: str, settings: Settings) -> None:
    """Raise UsageError if a model (a LiteLLM name, ``local`` or ``replay:SESSION``) cannot be used as ``role``.

    The check takes only milliseconds.
    """
    from workbench.models.names import check_model
    from workbench.session.session_names import resolve_session

    if model.startswith("replay:"):
        resolve_session(model.removeprefix("replay:"))
    else:
        check_model(model, role, base_url=settings.base_url, local_model_path=settings.local_model_path)


# -- confirmations


async def confirm_cost(host: WorkbenchApp, estimate: WorkEstimate) -> bool:
    """Return whether to start: the estimate is below the limits in the settings, or the user confirms it.

    Call from a worker.
    """
    why = estimate.beyond(host.settings.ask_above_dollars, host.settings.ask_above_minutes)
    if not why:
        return True
    question = Confirm("Start this?", f"{estimate.sentence()}.\nThat is {why}.", "Start")
    return await host.push_screen_wait(question) is True


def unsandboxed_question(error: Any) -> Confirm:
    promises = "\n".join(f"· {line}" for line in error.promises)
    return Confirm(
        "No sandbox available",
        "Run model-written code in a plain process instead? `workbench doctor` explains why no sandbox works here. "
        f"A plain process guarantees on this machine:\n{promises}",
        "Run",
    )


# -- stored answers


_LONGEST = 2_000


def _file() -> Path:
    return paths.state_dir() / "answers.json"


def last_answers(dialog: str, plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored answers of a dialog, or ``plain`` values where none is stored or the default has changed."""
    kept, found = _read().get(dialog), dict(plain)
    for field, pair in kept.items() if isinstance(kept, dict) else ():
        if field in found and isinstance(pair, list) and len(pair) == 2 and _stored(found[field]) == pair[1]:
            answer, several = pair[0], isinstance(found[field], tuple)
            texts = answer if several else [answer]
            sound = isinstance(texts, list) and all(isinstance(one, str) and one.isprintable() for one in texts)
            if sound and sum(map(len, texts)) <= _LONGEST:
                found[field] = tuple(texts) if several else answer
    return found


def save_answers(dialog: str, answers: Mapping[str, Any], plain: Mapping[str, Any]) -> None:
    every = _read()
    every[dialog] = {
        field: [_stored(answer), _stored(plain[field])] for field, answer in answers.items() if answer != plain[field]
    }
    fresh = _file().with_name(f"{_file().name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        fresh.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(every, indent=1), encoding="utf-8")
        fresh.replace(_file())


def _stored(answer: str | tuple[str, ...]) -> str | list[str]:
    return list(answer) if isinstance(answer, tuple) else answer


def _read() -> dict[str, Any]:
    try:
        values = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
