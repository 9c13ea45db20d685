"""How many candidates an order of a regeneration run will add, what they will take, and what doc systems will ask before.

What a doc system asks is known by what it asked before, else by a rule: ``llm`` asks once for each function, class and module
of a file with tasks (``scope target``: once for each task); RepoAgent once for each function and class, tests included
(measured: 91 requests for the 90 functions and the class of word_counter, 203 for the 181 and 22 of schema 0.7.7). OSA and
commands have no rule; what they asked for a definition elsewhere counts. Cheap to import.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from workbench import catalog
from workbench.base.errors import WorkbenchError
from workbench.documenters.names import DocsName, parse_docs
from workbench.orders.estimate import (
    DocsRate,
    Documentation,
    Estimate,
    Measured,
    added,
    estimate_candidates,
    estimate_tests,
    is_free,
    seconds_of_request,
    times,
    total,
)  # fmt: skip
from workbench.orders.measured import tasks_in_cache
from workbench.orders.plan import Ask, RegenerationPlan

if TYPE_CHECKING:
    from workbench.orders.rerunning import Again
    from workbench.repository import Snapshot


def known_tasks(measured: Measured, source: str, limit: int = 0) -> int | None:
    """Return how many tasks a source has, at most ``limit`` if there is one; None where neither a session nor the cache has them."""
    for name in (source, _as_path(source)):
        built = tasks_in_cache(measured.builds.get(name))
        known = measured.tasks.get(name, len(built) if built is not None else None)
        if known is not None:
            return min(known, limit) if limit else known
    return None


def _as_path(source: str) -> str:
    return str(Path(source).expanduser().absolute())


def new_candidates(measured: Measured, source: str, ask: Ask) -> int | None:
    """Return how many candidates an ask adds to the session; None where tasks were never built, or patterns name them."""
    if ask.tasks:
        return len(ask.tasks) * ask.samples if not set("*?[") & set("".join(ask.tasks)) else None
    tasks = known_tasks(measured, source, ask.limit)
    if tasks is None or not ask.samples:
        return None
    had = measured.had.get((source, ask.evaluator), ())
    return sum(max(0, tasks - (had[sample] if sample < len(had) else 0)) for sample in range(ask.samples))


def estimate_ask(measured: Measured, source: str, ask: Ask, *, rebuild: bool = False) -> Estimate:
    """Return what an ask will take: its tasks are built where they are not yet, then its candidates are written and tested."""
    told = estimate_candidates(measured, source, ask.evaluator, candidates=new_candidates(measured, source, ask))
    return building_first(told, measured, source, rebuild=rebuild)


def estimate_order(measured: Measured, plan: RegenerationPlan, into: Path | None) -> Estimate:
    """Return what an order will take in a session, with what its doc system asks. Raises UsageError: it cannot be meant."""
    from workbench.orders.regeneration_client import full_ask

    told = estimate_ask(measured, plan.source, full_ask(plan), rebuild=plan.rebuild)
    return replace(told, documentation=documentation_of(measured, plan, into))


def documentation_of(measured: Measured, plan: RegenerationPlan, into: Path | None) -> Documentation:
    """Return what the doc system of an order asks before candidates are written; it reads the source, so call it in a thread."""
    from workbench.orders.regeneration_client import resolved
    from workbench.orders.study_estimate import is_documented

    whole = resolved(plan)
    return documentation(measured, [(whole, into is not None and is_documented(into, whole))])


def estimate_again(measured: Measured, again: Sequence[Again]) -> Estimate:
    """Return what parts of runs will take once more: see :func:`workbench.orders.rerunning.what_again`."""
    told = added(
        estimate_candidates(measured, one.source, one.evaluator, candidates=one.asked)
        if one.asked or not one.tested
        else estimate_tests(measured, one.source, one.tested)
        for one in again
    )
    for source in dict.fromkeys(one.source for one in again):
        told = building_first(told, measured, source)
    return told


def building_first(told: Estimate, measured: Measured, source: str, *, rebuild: bool = False) -> Estimate:
    """Add the time in which the tasks of a source are built first: what it took last, else the median of others; none if in the cache."""
    known = measured.builds.get(source) or measured.builds.get(_as_path(source))
    if known is not None and known.ready and not rebuild:
        return told
    took = [build.seconds for build in measured.builds.values() if build.seconds is not None]
    own = known.seconds if known is not None and known.seconds is not None else median(took) if took else None
    if own is None:
        return replace(told, building=None)
    return replace(told, seconds=total((told.seconds, own)), building=total((told.building, own)))


_ASKING = ("llm", "repoagent", "osa", "command")


def documentation(measured: Measured, orders: Iterable[tuple[RegenerationPlan, bool]]) -> Documentation:
    """Return what doc systems will ask for written-out plans, each with whether the session has its source documented already."""
    rates = [*measured.documenting, *kept_rates()]
    found: dict[tuple[str, str], tuple[float | None, bool]] = {}
    for plan, documented in orders:
        name, key = parse_docs(plan.docs), (plan.source, plan.docs)
        if not documented and key not in found:
            if name.kind == "extension":
                found[key] = None, False
            elif name.kind in _ASKING and model_of(name):
                found[key] = _asked(measured, rates, plan, name)
    known = [(_of_a_request(measured, rates, docs), count) for (_, docs), (count, _) in found.items() if count]
    tokens, seconds, dollars = (total(times(each[place], count) for each, count in known) for place in range(3))
    unknown = tuple(f"{docs} about {source}" for (source, docs), (count, _) in found.items() if count is None)
    up_to = any(most for count, most in found.values() if count)
    return Documentation(float(sum(count for _, count in known)), tokens, seconds, dollars, unknown, up_to)


def model_of(name: DocsName) -> str:
    """Return the model that a doc system asks, "" for one that asks none."""
    if name.kind == "command":
        from workbench.documenters.programs.command import Command

        return Command(name.rest).model
    return name.rest if name.kind in _ASKING else ""


def kept_rates() -> list[DocsRate]:
    from workbench.documenters.programs.work_folder import kept

    found = []
    for one in kept():
        told = one.documented
        if told is None or not told.program or not told.counts.get("requests"):
            continue
        count, tokens = told.counts["requests"], told.counts["prompt_tokens"] + told.counts["completion_tokens"]
        definitions = sum(int(told.counts[kind]) for kind in ("function", "class", "module"))
        # Dollars of what the session answered again are not among the counts, so none are taken from here.
        of_a_request = (tokens / count, told.counts["seconds"] / count, None)
        found.append(DocsRate(told.program, told.source, count, *of_a_request, True, definitions))
    return found


def _of_a_request(
    measured: Measured, rates: Sequence[DocsRate], docs: str
) -> tuple[float | None, float | None, float | None]:
    """Return tokens, seconds and dollars."""
    model, kind = model_of(parse_docs(docs)), docs.partition(":")[0]
    own = [one for one in rates if one.docs == docs]
    alike = own or [one for one in rates if one.docs.partition(":")[0] == kind]
    priced = [one.dollars for one in own if one.dollars is not None]
    near = seconds_of_request(measured, model)
    return (
        median(one.tokens for one in alike) if alike else None,
        median(one.seconds for one in own) if own else near[0] if near else None,
        0.0 if is_free(model) else median(priced) if priced else None,
    )


def _asked(
    measured: Measured, rates: Sequence[DocsRate], plan: RegenerationPlan, name: DocsName
) -> tuple[float | None, bool]:
    """Return the requests about a repository, None where nobody knows, and whether that is an upper bound."""
    from workbench.documenters.programs.program import kept_place

    snapshot = snapshot_here(plan.source)
    whole = [one for one in rates if one.docs == plan.docs and one.complete]
    own = [one.requests for one in whole if one.source == plan.source]
    if name.kind != "llm" and snapshot is not None and kept_place(name, snapshot).is_file():
        return 0.0, False
    # An order for some tasks makes llm document some files only.
    if own and name.kind != "llm":
        return median(own), False
    if snapshot is None:
        return None, False
    if name.kind == "llm":
        ask, files = plan.asks[0], tasks_in_cache(measured.builds.get(plan.source))
        if files is None or ask.tasks:
            return float(_definitions(snapshot, None).total()), True
        files = files[: ask.limit or None]
        count = len(files) if plan.docs_scope == "target" else _definitions(snapshot, set(files)).total()
        return float(count), False
    counts = _definitions(snapshot, None)
    if name.kind == "repoagent":
        return float(counts["function"] + counts["class"]), False
    each = [one.requests / one.definitions for one in whole if one.definitions]
    return median(each) * counts.total() if each else None, False


def _definitions(snapshot: Snapshot, only: set[str] | None) -> Counter[str]:
    from workbench.repository.functions import find_definitions

    found: Counter[str] = Counter()
    for entry in snapshot.files:
        if entry.path.endswith(".py") and (only is None or entry.path in only):
            found.update(
                one.key.kind for one in find_definitions((snapshot.root / entry.path).read_bytes(), entry.path)
            )
    return found


def snapshot_here(source: str) -> Snapshot | None:
    """Return the content of a source as far as this machine has it, None where it would have to be fetched."""
    from workbench.repository import cached

    try:
        case = catalog.resolve_case(source)
        found = catalog.current_snapshot(case)
        if found is None and case.source:
            found = cached(case.source, expected_sha256=case.sha256.get(case.source))
    except (WorkbenchError, OSError):
        return None
    return found if found is not None and Path(found.root).is_dir() else None
