"""Copy the rows of one session, attached as ``src``, into another, ``main``; rows get new ids if their ids are in use.

Tables, keys and references are taken from the schema. This module declares which rows are added, and which of two rows
with the same key takes precedence.
"""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.orders.usage import READERS
from workbench.plans.arguments import PlanDamaged
from workbench.plans.plan import Ask, as_text, same_but_samples
from workbench.plans.usage import PLANS, UsagePlan, read_candidate_plan
from workbench.session.groups import settings_of
from workbench.session.identity import candidate_id, run_id, trial_id
from workbench.session.schema import SchemaColumn, tables

COUNTED = (
    "runs", "trials", "steps", "scorecards", "tasks", "candidates", "annotations", "labels", "calls", "improvements",
    "docstring_attempts",
)  # fmt: skip
"""Tables with row counts before and after a merge."""

_ADDED = "{} IN (SELECT old FROM temp.added)"
_OF_FILE = {"meta", "log_identity", "leases", "requests", "verdict_counts", "changes"}
_BY_IDENTITY = {"runs", "tasks", "calls", "trials", "candidates", "studies", "improvements", "docstring_attempts"}
_ADDED_ROWS = {
    "unused_tests": "NOT EXISTS (SELECT 1 FROM main.unused_tests AS known WHERE known.run_id = {run_id} "
    "AND known.kind = unused_tests.kind AND known.test_id = unused_tests.test_id)",
    "steps": _ADDED.format("trial_id"),
    "accessed_files": _ADDED.format("trial_id"),
    "failing_tests": _ADDED.format("candidate_id"),
    "former_verdicts": _ADDED.format("candidate_id"),
    # Tasks and files have the same ids in every session.
    "imported": f"{_ADDED.format('item')} OR item LIKE 'file:%' OR item IN (SELECT id FROM main.tasks)",
    "checks": "state = 'done'",
    "annotations": "NOT EXISTS (SELECT 1 FROM main.annotations AS known WHERE known.step IS annotations.step "
    "AND known.text = annotations.text AND known.at = annotations.at AND known.item = {item}) ORDER BY id",
}
"""Conditions for adding the rows of a table (default: all); ``{run_id}`` stands for the new run id."""

_OVER = "('refused', 'accepted')"  # final states of an attempt
_FURTHER = "instr('cancelled failed done', {}.state)"  # final states of orders, the most complete last
_DONE_AT = "coalesce({0}.removed_at, {0}.at)"
_WINS = {
    "runs": "true",
    # A task that fails its controls in one session is excluded in the merged session too.
    "tasks": "excluded.state = 'excluded' AND tasks.state = 'ready'",
    # Of two cards with the same rubric and judge, the later one counts, as with rescoring.
    "scorecards": "excluded.at > scorecards.at",
    # Of two changes of a label, the later one counts.
    "labels": f"{_DONE_AT.format('excluded')} > {_DONE_AT.format('labels')}",
    # A planned cell takes precedence over one that could not be planned.
    "study_cells": "study_cells.problem IS NOT NULL AND excluded.problem IS NULL",
    "improvements": f"{_FURTHER.format('excluded')} > {_FURTHER.format('improvements')} OR improvements.run_id IS NULL",
    "docstring_attempts": f"docstring_attempts.state NOT IN {_OVER} AND (excluded.state IN {_OVER} OR excluded.at > docstring_attempts.at)",
}
"""Conditions under which a row replaces the existing one with the same key; in other tables, the existing row stays."""

_LACKING = "instr('running queued failed cancelled done', {}.state)"  # states of a run, the least complete first
_STATE = f"iif({_LACKING.format('runs')} <= {_LACKING.format('excluded')}, runs.state, excluded.state)"
_CHANGED = {
    "tasks": {"state": "excluded.state", "reason": "excluded.reason"},
    "runs": {
        "state": _STATE,
        "error": f"coalesce(iif(runs.state = {_STATE}, runs.error, NULL), iif(excluded.state = {_STATE}, excluded.error, NULL))",
        # A copy of a run repeats the same spend, which must not be counted twice.
        "spend_usd": "iif(:is_copy, max(runs.spend_usd, excluded.spend_usd), runs.spend_usd + excluded.spend_usd)",
        "name": "coalesce(runs.name, excluded.name)",
        "note": "coalesce(runs.note, excluded.note)",
        # A run is archived only if it is archived in both sessions.
        "archived_at": "iif(runs.archived_at IS NULL, NULL, excluded.archived_at)",
        "finished_at": "max(coalesce(runs.finished_at, excluded.finished_at), coalesce(excluded.finished_at, runs.finished_at))",
        "started_at": "min(coalesce(runs.started_at, excluded.started_at), coalesce(excluded.started_at, runs.started_at))",
    },
}
"""Columns that the row taking precedence changes (default: all)."""

_INSIDE = {
    **dict.fromkeys(("item", "scope"), "item_renamed({})"),
    **dict.fromkeys(("config", "pointer"), "with_trials_renamed({})"),
}
"""Columns with texts that contain ids."""

_Row = dict[str, Any]
Counts = dict[str, tuple[int, int]]


def add_source(connection: sqlite3.Connection, source: str) -> Counts:
    """Add all rows of ``src`` to ``main``, within the caller's transaction.

    ``source`` is added to the name of a run if that name is in use. Return, for each table, the numbers of added and of
    existing rows.
    """
    in_source, before = counts(connection, "src"), counts(connection, "main")
    _SourceMerger(connection, source).add()
    after = counts(connection, "main")
    return {table: (after[table] - before[table], in_source[table] - after[table] + before[table]) for table in COUNTED}


def counts(connection: sqlite3.Connection, schema: str) -> dict[str, int]:
    return {table: connection.execute(f"SELECT count(*) FROM {schema}.{table}").fetchone()[0] for table in COUNTED}


class _SourceMerger:
    def __init__(self, connection: sqlite3.Connection, source: str) -> None:
        self._db = connection
        self._source = source
        self._names: dict[str, dict[Any, Any]] = {"runs": {}, "trials": {}, "candidates": {}}
        self._joined: dict[str, str] = {}
        # by run of the source: the number of samples by evaluator and prompt
        self._more: dict[str, dict[tuple[str, str], int]] = {}

    def add(self) -> None:
        self._db.execute("CREATE TEMP TABLE names (kind, old, new, number, PRIMARY KEY (kind, old))")
        self._db.execute("CREATE TEMP TABLE added (old PRIMARY KEY)")
        self._db.create_function("with_trials_renamed", 1, self._with_trials_renamed)
        self._db.create_function("item_renamed", 1, self._item_renamed)
        self._name_runs()
        self._name_anew(
            "candidates", "sample", ("task_id", "evaluator", "prompt", "context"), _is_same_candidate,
            lambda row, sample: candidate_id(row["task_id"], row["evaluator"], _version(row), sample),
        )  # fmt: skip
        self._name_anew(
            "trials", "repeat", ("agent", "model", "case_id", "content"), self._is_same_trial,
            lambda row, repeat: trial_id(row["agent"], row["model"], row["case_id"], repeat, row["content"]),
        )  # fmt: skip
        self._name_trajectories()
        self._add_runs()
        self._copy("tasks", "id NOT IN (SELECT id FROM main.tasks)")
        self._copy("tasks", "state = 'excluded'")
        self._add_calls()
        number = "coalesce((SELECT number FROM temp.names WHERE kind = '{0}' AND old = {0}.id), {1})"
        self._copy("trials", _ADDED.format("id"), repeat=number.format("trials", "repeat"))
        self._copy(
            "candidates", f"{_ADDED.format('id')} ORDER BY rowid", sample=number.format("candidates", "sample"),
            run_id="coalesce((SELECT run_id FROM main.tasks WHERE tasks.id = task_id), {run_id})",
        )  # fmt: skip
        self._extend_plans()
        self._add_studies()
        self._add_improvements()
        for table in tables():
            if table not in _OF_FILE | _BY_IDENTITY:
                self._copy(table, _ADDED_ROWS.get(table, "true"))
        for table in ("names", "added"):
            self._db.execute(f"DROP TABLE temp.{table}")

    def _rows(self, table: str, rest: str = "", arguments: Sequence[object] = ()) -> list[_Row]:
        names = [column.name for column in tables()[table.partition(".")[2]]]
        found = self._db.execute(f"SELECT {', '.join(names)} FROM {table} {rest}", arguments)
        return [dict(zip(names, row, strict=True)) for row in found]

    def _rename(self, kind: str, old: Any, new: Any, number: int | None = None) -> None:
        self._names.setdefault(kind, {})[old] = new
        self._db.execute("INSERT INTO temp.names VALUES (?, ?, ?, ?)", (kind, old, new, number))

    def _with_trials_renamed(self, text: str) -> str:
        """Return a JSON object with the ids of its trials replaced by the new ones."""
        values = settings_of(text)
        if not isinstance(listed := values.get("trials"), list):
            return text
        trials = [self._names["trials"].get(one, one) if isinstance(one, str) else one for one in listed]
        return (
            text if trials == listed else json.dumps({**values, "trials": trials}, ensure_ascii=False, sort_keys=True)
        )

    def _item_renamed(self, item: str) -> str:
        """Return an item with its new id; a suffix such as ``/judge`` is preserved."""
        own = re.split("[/#]", item, maxsplit=1)[0]
        kinds = ("runs", "trials", "candidates")
        return next((self._names[kind][own] for kind in kinds if own in self._names[kind]), own) + item[len(own) :]

    def _renamed(self, table: str, column: SchemaColumn) -> str:
        """Return SQL for a column of ``src`` with the new ids used in ``main``."""
        own = f"{table}.{column.name}"
        if column.name in _INSIDE:
            return _INSIDE[column.name].format(own)
        if (kind := column.refers_to) is None:
            return own
        found = f"(SELECT new FROM temp.names WHERE names.kind = '{kind}' AND old = {own})"
        # References by row number are not valid in another file, so a reference becomes NULL if its row was not added.
        return found if column.kind == "INTEGER" else f"coalesce({found}, {own})"

    def _copy(self, table: str, where: str = "true", arguments: Mapping[str, object] = {}, **values: str) -> None:
        """Add the rows of a table; ``values`` is the SQL for columns with different values."""
        keys = [one.name for one in tables()[table] if one.key]
        sql = {one.name: self._renamed(table, one) for one in tables()[table]}
        if {"run_id", "position"} <= sql.keys():
            # Place them after the existing rows of the run.
            last = f"(SELECT max(position) FROM main.{table} AS known WHERE known.run_id = {sql['run_id']})"
            place = f"row_number() OVER (PARTITION BY {sql['run_id']} ORDER BY {table}.run_id, {table}.position)"
            sql["position"] = f"coalesce({last} + {place}, {table}.position)"
        changed = _CHANGED.get(table) or {name: f"excluded.{name}" for name in sql if name not in keys}
        then = f"UPDATE SET {', '.join(f'{name} = {new}' for name, new in changed.items())} WHERE {_WINS.get(table)}"
        # Rows selected by id have new ids, so any conflict is an error.
        conflict = (
            ""
            if _ADDED.format("id") in where
            else f"ON CONFLICT ({', '.join(keys)}) DO {then if table in _WINS else 'NOTHING'}"
        )
        chosen = {**sql, **{name: value.format_map(sql) for name, value in values.items()}}
        self._db.execute(
            f"INSERT INTO main.{table} ({', '.join(sql)}) SELECT {', '.join(chosen.values())} FROM src.{table} "
            f"WHERE {where.format_map(sql)} {conflict}",
            arguments,
        )

    # -- new ids

    def _name_runs(self) -> None:
        existing = {row["id"]: (row["kind"], row["created_at"]) for row in self._rows("main.runs")}
        mine: dict[str, Counter[str]] = {}
        for ours, theirs in self._db.execute(
            "SELECT main.tasks.run_id, src.tasks.run_id FROM src.tasks JOIN main.tasks USING (id)"
        ):
            mine.setdefault(theirs, Counter())[ours] += 1
        for row in self._rows("src.runs", "ORDER BY created_at, id"):
            key = row["id"]
            if existing.get(key) == (row["kind"], row["created_at"]):
                self._joined[key] = key  # the same run in a copy of the session
            elif key in mine:
                self._joined[key] = mine[key].most_common(1)[0][0]
            self._rename("runs", key, self._joined.get(key) or (run_id() if key in existing else key))

    def _name_anew(
        self,
        table: str,
        number: str,
        group: Sequence[str],
        is_same: Callable[[_Row, _Row], bool],
        identity: Callable[[_Row, int], str],
    ) -> None:
        """Select the rows to add.

        If the id of a row belongs to a different result, the row becomes the next repeat or sample of its group.
        """
        here = {row["id"]: row for row in self._rows(f"main.{table}")}
        # The trial of a reader agent has the identity of its candidate, so it is renamed with the candidate.
        own = "WHERE id NOT IN (SELECT id FROM src.candidates) " if table == "trials" else ""
        ours = self._rows(f"src.{table}", f"{own}ORDER BY rowid")
        used = here.keys() | {row["id"] for row in ours}
        most: Counter[tuple[object, ...]] = Counter()
        for row in (*here.values(), *ours):
            of = tuple(row[name] for name in group)
            most[of] = max(most[of], row[number])
        for row in sorted(ours, key=lambda row: int(row[number])):
            key, of = row["id"], tuple(row[name] for name in group)
            if key in here and is_same(here[key], row):
                continue
            self._db.execute("INSERT INTO temp.added VALUES (?)", (key,))
            if key not in here:
                continue
            new = key
            while new in used:
                most[of] += 1
                new = identity(row, most[of])
            used.add(new)
            self._rename(table, key, new, most[of])
            if table == "candidates":
                samples, asked = self._more.setdefault(row["run_id"], {}), (row["evaluator"], _version(row))
                samples[asked] = max(samples.get(asked, 0), most[of] + 1)

    def _name_trajectories(self) -> None:
        """Give the trials of reader agents the new ids of their candidates.

        They are added only if their candidates are.
        """
        of_candidates = (
            "SELECT old, new, number FROM temp.names WHERE kind = 'candidates' AND old IN (SELECT id FROM src.trials)"
        )
        for old, new, number in self._db.execute(of_candidates).fetchall():
            self._rename("trials", old, new, number)

    def _is_same_trial(self, mine: _Row, theirs: _Row) -> bool:
        if any(mine[name] != theirs[name] for name in mine if name not in {"run_id", "position"}):
            return False
        for table in ("steps", "accessed_files"):
            names = ", ".join(column.name for column in tables()[table] if column.name != "call_id")
            here, there = (f"SELECT {names} FROM {schema}.{table} WHERE trial_id = :id" for schema in ("main", "src"))
            for one, other in ((here, there), (there, here)):
                if self._db.execute(f"{one} EXCEPT {other} LIMIT 1", {"id": mine["id"]}).fetchone():
                    return False
        return True

    # -- rows with an identity

    def _add_runs(self) -> None:
        named = {row["name"] for row in self._rows("main.runs") if row["name"] is not None}
        for row in self._rows("src.runs", "ORDER BY created_at, id"):
            name = row["name"]
            if row["id"] not in self._joined:
                name = name and next(one for one in _possible_names(name, self._source) if one not in named)
                named.add(name)
            is_copy = self._joined.get(row["id"]) == row["id"]
            self._copy("runs", "id = :id", {"id": row["id"], "name": name, "is_copy": is_copy}, name=":name")

    def _add_calls(self) -> None:
        """Add model calls, except those that already exist for the same item."""
        names = [one.name for one in tables()["calls"] if one.name not in ("id", "run_id", "scope")]
        equal = " AND ".join(f"mine.{name} IS calls.{name}" for name in names)
        known = f"SELECT max(mine.id) FROM main.calls AS mine WHERE mine.scope = item_renamed(calls.scope) AND {equal}"
        before = last = self._db.execute("SELECT coalesce(max(id), 0) FROM main.calls").fetchone()[0]
        for old, new in self._db.execute(f"SELECT id, ({known}) FROM src.calls ORDER BY id").fetchall():
            last += new is None
            self._rename("calls", old, new or last)
        self._copy(
            "calls",
            "id IN (SELECT old FROM temp.names WHERE kind = 'calls' AND new > :last) ORDER BY id",
            {"last": before},
        )

    def _extend_plans(self) -> None:
        for old, new in self._joined.items():
            kind, theirs = self._db.execute("SELECT kind, config FROM src.runs WHERE id = ?", (old,)).fetchone()
            (mine,) = self._db.execute("SELECT config FROM main.runs WHERE id = ?", (new,)).fetchone()
            if kind in PLANS and (config := _joined_plan(kind, mine, theirs, self._more.get(old, {}))):
                self._db.execute("UPDATE main.runs SET config = ? WHERE id = ?", (config, new))

    def _add_studies(self) -> None:
        """Add studies; equal declarations are merged.

        If a different study has the same name, the name of its session is appended to it.
        """
        known = {row["name"]: settings_of(row["declaration"]) for row in self._rows("main.studies")}
        for row in self._rows("src.studies", "ORDER BY created_at, name"):
            declared = settings_of(row["declaration"])
            possible = _possible_names(row["name"], self._source)
            new = next(name for name in possible if known.get(name) in (None, {**declared, "name": name}))
            self._rename("studies", row["name"], new)
            known[new] = {**declared, "name": new}
            text = json.dumps(known[new], ensure_ascii=False, sort_keys=True)
            self._copy("studies", "name = :name", {"name": row["name"], "text": text}, declaration=":text")

    def _add_improvements(self) -> None:
        """Add orders to improve docstrings, with their attempts.

        If the order already exists because one session is a copy of the other, missing attempts are added to it and the
        more advanced state is used. If both copies continued independently and an attempt ended differently in each,
        the order is added a second time. An order is executed only in the session in which it was placed, so it is
        cancelled in the merged session.
        """
        apart = ("improvement_id", "task_id", "number", "run_id", "at")
        names = [one.name for one in tables()["docstring_attempts"] if one.name not in apart]
        known = (
            "SELECT id FROM main.improvements AS known WHERE plan = :plan AND created_at = :created_at AND NOT EXISTS (SELECT 1 "
            "FROM main.docstring_attempts AS mine JOIN src.docstring_attempts AS theirs USING (task_id, number) "
            f"WHERE mine.improvement_id = known.id AND theirs.improvement_id = :id AND mine.state IN {_OVER} "
            f"AND theirs.state IN {_OVER} AND ({' OR '.join(f'mine.{name} IS NOT theirs.{name}' for name in names)}))"
        )
        existing = {row["id"] for row in self._rows("main.improvements")}
        for row in self._rows("src.improvements", "ORDER BY created_at, id"):
            there = self._db.execute(known, row).fetchone()
            self._rename(
                "improvements", row["id"], there[0] if there else run_id() if row["id"] in existing else row["id"]
            )
            state = "CASE WHEN state IN ('queued', 'running') THEN 'cancelled' ELSE state END"
            self._copy("improvements", "id = :id", {"id": row["id"]}, state=state)
            self._copy("docstring_attempts", "improvement_id = :id", {"id": row["id"]})


def _possible_names(name: str, source: str) -> Iterator[str]:
    yield from (name, f"{name} ({source})")
    yield from (f"{name} ({source} {number})" for number in itertools.count(2))


def _version(row: _Row) -> str:
    return f"{row['prompt']}/{row['context']}" if row["prompt"] or row["context"] else ""


def _is_same_candidate(one: _Row, other: _Row) -> bool:
    """Return whether two rows with the same identity are the same result.

    Controls and readers without a model give the same answer in every session, so equal verdicts are merged.
    """
    if one["evaluator"] in READERS or one["control"]:
        return bool(one["verdict"] == other["verdict"])
    return all(one[name] == other[name] for name in one if name not in {"run_id", "call_id"})


def _joined_plan(kind: str, one: str, other: str, more: Mapping[tuple[str, str], int]) -> str:
    """Return a plan with candidates as JSON with the asks of both plans, or "" if one cannot be read.

    ``more`` maps an evaluator and prompt version to the number of samples that a task has once the other run's samples
    are numbered after those of the first; each ask of the other plan is raised to at least that number.
    """

    def raised(ask: Ask) -> Ask:
        samples = more.get((ask.evaluator, ask.prompt_version), 0)
        return replace(ask, samples=max(ask.samples, samples)) if ask.samples else ask

    try:
        mine, theirs = (read_candidate_plan(kind, text) for text in (one, other))
    except PlanDamaged:
        return ""
    asks = list(mine.asks)
    for ask in map(raised, theirs.asks):
        at = next((place for place, known in enumerate(asks) if same_but_samples(known, ask)), None)
        if at is None:
            asks.append(ask)
        elif asks[at].samples and (not ask.samples or ask.samples > asks[at].samples):
            asks[at] = ask
    accepted = [replace(each, ask=raised(each.ask)) for each in theirs.acceptances]
    plan = replace(
        mine,
        asks=tuple(asks),
        acceptances=(*mine.acceptances, *(each for each in accepted if each not in mine.acceptances)),
        k=tuple(sorted({*mine.k, *theirs.k})),
        permanent_failure=mine.permanent_failure and theirs.permanent_failure,
    )
    if isinstance(plan, UsagePlan) and isinstance(theirs, UsagePlan):
        plan = replace(plan, page_digests={**theirs.page_digests, **plan.page_digests})
    return as_text(plan)
