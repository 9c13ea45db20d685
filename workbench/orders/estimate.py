"""Estimate the requests, time and cost of work from the medians of earlier work of the same kind.

The functions are pure and use :mod:`workbench.orders.measured`. A figure without measurements is None, never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from workbench.base.text import plural
from workbench.orders.measured import MeasuredRates, Rate, most_tasks, tasks_in_cache
from workbench.plans.plan import Ask
from workbench.session.groups import CONTROLS

NOTHING_KNOWN = "no earlier run to estimate from"


@dataclass(frozen=True, slots=True)
class Documentation:
    """The requests that doc systems make before any candidate is written; each figure is the sum of its known parts."""

    requests: float = 0.0  # From a rule, or the number in earlier runs
    tokens: float | None = 0.0  # Prompt and completion tokens; None if never measured
    seconds: float | None = 0.0  # None if never measured
    dollars: float | None = 0.0  # None if the price is unknown
    unknown: tuple[str, ...] = ()  # "DOCS about SOURCE" for each documentation with an unknown number of requests
    up_to: bool = False  # Whether the number of requests is an upper bound

    def sentence(self) -> str:
        """Return ``docs before that: about 91 requests, 80,000 tokens, 3 minutes, $0; …``, or "" if there are none."""
        if not self.requests and not self.unknown:
            return ""
        missing = _listed(self.unknown)
        if not self.requests:
            return f"the number of requests for docs is unknown: {missing}"
        figures = {
            "tokens": None if self.tokens is None else f"{_rounded(self.tokens)} tokens",
            "time": None if self.seconds is None else duration(self.seconds),
            "cost": None if self.dollars is None else dollars(self.dollars),
        }
        lacking = [name for name, words in figures.items() if words is None]
        asked = f"{_rounded(self.requests)} request{'' if self.requests == 1 else 's'}"
        text = f"docs before that: {'up to' if self.up_to else 'about'} {', '.join(filter(None, (asked, *figures.values())))}"
        words = " and ".join(filter(None, (", ".join(lacking[:-1]), *lacking[-1:])))
        text += f"; their {words} not known" if lacking else ""
        return text + (f"; the number of requests is unknown for {missing}" if missing else "")


@dataclass(frozen=True, slots=True)
class WorkEstimate:
    """The estimated cost of work; a figure is None if no comparable work was measured."""

    count: int | None  # None if unknown
    noun: str  # `trial`, `candidate`, …
    requests: float | None = None
    seconds: float | None = None  # Wall time until the last item is finished
    dollars: float | None = None
    basis: str = ""  # "12 earlier trials"; "" without measurements
    # Seconds for building the tasks first, included in `seconds` above: 0 if they are already built. If None (unknown),
    # `seconds` does not include it
    building: float | None = 0.0
    up_to: bool = False  # whether all figures are upper bounds
    # Columns of a study with no measured time; `seconds` covers only the other columns
    without: tuple[str, ...] = ()
    documentation: Documentation | None = None  # None if no doc system is involved
    left_out: tuple[str, ...] = ()  # Columns of a study that cannot run on this machine; excluded from all figures

    def sentence(self) -> str:
        """Return ``6 trials, about 30 requests, 4 minutes, $0.12 (by 12 earlier trials)``."""
        docs = self.documentation.sentence() if self.documentation is not None else ""
        none = f"not counted, because it cannot be used here: {_listed(self.left_out)}" if self.left_out else ""
        return "; ".join(filter(None, (self._own_sentence(), docs, none)))

    def _own_sentence(self) -> str:
        if self.count is None:
            free = "" if self.dollars is None else f", {dollars(self.dollars)}"
            wait = f", which takes about {duration(self.building)}" if self.building else ""
            return f"{self.noun}s; their number is known once the tasks are built{wait}{free}"
        if not self.count:
            return f"0 {self.noun}s: nothing is left to do"
        what = f"{'up to ' if self.up_to else ''}{plural(self.count, self.noun)}"
        asked = "" if self.requests is None else _rounded(self.requests)
        known = [
            f"{asked} request{'' if asked == '1' else 's'}" if asked else "",
            "" if self.seconds is None else duration(self.seconds) + self._of_it(),
            "" if self.dollars is None else dollars(self.dollars),
        ]
        unknown = [name for name, figure in (("time", self.seconds), ("cost", self.dollars)) if figure is None]
        text = f"{what}, about {', '.join(filter(None, known))}" if any(known) else what
        if self.seconds is None:
            return f"{text}; {' and '.join(unknown)} not known: {NOTHING_KNOWN}"
        text += (", cost not known" if unknown else "") + (f" (by {self.basis})" if self.basis else "")
        return text + (f", without {_listed(self.without)}: {NOTHING_KNOWN}" if self.without else "")

    def beside(self, asked: int) -> str:
        """Return :meth:`sentence` for ``asked`` items, with the number of them that the session already contains."""
        if self.count is None or self.count >= asked:
            return self.sentence()
        whole = plural(asked, self.noun)
        if not self.count:
            return f"{whole}, which the session already has: nothing is left to do"
        return f"{whole}, of which {asked - self.count:,} are already in the session; new: {self.sentence()}"

    def _of_it(self) -> str:
        if self.building is None:
            return " after the tasks are built"
        return f" ({duration(self.building)} of it for building the tasks)" if self.building else ""

    def beyond(self, most_dollars: float, most_minutes: float) -> str:
        """Return a phrase for the limit that the estimate exceeds, or "" if it exceeds neither; 0 means no limit."""
        docs = self.documentation or Documentation()
        cost = _known_sum(self.dollars, docs.dollars)
        seconds = _known_sum(self.seconds, docs.seconds)
        if most_dollars and cost is not None and cost > most_dollars:
            return f"about {dollars(cost)}, more than the {dollars(most_dollars)} of ask_above_dollars"
        if most_minutes and seconds is not None and seconds > 60 * most_minutes:
            return f"about {duration(seconds)}, more than the {most_minutes:g} minutes of ask_above_minutes"
        return ""


def estimate_trials(
    measured: MeasuredRates,
    cases: Sequence[str],
    agent: str,
    model: str,
    judges: Sequence[str],
    *,
    repeats: int,
    at_once: int,
) -> WorkEstimate:
    """Estimate trials: ``cases`` × ``repeats`` of one agent with one model, scored by ``judges``.

    The estimate for a case is the median of its own trials by this agent and model, or else of their trials on other
    cases, or else is based on the model's time per request. The embedded model runs one trial at a time, other models
    up to ``at_once``.
    """
    count = len(cases) * repeats
    side_by_side = 1 if is_free(model) else max(1, min(at_once, count))
    alike = [rate for rate in measured.trials if (rate.agent, rate.model) == (agent, model)]
    near = [rate for rate in measured.trials if rate.model == model and rate.requests]
    asked = [rate.requests for rate in measured.trials if rate.agent == agent] or [rate.requests for rate in near]
    requests = median(asked) * count if asked else None
    if alike and count:
        of_cases = [[rate for rate in alike if rate.case == case] or alike for case in cases]
        took = [_median(rates) for rates in of_cases] * repeats
        seconds = [rate.seconds for rate in took]
        estimate = _estimate(
            count,
            "trial",
            model,
            sum(rate.requests for rate in took),
            max(sum(seconds) / side_by_side, max(seconds)),
            total(rate.dollars for rate in took),
            _basis(len({id(rate) for rates in of_cases for rate in rates}), "trial"),
        )
    elif near and requests is not None and count:
        each, price = _of_a_request(near)
        basis = f"{_basis(len(near), 'trial')} of other agents, roughly"
        took_all = requests * each / side_by_side
        estimate = _estimate(count, "trial", model, requests, took_all, times(price, requests), basis)
    else:
        estimate = _estimate(count, "trial", model, requests)
    scores = estimate_scores(measured, count, judges)
    return replace(
        estimate,
        requests=None if estimate.requests is None else estimate.requests + (scores.requests or 0.0),
        dollars=total((estimate.dollars, scores.dollars)),
    )


def seconds_of_request(measured: MeasuredRates, model: str) -> tuple[float, str] | None:
    """Return the median seconds per request to a model, for any purpose, and its basis; None without measurements."""
    docs = [rate.seconds for rate in measured.documenting if model and rate.docs.endswith(f":{model}") and rate.seconds]
    trials = [rate.seconds / rate.requests for rate in measured.trials if rate.model == model and rate.requests]
    bodies = [rate.seconds / rate.requests for rate in measured.candidates if rate.model == model and rate.requests]
    for found, noun in ((bodies, "run"), (docs, "documentation"), (trials, "trial")):
        if found:
            return median(found), f"{_basis(len(found), noun)} with this model, roughly"
    return None


def estimate_fork(
    measured: MeasuredRates, model: str, steps: Sequence[tuple[float, float | None]], *, same: bool
) -> WorkEstimate:
    """Estimate a fork that takes as many steps as its parent took after that point.

    ``steps`` are the seconds and US dollars of the parent's steps that are not inherited; they are used directly if the
    model is the ``same``.
    """
    count = len(steps)
    alike = [rate for rate in measured.trials if rate.model == model and rate.requests]
    if same and steps:
        seconds, cost = sum(seconds for seconds, _ in steps), total(dollars for _, dollars in steps)
        return _estimate(1, "trial", model, count, seconds, cost, "the parent's steps")
    if not alike or not steps:
        return _estimate(1, "trial", model, count)
    each, price = _of_a_request(alike)
    return _estimate(1, "trial", model, count, each * count, times(price, count), _basis(len(alike), "trial"))


def estimate_candidates(
    measured: MeasuredRates, source: str, evaluator: str, *, candidates: int | None
) -> WorkEstimate:
    """Estimate candidates written by ``evaluator`` for tasks of ``source``, including their tests.

    The estimate is based on the evaluator's runs on this source, or else on other sources. ``candidates`` is None if
    the number of tasks is unknown.
    """
    alike = [rate for rate in measured.candidates if rate.model == evaluator]
    alike = [rate for rate in alike if rate.case == source] or alike
    if candidates is not None and alike:
        each = _median(alike)
        cost = (each.requests * candidates, each.seconds * candidates, times(each.dollars, candidates))
        return _estimate(candidates, "candidate", evaluator, *cost, _basis(len(alike), "run"))
    requests = 0.0 if evaluator in CONTROLS else times(candidates, 1.0)
    near = seconds_of_request(measured, evaluator)
    if candidates is None or near is None:
        return _estimate(candidates, "candidate", evaluator, requests)
    # The time of the tests is unknown, but small compared to that of a request.
    return _estimate(candidates, "candidate", evaluator, requests, near[0] * candidates, None, near[1])


def estimate_scores(measured: MeasuredRates, count: int, judges: Sequence[str]) -> WorkEstimate:
    """Estimate scoring ``count`` trials by each judge in turn; judges that use no model take negligible time."""
    asking = [judge for judge in judges if not judge.startswith(("offline", "replay:"))]
    found = [[rate for rate in measured.judging if rate.model == judge] for judge in asking]
    each = [_median(rates) if rates else None for rates in found]
    return WorkEstimate(
        count,
        "trial",
        total(times(one.requests, count) if one else None for one in each),
        total(times(one.seconds, count) if one else None for one in each),
        total(
            times(one.dollars, count) if one else 0.0 if is_free(judge) else None
            for one, judge in zip(each, asking, strict=True)
        ),
        _basis(sum(map(len, found)), "score") if any(found) else "",
    )


def estimate_alike(count: int, noun: str, took: Sequence[float], earlier: str) -> WorkEstimate:
    """Estimate sequential work without a model.

    ``took`` contains the seconds of earlier items, which ``earlier`` describes.
    """
    basis = _basis(len(took), earlier) if took else ""
    return WorkEstimate(count, noun, 0.0, median(took) * count if took else None, 0.0, basis)


def added(estimates: Iterable[WorkEstimate]) -> WorkEstimate:
    """Add estimates of work done one after another; a figure that is None in any of them is None in the sum."""
    every = list(estimates)
    if len(every) == 1:
        return every[0]
    counts = [one.count for one in every]
    return WorkEstimate(
        None if None in counts else sum(count or 0 for count in counts),
        every[0].noun if every else "candidate",
        total(one.requests for one in every),
        total(one.seconds for one in every),
        total(one.dollars for one in every),
        "; ".join(dict.fromkeys(one.basis for one in every if one.basis)),
        total(one.building for one in every),
        any(one.up_to for one in every),
    )


def duration(seconds: float) -> str:
    if seconds < 90:
        whole = max(1, round(seconds))
        return f"{whole} second{'' if whole == 1 else 's'}"
    minutes = round(seconds / 60)
    return f"{minutes} minutes" if minutes < 120 else f"{minutes // 60:,} h {minutes % 60} min"


def dollars(usd: float) -> str:
    if not usd:
        return "$0"
    if usd < 0.01:
        return "less than $0.01"
    return f"${usd:,.2f}" if usd < 100 else f"${usd:,.0f}"


def is_free(model: str) -> bool:
    """Return whether a model costs nothing: the embedded model, a replay, a control, or a samples file."""
    return model in (*CONTROLS, "local", "literal") or model.startswith(("replay:", "samples:", "local/"))


def _estimate(
    count: int | None,
    noun: str,
    model: str,
    requests: float | None = None,
    seconds: float | None = None,
    dollars: float | None = None,
    basis: str = "",
) -> WorkEstimate:
    return WorkEstimate(count, noun, requests, seconds, 0.0 if is_free(model) else dollars, basis)


def _median(rates: Sequence[Rate]) -> Rate:
    priced = [rate.dollars for rate in rates if rate.dollars is not None]
    requests, seconds, tested = (
        median(getattr(rate, name) for rate in rates) for name in ("requests", "seconds", "tested")
    )
    return replace(
        rates[0], requests=requests, seconds=seconds, tested=tested, dollars=median(priced) if priced else None
    )


def _of_a_request(rates: Sequence[Rate]) -> tuple[float, float | None]:
    priced = [rate.dollars / rate.requests for rate in rates if rate.dollars is not None]
    return median(rate.seconds / rate.requests for rate in rates), median(priced) if priced else None


def times(value: float | None, count: float) -> float | None:
    return None if value is None else value * count


def total(values: Iterable[float | None]) -> float | None:
    every = list(values)
    return None if None in every else sum((value or 0.0 for value in every), 0.0)


def _known_sum(one: float | None, other: float | None) -> float | None:
    return one if other is None else other if one is None else one + other


def _listed(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _basis(count: int, noun: str) -> str:
    return plural(count, f"earlier {noun}")


def _rounded(count: float) -> str:
    """Format a number of requests, with two significant digits from 100 up."""
    if count < 100:
        return f"{math.ceil(count - 1e-9):,}"
    digits = 10 ** (len(str(round(count))) - 2)
    return f"{round(count / digits) * digits:,}"


# -- candidates


def task_count(measured: MeasuredRates, source: str, limit: int = 0) -> int | None:
    """Return the number of tasks of a source, at most ``limit`` (0 means no limit).

    None if neither a session nor the cache contains the tasks.
    """
    for name in (source, _as_path(source)):
        built = tasks_in_cache(measured.builds.get(name))
        known = measured.tasks.get(name, len(built) if built is not None else None)
        if known is not None:
            return min(known, limit) if limit else known
    return None


def _as_path(source: str) -> str:
    return str(Path(source).expanduser().absolute())


def new_candidates(measured: MeasuredRates, source: str, ask: Ask) -> int | None:
    """Return the number of candidates that an ask adds; None if tasks were never built or are selected by patterns."""
    if ask.tasks:
        return len(ask.tasks) * ask.samples if not set("*?[") & set("".join(ask.tasks)) else None
    tasks = task_count(measured, source, ask.limit)
    if tasks is None or not ask.samples:
        return None
    existing = measured.had.get((source, ask.evaluator), ())
    return sum(max(0, tasks - (existing[sample] if sample < len(existing) else 0)) for sample in range(ask.samples))


def estimate_ask(measured: MeasuredRates, source: str, ask: Ask, *, rebuild: bool = False) -> WorkEstimate:
    """Estimate an ask: building missing tasks, then writing and testing its candidates.

    Until the tasks are built, the number of functions is an upper bound on their number.
    """
    count = new_candidates(measured, source, ask)
    most = most_tasks(source, ask.limit) if count is None and ask.samples and not ask.tasks else None
    estimate = estimate_candidates(measured, source, ask.evaluator, candidates=most * ask.samples if most else count)
    estimate = replace(estimate, up_to=most is not None)
    return with_build_time(estimate, measured, source, rebuild=rebuild)


@dataclass(frozen=True, slots=True)
class Again:
    """The candidates of one source and evaluator in a rerun: how many to request anew, and how many only to test."""

    source: str
    evaluator: str
    asked: int
    tested: int


def estimate_rerun(measured: MeasuredRates, again: Sequence[Again]) -> WorkEstimate:
    """Estimate a rerun of parts of runs."""
    estimate = added(
        estimate_candidates(measured, one.source, one.evaluator, candidates=one.asked)
        if one.asked or not one.tested
        # These candidates are only tested, not requested again.
        else estimate_alike(one.tested, "candidate", measured.tested(one.source), "run")
        for one in again
    )
    for source in dict.fromkeys(one.source for one in again):
        estimate = with_build_time(estimate, measured, source)
    return estimate


def with_build_time(
    estimate: WorkEstimate, measured: MeasuredRates, source: str, *, rebuild: bool = False
) -> WorkEstimate:
    """Add the time for building the tasks of a source, which is 0 if they are cached.

    It is the time of the source's last build, or else the median of the builds of other sources.
    """
    known = measured.builds.get(source) or measured.builds.get(_as_path(source))
    if known is not None and known.tasks is not None and not rebuild:
        return estimate
    took = [build.seconds for build in measured.builds.values() if build.seconds is not None]
    own = known.seconds if known is not None and known.seconds is not None else median(took) if took else None
    if own is None:
        return replace(estimate, building=None)
    return replace(estimate, seconds=total((estimate.seconds, own)), building=total((estimate.building, own)))
