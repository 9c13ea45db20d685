"""Estimate the requests that doc systems make before any candidate is written.

The number of requests is taken from earlier runs of the doc system or, if there are none, from a rule. ``llm`` makes
one request for each function, class and module of a file with tasks (with ``scope target``: one for each task).
RepoAgent makes one for each function and class, including those in tests (measured: 91 requests for the 90 functions
and the class of word_counter, 203 for the 181 functions and 22 classes of schema 0.7.7). There is no rule for OSA and
commands; their requests per definition on other repositories are used instead. Cheap to import.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import TYPE_CHECKING

from workbench.base.extensions import names
from workbench.documenters.doc_systems import docstrings_file, program_of
from workbench.documenters.program_cache import cached_docs
from workbench.documenters.types import KIND, DocsName, parse_docs
from workbench.orders.estimate import Documentation, is_free, seconds_of_request, times, total
from workbench.orders.measured import DocsRate, MeasuredRates, snapshot_here, tasks_in_cache
from workbench.plans.plan import RegenerationPlan

if TYPE_CHECKING:
    from workbench.repository import Snapshot


def documentation(measured: MeasuredRates, orders: Iterable[tuple[RegenerationPlan, bool]]) -> Documentation:
    """Estimate the documentation for resolved plans.

    Each plan is paired with whether the session already contains its docs.
    """
    rates = [*measured.documenting, *cached_doc_rates()]
    found: dict[tuple[str, str], tuple[float | None, bool]] = {}
    for plan, documented in orders:
        name, key = parse_docs(plan.docs), (plan.source, plan.docs)
        if not documented and key not in found:
            if name.kind == "extension":
                found[key] = None, False
            elif model_of(name):
                found[key] = _requests(measured, rates, plan, name)
    known = [(_of_a_request(measured, rates, docs), count) for (_, docs), (count, _) in found.items() if count]
    tokens, seconds, dollars = (total(times(each[place], count) for each, count in known) for place in range(3))
    unknown = tuple(f"{docs} about {source}" for (source, docs), (count, _) in found.items() if count is None)
    up_to = any(most for count, most in found.values() if count)
    return Documentation(float(sum(count for _, count in known)), tokens, seconds, dollars, unknown, up_to)


def model_of(name: DocsName) -> str:
    """Return the model of a doc system, or "" if it uses none."""
    if name.kind == "llm":
        return name.rest
    return program_of(name).adapter(name.rest, name.version).model if name.kind in names(KIND, own=True) else ""


def cached_doc_rates() -> list[DocsRate]:
    found = []
    for one in cached_docs():
        record = one.documented
        if record is None or not record.program or not record.counts.get("requests"):
            continue
        count, tokens = record.counts["requests"], record.counts["prompt_tokens"] + record.counts["completion_tokens"]
        definitions = sum(int(record.counts[kind]) for kind in ("function", "class", "module"))
        # The recorded costs exclude replayed answers, so no price can be derived from them.
        of_a_request = (tokens / count, record.counts["seconds"] / count, None)
        found.append(DocsRate(record.program, record.source, count, *of_a_request, True, definitions))
    return found


def _of_a_request(
    measured: MeasuredRates, rates: Sequence[DocsRate], docs: str
) -> tuple[float | None, float | None, float | None]:
    """Return the tokens, seconds and dollars of one request; each is None if unknown."""
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


def _requests(
    measured: MeasuredRates, rates: Sequence[DocsRate], plan: RegenerationPlan, name: DocsName
) -> tuple[float | None, bool]:
    """Return the number of requests for a repository (None if unknown) and whether it is an upper bound."""
    snapshot = snapshot_here(plan.source)
    whole = [one for one in rates if one.docs == plan.docs and one.complete]
    own = [one.requests for one in whole if one.source == plan.source]
    if name.kind != "llm" and snapshot is not None and docstrings_file(name, snapshot).is_file():
        return 0.0, False
    # If only some tasks are selected, llm documents only the files that contain them.
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
