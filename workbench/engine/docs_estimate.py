"""What a doc system will ask of its model before candidates are written: by what it asked before, else by a rule, else not known.

The rules: ``llm`` asks once for each function, class and module of a file with tasks (``scope target``: once for each task);
RepoAgent once for each function and class, tests included (measured: 91 requests for the 90 functions and the class of
word_counter, 203 for the 181 and 22 of schema 0.7.7). OSA and commands have none; what they asked for a definition elsewhere counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from workbench.documenters.names import DocsName, parse_docs
from workbench.engine.builds import tasks_in_cache
from workbench.engine.estimate import DocsRate, Documentation, Measured, is_free, seconds_of_request
from workbench.engine.plan import RegenerationPlan
from workbench.errors import WorkbenchError
from workbench.repository import Snapshot

_ASKING = ("llm", "repoagent", "osa", "command")


@dataclass(frozen=True, slots=True)
class _Asked:
    """Requests of one doc system about one repository, None where nobody knows."""

    requests: float | None
    up_to: bool = False


def documentation(measured: Measured, orders: Iterable[tuple[RegenerationPlan, bool]]) -> Documentation:
    """Return what the doc systems of orders will ask, each about each source once.

    ``orders`` are written-out plans, and whether the session has that source documented by that system already.
    """
    rates = [*measured.documenting, *kept_rates()]
    known: list[tuple[RegenerationPlan, _Asked]] = []
    seen: set[tuple[str, str]] = set()
    for plan, documented in orders:
        if (plan.source, plan.docs) in seen or documented:
            continue
        seen.add((plan.source, plan.docs))
        name = parse_docs(plan.docs)
        if name.kind in _ASKING and model_of(name):
            known.append((plan, _asked(measured, rates, plan, name)))
        elif name.kind == "extension":
            known.append((plan, _Asked(None)))
    return _summed(measured, rates, known)


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


def _summed(
    measured: Measured, rates: Sequence[DocsRate], known: Sequence[tuple[RegenerationPlan, _Asked]]
) -> Documentation:
    requests = 0.0
    sums: dict[str, float | None] = {"tokens": 0.0, "seconds": 0.0, "dollars": 0.0}
    for plan, asked in known:
        if not asked.requests:
            continue
        requests += asked.requests
        for name, each in _of_a_request(measured, rates, plan.docs).items():
            before = sums[name]
            sums[name] = None if before is None or each is None else before + each * asked.requests
    unknown = dict.fromkeys(f"{plan.docs} about {plan.source}" for plan, asked in known if asked.requests is None)
    up_to = any(asked.up_to for _, asked in known if asked.requests)
    return Documentation(requests, sums["tokens"], sums["seconds"], sums["dollars"], tuple(unknown), up_to)


def _of_a_request(measured: Measured, rates: Sequence[DocsRate], docs: str) -> dict[str, float | None]:
    model = model_of(parse_docs(docs))
    own = [one for one in rates if one.docs == docs]
    kind = docs.partition(":")[0]
    alike = own or [one for one in rates if one.docs.partition(":")[0] == kind]
    priced = [one.dollars for one in own if one.dollars is not None]
    near = seconds_of_request(measured, model)
    return {
        "tokens": median(one.tokens for one in alike) if alike else None,
        "seconds": median(one.seconds for one in own) if own else near[0] if near else None,
        "dollars": 0.0 if is_free(model) else median(priced) if priced else None,
    }


def _asked(measured: Measured, rates: Sequence[DocsRate], plan: RegenerationPlan, name: DocsName) -> _Asked:
    snapshot = snapshot_here(plan.source)
    if name.kind != "llm" and snapshot is not None and _is_kept(name, snapshot):
        return _Asked(0.0)
    whole = [one for one in rates if one.docs == plan.docs and one.complete]
    own = [one.requests for one in whole if one.source == plan.source]
    # An order for some tasks makes llm document some files only.
    if own and name.kind != "llm":
        return _Asked(median(own))
    if snapshot is None:
        return _Asked(None)
    if name.kind == "llm":
        return _asked_by_llm(measured, plan, snapshot)
    counts = _definitions(snapshot, None)
    if name.kind == "repoagent":
        return _Asked(float(counts["function"] + counts["class"]))
    each = [one.requests / one.definitions for one in whole if one.definitions]
    return _Asked(median(each) * counts.total() if each else None)


def _asked_by_llm(measured: Measured, plan: RegenerationPlan, snapshot: Snapshot) -> _Asked:
    ask = plan.asks[0]
    files = tasks_in_cache(measured.builds.get(plan.source))
    if files is not None and not ask.tasks:
        chosen = files[: ask.limit] if ask.limit else files
        if plan.docs_scope == "target":
            return _Asked(float(len(chosen)))
        return _Asked(float(_definitions(snapshot, set(chosen)).total()))
    return _Asked(float(_definitions(snapshot, None).total()), up_to=True)


def _definitions(snapshot: Snapshot, only: set[str] | None) -> Counter[str]:
    from workbench.repository.definitions import find_definitions

    found: Counter[str] = Counter()
    for entry in snapshot.files:
        if entry.path.endswith(".py") and (only is None or entry.path in only):
            found.update(
                one.key.kind for one in find_definitions((snapshot.root / entry.path).read_bytes(), entry.path)
            )
    return found


def _is_kept(name: DocsName, snapshot: Snapshot) -> bool:
    from workbench.documenters.programs.program import kept_place

    return kept_place(name, snapshot).is_file()


def snapshot_here(source: str) -> Snapshot | None:
    """Return the content of a source as far as this machine has it, None where it would have to be fetched."""
    from workbench.catalog import current_snapshot, resolve_case
    from workbench.repository import cached

    try:
        case = resolve_case(source)
        found = current_snapshot(case)
        if found is None and case.source:
            found = cached(case.source, expected_sha256=case.sha256.get(case.source))
    except (WorkbenchError, OSError):
        return None
    return found if found is not None and Path(found.root).is_dir() else None
