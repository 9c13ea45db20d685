"""Adds the rows of one session, attached as ``src``, to another, ``main``: under the names they have, or new ones where those are taken.

What has an identity (runs, trials, candidates, calls, studies, orders) gets its name first. All other rows follow by what their
columns refer to, see :data:`_REFERS`.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.plans.arguments import PlanDamaged
from workbench.plans.plan import Ask, RegenerationPlan, as_text, same_but_samples
from workbench.session.groups import CONTROLS, settings_of
from workbench.session.identity import candidate_id, run_id, trial_id
from workbench.session.labels import REMARKED

COUNTED = (
    "runs", "trials", "steps", "scorecards", "tasks", "candidates", "annotations", "labels", "calls", "improvements",
    "docstring_attempts",
)  # fmt: skip
"""Tables whose rows are counted before and after."""

_REFERS = {
    "run_id": "runs", "now_run": "runs", "trial_id": "trials", "parent": "trials", "candidate_id": "candidates", "call_id": "calls",
    "study": "studies", "improvement_id": "improvements",
}  # fmt: skip
# A remark on a criterion stands under its trial's name with the criterion behind it.
_ITEM = (
    "coalesce((SELECT names.new FROM temp.names AS names WHERE names.kind IN ('runs', 'trials', 'candidates') "
    f"AND names.old = {REMARKED}) || substr(item, length({REMARKED}) + 1), item)"
)
_OF_ADDED = "{} IN (SELECT old FROM temp.added)"
_OVER = "('refused', 'kept')"  # states of an attempt that came to its end
_FURTHER = "instr('cancelled failed done', {})"  # states of an order that nobody executes, that which lacks least last
_WEIGHT = ("running", "queued", "failed", "cancelled", "done")  # states of a run, that in which most is missing first

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tally:
    """By table: how many rows a source has, how many of them were added, and how many were there already."""

    name: str
    given: Mapping[str, int]
    added: Mapping[str, int]
    equal: Mapping[str, int]


def add_source(connection: sqlite3.Connection, source: str) -> Tally:
    """Add all rows of ``src`` to ``main``, within the caller's transaction; ``source`` tells its runs from others of the same name."""
    adding = _Adding(connection, source)
    given, before = adding.counts("src"), adding.counts("main")
    adding.add()
    after = adding.counts("main")
    added = {table: after[table] - before[table] for table in COUNTED}
    decided = ("runs", "trials", "tasks", "candidates", "calls", "improvements")
    equal = {table: adding.equal[table] if table in decided else given[table] - added[table] for table in COUNTED}
    return Tally(source, given, added, equal)


class _Adding:
    def __init__(self, connection: sqlite3.Connection, source: str) -> None:
        self.equal: Counter[str] = Counter()  # by table whose rows are looked at one by one
        self._db = connection
        self._source = source
        self._names: dict[str, dict[Any, Any]] = {kind: {} for kind in _REFERS.values()}
        self._joined: dict[str, str] = {}
        self._more: dict[str, dict[tuple[str, str], int]] = {}  # by run of the source: samples by evaluator and prompt

    def add(self) -> None:
        self._db.execute("CREATE TEMP TABLE names (kind, old, new, PRIMARY KEY (kind, old))")
        self._db.execute("CREATE TEMP TABLE added (old PRIMARY KEY)")
        self._db.create_function("with_trials_renamed", 1, self._with_trials_renamed)
        for table in ("blobs", "snapshots"):
            self._copy(table)
        self._name_runs()
        trials = self._named_anew(
            "trials", "run_id, position", "repeat", ("agent", "model", "case_id", "content"), self._is_same_trial,
            lambda row, repeat: trial_id(row["agent"], row["model"], row["case_id"], repeat, row["content"]),
        )  # fmt: skip
        candidates = self._named_anew(
            "candidates", "rowid", "sample", ("task_id", "evaluator", "prompt", "context"), _is_same_candidate,
            lambda row, sample: candidate_id(row["task_id"], row["evaluator"], _version(row), sample),
        )  # fmt: skip
        self._add_runs()
        self._add_tasks()
        self._add_calls()
        self._add_placed("trials", trials)
        runs = dict(self._db.execute("SELECT id, run_id FROM main.tasks"))
        for row in candidates:
            self._insert("candidates", {**row, "run_id": runs.get(row["task_id"], self._new("runs", row["run_id"]))})
        self._extend_plans()
        self._add_dependents()
        self._add_studies()
        self._add_improvements()
        for table in ("names", "added"):
            self._db.execute(f"DROP TABLE temp.{table}")

    # -- small things

    def counts(self, schema: str) -> dict[str, int]:
        return {table: self._db.execute(f"SELECT count(*) FROM {schema}.{table}").fetchone()[0] for table in COUNTED}

    def _columns(self, table: str, *, keys: bool = False) -> list[str]:
        wanted = "SELECT name FROM pragma_table_info(?, 'main')" + (" WHERE pk > 0" if keys else "")
        return [name for (name,) in self._db.execute(wanted, (table,))]

    def _rows(self, table: str, rest: str = "", arguments: Sequence[object] = ()) -> list[_Row]:
        names = self._columns(table.partition(".")[2])
        found = self._db.execute(f"SELECT {', '.join(names)} FROM {table} {rest}", arguments)
        return [dict(zip(names, row, strict=True)) for row in found]

    def _insert(self, table: str, row: _Row) -> None:
        row = {name: self._new(_REFERS[name], value) if name in _REFERS else value for name, value in row.items()}
        places = ", ".join("?" * len(row))
        self._db.execute(f"INSERT INTO main.{table} ({', '.join(row)}) VALUES ({places})", tuple(row.values()))

    def _new(self, kind: str, old: Any) -> Any:
        return self._names[kind].get(old, None if kind == "calls" else old)

    def _rename(self, kind: str, old: Any, new: Any) -> None:
        if new != old or kind == "calls":
            self._names[kind][old] = new
            self._db.execute("INSERT INTO temp.names VALUES (?, ?, ?)", (kind, old, new))

    def _with_trials_renamed(self, text: str) -> str:
        """Return the JSON text of an object with the trials that it names under their new names."""
        values = settings_of(text)
        if not isinstance(listed := values.get("trials"), list):
            return text
        trials = [self._new("trials", one) if isinstance(one, str) else one for one in listed]
        return (
            text if trials == listed else json.dumps({**values, "trials": trials}, ensure_ascii=False, sort_keys=True)
        )

    def _renamed(self, column: str) -> str:
        if column == "item":
            return _ITEM
        if (kind := _REFERS.get(column)) is None:
            return column
        found = f"SELECT names.new FROM temp.names AS names WHERE names.kind = '{kind}' AND names.old = {column}"
        return f"({found})" if kind == "calls" else f"coalesce(({found}), {column})"

    def _copy(
        self, table: str, where: str = "true", wins: str = "", arguments: Sequence[object] = (), **values: str
    ) -> None:
        """Add rows; one whose key is there already stays out, unless it ``wins``. ``values`` are SQL for columns that are not just renamed."""
        names, keys = self._columns(table), self._columns(table, keys=True)
        chosen = ", ".join(values.get(name) or self._renamed(name) for name in names)
        changed = ", ".join(f"{name} = excluded.{name}" for name in names if name not in keys)
        self._db.execute(
            f"INSERT INTO main.{table} ({', '.join(names)}) SELECT {chosen} FROM src.{table} WHERE {where} "
            f"ON CONFLICT ({', '.join(keys)}) DO {f'UPDATE SET {changed} WHERE {wins}' if wins else 'NOTHING'}",
            arguments,
        )

    # -- which names they get

    def _name_runs(self) -> None:
        taken = {row["id"]: (row["kind"], row["created_at"]) for row in self._rows("main.runs")}
        tasks = dict(self._db.execute("SELECT id, run_id FROM main.tasks"))
        mine: dict[str, Counter[str]] = {}
        for task, run in self._db.execute("SELECT id, run_id FROM src.tasks"):
            if task in tasks:
                mine.setdefault(run, Counter())[tasks[task]] += 1
        for row in self._rows("src.runs", "ORDER BY created_at, id"):
            key = row["id"]
            if taken.get(key) == (row["kind"], row["created_at"]):
                self._joined[key] = key  # the same run, of a copy of the same session
            elif key in mine:
                self._joined[key] = mine[key].most_common(1)[0][0]
            self._rename("runs", key, self._joined.get(key) or (run_id() if key in taken else key))

    def _named_anew(
        self,
        table: str,
        order: str,
        number: str,
        group: Sequence[str],
        is_same: Callable[[_Row, _Row], bool],
        identity: Callable[[_Row, int], str],
    ) -> list[_Row]:
        """Return the rows that are to be added; what has a taken name is the next repeat or sample of its group, unless it is the same."""
        here = {row["id"]: row for row in self._rows(f"main.{table}")}
        ours = self._rows(f"src.{table}", f"ORDER BY {order}")
        used = here.keys() | {row["id"] for row in ours}
        most: Counter[tuple[object, ...]] = Counter()
        for row in (*here.values(), *ours):
            of = tuple(row[name] for name in group)
            most[of] = max(most[of], row[number])
        same = set()
        for row in sorted(ours, key=lambda row: int(row[number])):
            key, of = row["id"], tuple(row[name] for name in group)
            if key in here and is_same(here[key], row):
                same.add(key)
                continue
            self._db.execute("INSERT INTO temp.added VALUES (?)", (key,))
            if key not in here:
                continue
            while row["id"] in used:
                most[of] += 1
                row["id"] = identity(row, most[of])
            used.add(row["id"])
            row[number] = most[of]
            self._rename(table, key, row["id"])
            if table == "candidates":
                wanted, asked = self._more.setdefault(row["run_id"], {}), (row["evaluator"], _version(row))
                wanted[asked] = max(wanted.get(asked, 0), most[of] + 1)
        self.equal[table] = len(same)
        return [row for row in ours if row["id"] not in same]

    def _is_same_trial(self, mine: _Row, theirs: _Row) -> bool:
        if any(mine[name] != theirs[name] for name in mine if name not in {"run_id", "position"}):
            return False
        for table in ("steps", "seen"):
            names = ", ".join(name for name in self._columns(table) if name != "call_id")
            here, there = (f"SELECT {names} FROM {schema}.{table} WHERE trial_id = :id" for schema in ("main", "src"))
            for one, other in ((here, there), (there, here)):
                if self._db.execute(f"{one} EXCEPT {other} LIMIT 1", {"id": mine["id"]}).fetchone():
                    return False
        return True

    # -- rows that are looked at one by one

    def _add_runs(self) -> None:
        named = {row["name"] for row in self._rows("main.runs") if row["name"] is not None}
        for row in self._rows("src.runs", "ORDER BY created_at, id"):
            if row["id"] in self._joined:
                self._join_run(self._joined[row["id"]], row)
                self.equal["runs"] += 1
                continue
            name = row["name"] and next(one for one in _possible_names(row["name"], self._source) if one not in named)
            named.add(name)
            config = self._with_trials_renamed(row["config"]) if row["kind"] == "document" else row["config"]
            self._insert("runs", {**row, "id": self._new("runs", row["id"]), "name": name, "config": config})

    def _join_run(self, key: str, theirs: _Row) -> None:
        (mine,) = self._rows("main.runs", "WHERE id = ?", (key,))
        # That in which more is missing.
        state = min(mine["state"], theirs["state"], key=_WEIGHT.index)
        spent = (mine["spend_usd"], theirs["spend_usd"])
        values = {
            "state": state,
            # What one and the same run has spent, a copy of it has spent as well.
            "spend_usd": max(spent) if theirs["id"] == key else sum(spent),
            "name": mine["name"] or theirs["name"],
            "note": mine["note"] or theirs["note"],
            "error": next((one["error"] for one in (mine, theirs) if one["state"] == state and one["error"]), None),
            # What counts in one of them counts.
            "deleted_at": mine["deleted_at"] and theirs["deleted_at"],
            "finished_at": max(filter(None, (mine["finished_at"], theirs["finished_at"])), default=None),
            "started_at": min(filter(None, (mine["started_at"], theirs["started_at"])), default=None),
        }
        changed = ", ".join(f"{name} = ?" for name in values)
        self._db.execute(f"UPDATE main.runs SET {changed} WHERE id = ?", (*values.values(), key))

    def _add_tasks(self) -> None:
        known = dict(self._db.execute("SELECT id, state FROM main.tasks"))
        rows = self._rows("src.tasks", "ORDER BY run_id, position")
        for row in rows:
            if row["state"] == "excluded" and known.get(row["id"]) == "ready":
                # Controls that contradict a task do so wherever they were tested.
                excluded = "UPDATE main.tasks SET state = 'excluded', reason = ? WHERE id = ?"
                self._db.execute(excluded, (row["reason"], row["id"]))
        new = [row for row in rows if row["id"] not in known]
        self.equal["tasks"] = len(rows) - len(new)
        self._add_placed("tasks", new)

    def _add_placed(self, table: str, rows: Sequence[_Row]) -> None:
        """Add rows with a place in their run: in one that was there, behind those that it has."""
        last = dict(self._db.execute(f"SELECT run_id, max(position) FROM main.{table} GROUP BY run_id"))
        for row in rows:
            if row["run_id"] in self._joined:
                run = self._joined[row["run_id"]]
                last[run] = row["position"] = last.get(run, -1) + 1
            self._insert(table, row)

    def _add_calls(self) -> None:
        """Add what was asked of models; a call that is there under the name of its item is the same one."""
        apart = {"id", "run_id", "scope"}
        known = {
            (row["scope"], *(value for name, value in row.items() if name not in apart)): row["id"]
            for row in self._rows("main.calls")
        }
        for row in self._rows("src.calls", "ORDER BY id"):
            key = row.pop("id")
            item, *judged = str(row["scope"]).partition("/")  # what a judge was asked has something behind the id
            row["scope"] = "".join((self._new("trials", self._new("candidates", item)), *judged))
            new = known.get((row["scope"], *(value for name, value in row.items() if name not in apart)))
            if new is None:
                self._insert("calls", row)
                new = self._db.execute("SELECT last_insert_rowid()").fetchone()[0]
            else:
                self.equal["calls"] += 1
            self._rename("calls", key, new)

    def _extend_plans(self) -> None:
        for old, new in self._joined.items():
            kind, theirs = self._db.execute("SELECT kind, config FROM src.runs WHERE id = ?", (old,)).fetchone()
            (mine,) = self._db.execute("SELECT config FROM main.runs WHERE id = ?", (new,)).fetchone()
            if kind == "regenerate" and (config := _joined_plan(mine, theirs, self._more.get(old, {}))):
                self._db.execute("UPDATE main.runs SET config = ? WHERE id = ?", (config, new))

    # -- what hangs on them

    def _add_dependents(self) -> None:
        for table in ("dropped", "stages"):
            self._copy(table)
        run = self._renamed("run_id")
        self._copy(
            "unused_tests",
            f"NOT EXISTS (SELECT 1 FROM main.unused_tests AS known WHERE known.run_id = {run} AND known.kind = unused_tests.kind "
            "AND known.test_id = unused_tests.test_id)",
            position=f"(SELECT coalesce(max(position) + 1, 0) FROM main.unused_tests AS known WHERE known.run_id = {run}) "
            "+ row_number() OVER (PARTITION BY run_id ORDER BY position) - 1",
        )
        for table, column in (("steps", "trial_id"), ("seen", "trial_id"), ("failing_tests", "candidate_id"),
                              ("former_verdicts", "candidate_id")):  # fmt: skip
            self._copy(table, _OF_ADDED.format(column))
        # Tasks and whole files have the same names everywhere.
        everywhere = "item LIKE 'file:%' OR item IN (SELECT id FROM main.tasks)"
        self._copy("imported", f"{_OF_ADDED.format('item')} OR {everywhere}")
        # Of two cards by one rubric and judge the later one counts, as where a session is scored again.
        self._copy("scorecards", wins="excluded.at > scorecards.at")
        self._copy("checks", "state = 'done'")
        self._copy(
            "annotations",
            "NOT EXISTS (SELECT 1 FROM main.annotations AS known WHERE known.step IS annotations.step "
            f"AND known.text = annotations.text AND known.at = annotations.at AND known.item = {_ITEM}) ORDER BY id",
            id="NULL",
        )
        # Of a label that was given here and taken away there, what was done last counts.
        last = "coalesce({0}.removed_at, {0}.at)"
        self._copy("labels", wins=f"{last.format('excluded')} > {last.format('labels')}")

    def _add_studies(self) -> None:
        """Add studies: one that is declared alike is there once, one of the same name gets that of its session behind its own."""
        known = {row["name"]: settings_of(row["declaration"]) for row in self._rows("main.studies")}
        for row in self._rows("src.studies", "ORDER BY created_at, name"):
            declared = settings_of(row["declaration"])
            possible = _possible_names(row["name"], self._source)
            new = next(name for name in possible if known.get(name) in (None, {**declared, "name": name}))
            self._rename("studies", row["name"], new)
            if new not in known:
                known[new] = {**declared, "name": new}
                text = json.dumps(known[new], ensure_ascii=False, sort_keys=True)
                self._insert("studies", {**row, "name": new, "declaration": text})
        # A cell that could not be planned here may have been planned there.
        wins = "study_cells.problem IS NOT NULL AND excluded.problem IS NULL"
        self._copy("study_cells", wins=wins, pointer="with_trials_renamed(pointer)")

    def _add_improvements(self) -> None:
        """Add orders to improve docstrings with what was tried for them.

        An order that is there, of a copy of the same session, gets the attempts that it lacks, and stands as where it came further.
        Where both copies went on by themselves and an attempt came to another end in each, the order is there twice. Whoever
        executes an order does so in the session that it was ordered into: here it is cancelled.
        """
        apart = ("improvement_id", "task_id", "number", "run_id", "at")
        differs = " OR ".join(
            f"mine.{name} IS NOT theirs.{name}" for name in self._columns("docstring_attempts") if name not in apart
        )
        known = (
            "SELECT id FROM main.improvements AS known WHERE plan = ? AND created_at = ? AND NOT EXISTS (SELECT 1 FROM "
            "main.docstring_attempts AS mine JOIN src.docstring_attempts AS theirs USING (task_id, number) "
            f"WHERE mine.improvement_id = known.id AND theirs.improvement_id = ? AND mine.state IN {_OVER} "
            f"AND theirs.state IN {_OVER} AND ({differs}))"
        )
        further = f"{_FURTHER.format('excluded.state')} > {_FURTHER.format('improvements.state')}"
        newer = f"excluded.state IN {_OVER} OR excluded.at > docstring_attempts.at"
        for row in self._rows("src.improvements", "ORDER BY created_at, id"):
            key = row["id"]
            there = self._db.execute(known, (row["plan"], row["created_at"], key)).fetchone()
            taken = self._rows("main.improvements", "WHERE id = ?", (key,))
            new = there[0] if there else run_id() if taken else key
            self.equal["improvements"] += there is not None
            self._rename("improvements", key, new)
            self._copy(
                "improvements", "id = ?", f"{further} OR improvements.run_id IS NULL", (key,), id=f"'{new}'",
                state="CASE WHEN state IN ('queued', 'running') THEN 'cancelled' ELSE state END",
            )  # fmt: skip
            undone = f"docstring_attempts.state NOT IN {_OVER} AND ({newer})"
            self._copy("docstring_attempts", "improvement_id = ?", undone, (key,))


def _possible_names(name: str, source: str) -> Iterator[str]:
    yield from (name, f"{name} ({source})")
    yield from (f"{name} ({source} {number})" for number in itertools.count(2))


def _version(row: _Row) -> str:
    return f"{row['prompt']}/{row['context']}" if row["prompt"] else ""


def _is_same_candidate(one: _Row, other: _Row) -> bool:
    """Return whether two rows of one identity are one result; a control that came out the same way needs to be there once."""
    if one["evaluator"] in CONTROLS or one["control"]:
        return bool(one["verdict"] == other["verdict"])
    return all(one[name] == other[name] for name in one if name not in {"run_id", "call_id"})


def _joined_plan(one: str, other: str, more: Mapping[tuple[str, str], int]) -> str:
    """Return the JSON text of a regeneration plan that asks for all that two plans ask for, "" where one cannot be read.

    ``more`` says by evaluator and prompt version how many samples a task has once the other run's samples count on from those of the
    first; each ask of the other plan is for at least as many.
    """

    def raised(ask: Ask) -> Ask:
        wanted = more.get((ask.evaluator, ask.prompt_version), 0)
        return replace(ask, samples=max(ask.samples, wanted)) if ask.samples else ask

    try:
        mine, theirs = RegenerationPlan.from_json(one), RegenerationPlan.from_json(other)
    except PlanDamaged:
        return ""
    asks = list(mine.asks)
    for ask in map(raised, theirs.asks):
        at = next((place for place, known in enumerate(asks) if same_but_samples(known, ask)), None)
        if at is None:
            asks.append(ask)
        elif asks[at].samples and (not ask.samples or ask.samples > asks[at].samples):
            asks[at] = ask
    taken = [replace(each, ask=raised(each.ask)) for each in theirs.acceptances]
    plan = replace(
        mine,
        asks=tuple(asks),
        acceptances=(*mine.acceptances, *(each for each in taken if each not in mine.acceptances)),
        k=tuple(sorted({*mine.k, *theirs.k})),
        lasting=mine.lasting and theirs.lasting,
    )
    return as_text(plan)
