"""The dialog that rescores recorded trials with other judges or rubrics, without running an agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.app.toolkit.fields import Field, Values
from workbench.app.toolkit.order_form import OrderForm, check_named_model
from workbench.base import numbers
from workbench.base.errors import UsageError
from workbench.orders import defaults
from workbench.orders.rescore import RescoreOrder
from workbench.plans.plan import RUBRICS

if TYPE_CHECKING:
    from workbench.app.app import WorkbenchApp

THIS, EVERY = "this trial", "all trials"


class RescoreDialog(OrderForm["Values"]):
    """A form for trials, judges and rubrics; ``trial`` is the displayed trial."""

    DIALOG = "rescore"

    def __init__(self, host: WorkbenchApp, session: Path, trial: str, then: Callable[[RescoreOrder], object]) -> None:
        from workbench.models.defaults import available_models

        self._session, self._trial, self._then = session, trial, then
        plain = {"judges": defaults.judge(host.settings), "rubrics": ", ".join(RUBRICS), "repeats": "1"}
        fields = (
            Field("trials", THIS, f"{THIS}, or {EVERY} of the session with a README.", (THIS, EVERY), check=_check_trials),
            Field("judges", plain["judges"], "offline or models, separated by commas.", ("offline", *available_models()),
                  needed="Name a judge.", check=self._check_judges),
            Field("rubrics", plain["rubrics"], "Rubrics, separated by commas.", RUBRICS, needed="Name a rubric.", check=_check_rubrics),
            Field("repeats", "1", "How often a model judges each tier.", most=numbers.MOST_REPEATS),
        )  # fmt: skip
        note = "No agent is run. Scores of the same judge and rubric are replaced, others are kept."
        super().__init__(host, "Rescore", fields, plain, "judges", note=note)

    def _check_judges(self, text: str) -> None:
        from workbench.base.extensions import path_of
        from workbench.rubric.judging import parse_judge

        for judge in _listed(text):
            if not path_of("judge", judge) and parse_judge(judge).kind in {"model", "replay"}:
                check_named_model(judge, "the judge", self.host.settings)

    def order(self, plan: Values, values: Values) -> RescoreOrder:
        return RescoreOrder(
            self._session,
            [self._trial] if values["trials"] == THIS else (),
            judges=_listed(values["judges"]),
            rubrics=_listed(values["rubrics"]),
            judge_repeats=int(values["repeats"]),
            spend_limit=self.host.settings.spend_limit,
        )

    def summary(self, plan: Values, values: Values) -> str:
        order = self.order(plan, values)
        return f"{order.what} = {self.estimate(order).sentence()}."

    def show(self, order: RescoreOrder) -> None:
        self._then(order)


def _listed(text: str) -> list[str]:
    return [one for part in text.split(",") if (one := part.strip())]


def _check_trials(text: str) -> None:
    if text not in (THIS, EVERY):
        raise UsageError(f"Choose {THIS} or {EVERY}.")


def _check_rubrics(text: str) -> None:
    from workbench.rubric import rubrics

    known = [info.name for info in rubrics()]
    if strange := [one for one in _listed(text) if one not in known]:
        raise UsageError(f"There is no rubric {strange[0]!r}. Known rubrics: {', '.join(known)}.")
