"""Adds the rows of one session, attached as ``src``, to another, ``main``: under the names they have, or new ones where those are taken."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from workbench.engine.merged_improvements import add_improvements
from workbench.engine.merged_plans import is_readable, joined_plan, joined_state, renamed_trials
from workbench.engine.merged_studies import add_studies
from workbench.session.groups import CONTROLS
from workbench.session.identity import candidate_id, run_id, trial_id
from workbench.session.labels import REMARKED
from workbench.session.rows import CandidateRow, RunRow, TaskRow, TrialRow, columns

COUNTED = (
    "runs", "trials", "steps", "scorecards", "tasks", "candidates", "annotations", "labels", "calls", "improvements",
    "docstring_attempts",
)  # fmt: skip
"""Tables whose rows are counted before and after."""
_JUDGED = "/"  # begins what stands behind an id in the scope of what a judge was asked


@dataclass(frozen=True, slots=True)
class Source:
    """A session that is added; ``name`` tells its runs from others of the same name."""

    name: str


@dataclass
class Tally:
    """By table: how many rows a source has, how many of them were added, and how many were there already."""

    name: str
    given: Counter[str] = field(default_factory=Counter)
    added: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)

    def count(self, table: str, added: int, equal: int) -> None:
        """Count rows that were added, and rows that were there."""
        self.added[table] += added
        self.equal[table] += equal


def add_source(connection: sqlite3.Connection, source: Source) -> Tally:
    """Add all rows of ``src`` to ``main``, within the caller's transaction."""
    return _Adding(connection, source).everything()


class _Adding:
    def __init__(self, connection: sqlite3.Connection, source: Source) -> None:
        self._db = connection
        self._source = source
        self._tally = Tally(source.name)
        self._runs: dict[str, str] = {}
        self._joined: dict[str, str] = {}
        self._trials: dict[str, str] = {}
        self._candidates: dict[str, str] = {}
        self._more: dict[str, dict[tuple[str, str], int]] = {}  # by run of the source: samples by evaluator and prompt

    def everything(self) -> Tally:
        for table in COUNTED:
            self._tally.given[table] = self._count(f"src.{table}")
        for table in ("blobs", "snapshots"):
            self._db.execute(f"INSERT OR IGNORE INTO main.{table} SELECT * FROM src.{table}")
        self._choose_runs()
        self._choose_trials()
        self._add_runs()
        self._add_tasks()
        self._choose_candidates()
        self._note_names()
        self._add_calls()
        self._add_trials()
        self._add_candidates()
        self._extend_plans()
        self._add_notes()
        add_studies(self._db, self._source.name, self._runs, self._trials)
        for table, counts in add_improvements(self._db, self._runs).items():
            self._tally.count(table, *counts)
        for table in ("names", "kept_trials", "kept_candidates", "call_names"):
            self._db.execute(f"DROP TABLE IF EXISTS temp.{table}")
        return self._tally

    # -- small things

    def _all(self, sql: str, arguments: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, arguments).fetchall()

    def _count(self, table: str) -> int:
        return int(self._all(f"SELECT count(*) FROM {table}")[0][0])

    def _names_of(self, table: str) -> set[str]:
        return {str(key) for (key,) in self._all(f"SELECT id FROM main.{table}")}

    def _insert(self, table: str, row: dict[str, object]) -> None:
        places = ", ".join("?" * len(row))
        self._db.execute(f"INSERT INTO main.{table} ({', '.join(row)}) VALUES ({places})", tuple(row.values()))

    def _rows(self, kind: Any, table: str, order: str) -> list[dict[str, Any]]:
        names = columns(kind).split(", ")
        return [dict(zip(names, row, strict=True)) for row in self._all(f"SELECT {columns(kind)} FROM {table} {order}")]

    # -- which names they get

    def _choose_runs(self) -> None:
        taken = {str(key): (kind, at) for key, kind, at in self._all("SELECT id, kind, created_at FROM main.runs")}
        tasks = dict(self._all("SELECT id, run_id FROM main.tasks"))
        mine: dict[str, Counter[str]] = {}
        for task, run in self._all("SELECT id, run_id FROM src.tasks"):
            if task in tasks:
                mine.setdefault(run, Counter())[tasks[task]] += 1
        for run in self._rows(RunRow, "src.runs", "ORDER BY created_at, id"):
            key = str(run["id"])
            if taken.get(key) == (run["kind"], run["created_at"]):
                self._joined[key] = self._runs[key] = key  # the same run, of a copy of the same session
            elif key in mine:
                self._joined[key] = self._runs[key] = mine[key].most_common(1)[0][0]
            else:
                self._runs[key] = run_id() if key in taken else key

    def _choose_trials(self) -> None:
        taken = self._names_of("trials")
        repeats: dict[tuple[object, ...], int] = {}
        for table in ("main.trials", "src.trials"):
            for *name, most in self._all(
                f"SELECT agent, model, case_id, content, max(repeat) FROM {table} GROUP BY 1, 2, 3, 4"
            ):
                repeats[tuple(name)] = max(repeats.get(tuple(name), 0), int(most))
        self._db.execute("CREATE TEMP TABLE kept_trials (id TEXT PRIMARY KEY)")
        self._repeats: dict[str, int] = {}
        used = taken | {str(key) for (key,) in self._all("SELECT id FROM src.trials")}
        for trial in self._rows(TrialRow, "src.trials", "ORDER BY run_id, position"):
            key = str(trial["id"])
            self._trials[key] = key
            if key not in taken:
                self._db.execute("INSERT INTO temp.kept_trials VALUES (?)", (key,))
            elif not self._same_trial(key):
                agent, model, case, content = (str(trial[of]) for of in ("agent", "model", "case_id", "content"))
                named = (agent, model, case, content)
                while True:
                    repeats[named] += 1
                    new = trial_id(agent, model, case, repeats[named], content)
                    if new not in used:
                        break
                used.add(new)
                self._trials[key], self._repeats[key] = new, repeats[named]
                self._db.execute("INSERT INTO temp.kept_trials VALUES (?)", (key,))

    def _same_trial(self, key: str) -> bool:
        """Return whether a trial of that name was recorded once: the same row, steps and files."""
        names = ", ".join(name for name in columns(TrialRow).split(", ") if name not in {"run_id", "position"})
        steps = ", ".join(
            name for (name,) in self._all("SELECT name FROM pragma_table_info('steps') WHERE name != 'call_id'")
        )
        for table, wanted, column in (("trials", names, "id"), ("steps", steps, "trial_id"), ("seen", "*", "trial_id")):
            here, there = (f"SELECT {wanted} FROM {schema}.{table} WHERE {column} = ?" for schema in ("main", "src"))
            if self._all(f"{here} EXCEPT {there} LIMIT 1", (key, key)) or self._all(
                f"{there} EXCEPT {here} LIMIT 1", (key, key)
            ):
                return False
        return True

    def _choose_candidates(self) -> None:
        self._db.execute("CREATE TEMP TABLE kept_candidates (id TEXT PRIMARY KEY)")
        here = {row["id"]: row for row in self._rows(CandidateRow, "main.candidates", "")}
        ours = self._rows(CandidateRow, "src.candidates", "ORDER BY task_id, evaluator, sample")
        used = here.keys() | {row["id"] for row in ours}
        most: dict[tuple[object, ...], int] = {}
        for row in (*here.values(), *ours):
            of = _asked(row)
            most[of] = max(most.get(of, 0), int(row["sample"]))
        self._samples: dict[str, int] = {}
        for row in ours:
            key = row["id"]
            self._candidates[key] = key
            if key not in here:
                self._db.execute("INSERT INTO temp.kept_candidates VALUES (?)", (key,))
                continue
            if _same_candidate(here[key], row):
                continue
            of = _asked(row)
            while True:
                most[of] += 1
                new = candidate_id(row["task_id"], row["evaluator"], _version(row), most[of])
                if new not in used:
                    break
            used.add(new)
            self._candidates[key], self._samples[key] = new, most[of]
            self._db.execute("INSERT INTO temp.kept_candidates VALUES (?)", (key,))
            wanted = self._more.setdefault(row["run_id"], {})
            group = (row["evaluator"], _version(row))
            wanted[group] = max(wanted.get(group, 0), most[of] + 1)

    def _note_names(self) -> None:
        self._db.execute("CREATE TEMP TABLE names (old TEXT PRIMARY KEY, new TEXT NOT NULL)")
        pairs = {**self._runs, **self._trials, **self._candidates}
        self._db.executemany("INSERT OR REPLACE INTO temp.names VALUES (?, ?)", pairs.items())

    # -- runs and tasks

    def _add_runs(self) -> None:
        named = {name for (name,) in self._all("SELECT name FROM main.runs WHERE name IS NOT NULL")}
        for run in self._rows(RunRow, "src.runs", "ORDER BY created_at, id"):
            key = str(run["id"])
            if key in self._joined:
                self._join_run(self._joined[key], run)
                self._tally.count("runs", 0, 1)
                continue
            name = run["name"]
            if name in named:
                name, number = f"{run['name']} ({self._source.name})", 2
                while name in named:
                    name, number = f"{run['name']} ({self._source.name} {number})", number + 1
            named.add(name)
            config = renamed_trials(run["config"], self._trials) if run["kind"] == "document" else run["config"]
            self._insert("runs", {**run, "id": self._runs[key], "name": name, "config": config})
            self._tally.count("runs", 1, 0)
        for old, new in self._runs.items():
            for table in ("dropped", "stages"):
                names = [
                    name
                    for (name,) in self._all(f"SELECT name FROM pragma_table_info('{table}') WHERE name != 'run_id'")
                ]
                self._db.execute(
                    f"INSERT OR IGNORE INTO main.{table} (run_id, {', '.join(names)}) "
                    f"SELECT ?, {', '.join(names)} FROM src.{table} WHERE run_id = ?",
                    (new, old),
                )
            self._db.execute(
                "INSERT INTO main.unused_tests (run_id, position, kind, test_id, why) SELECT ?1, "
                "(SELECT coalesce(max(position) + 1, 0) FROM main.unused_tests WHERE run_id = ?1) + row_number() OVER (ORDER BY position) - 1, "
                "kind, test_id, why FROM src.unused_tests AS theirs WHERE run_id = ?2 AND NOT EXISTS ("
                "SELECT 1 FROM main.unused_tests WHERE run_id = ?1 AND kind = theirs.kind AND test_id = theirs.test_id)",
                (new, old),
            )

    def _join_run(self, key: str, run: dict[str, Any]) -> None:
        names = "state, spend_usd, name, note, error, deleted_at, finished_at, started_at"
        mine = dict(
            zip(names.split(", "), self._all(f"SELECT {names} FROM main.runs WHERE id = ?", (key,))[0], strict=True)
        )
        state = joined_state(mine["state"], run["state"])
        both = run["id"] == key and mine["spend_usd"] == run["spend_usd"] and mine["finished_at"] == run["finished_at"]
        values = {
            "state": state,
            # The same spend at the same time is one and the same.
            "spend_usd": mine["spend_usd"]
            if both
            else max(mine["spend_usd"], run["spend_usd"])
            if run["id"] == key
            else mine["spend_usd"] + run["spend_usd"],
            "name": mine["name"] or run["name"],
            "note": mine["note"] or run["note"],
            "error": next((one["error"] for one in (mine, run) if one["state"] == state and one["error"]), None),
            # What counts in one of them counts.
            "deleted_at": mine["deleted_at"] and run["deleted_at"],
            "finished_at": max(filter(None, (mine["finished_at"], run["finished_at"])), default=None),
            "started_at": min(filter(None, (mine["started_at"], run["started_at"])), default=None),
        }
        changed = ", ".join(f"{name} = ?" for name in values)
        self._db.execute(f"UPDATE main.runs SET {changed} WHERE id = ?", (*values.values(), key))

    def _add_tasks(self) -> None:
        known = dict(self._all("SELECT id, state FROM main.tasks"))
        last = dict(self._all("SELECT run_id, max(position) FROM main.tasks GROUP BY run_id"))
        for task in self._rows(TaskRow, "src.tasks", "ORDER BY run_id, position"):
            if task["id"] in known:
                if task["state"] == "excluded" and known[task["id"]] == "ready":
                    # Controls that contradict a task do so wherever they were tested.
                    self._db.execute(
                        "UPDATE main.tasks SET state = 'excluded', reason = ? WHERE id = ?",
                        (task["reason"], task["id"]),
                    )
                self._tally.count("tasks", 0, 1)
                continue
            run = self._runs[task["run_id"]]
            if task["run_id"] in self._joined:
                last[run] = last.get(run, -1) + 1
                task["position"] = last[run]
            self._insert("tasks", {**task, "run_id": run})
            self._tally.count("tasks", 1, 0)

    def _extend_plans(self) -> None:
        for old, new in self._joined.items():
            theirs = self._all("SELECT kind, config FROM src.runs WHERE id = ?", (old,))[0]
            (mine,) = self._all("SELECT config FROM main.runs WHERE id = ?", (new,))[0]
            if theirs[0] == "regenerate" and is_readable(mine) and is_readable(theirs[1]):
                config = joined_plan(mine, theirs[1], self._more.get(old, {}))
                self._db.execute("UPDATE main.runs SET config = ? WHERE id = ?", (config, new))

    # -- what hangs on them

    def _add_calls(self) -> None:
        """Add what was asked of models; a call that is there under the name of its item is the same one."""
        names = [
            name
            for (name,) in self._all(
                "SELECT name FROM pragma_table_info('calls') WHERE name NOT IN ('id', 'run_id', 'scope')"
            )
        ]
        told = ", ".join(names)
        known = {tuple(row[1:]): row[0] for row in self._all(f"SELECT id, scope, {told} FROM main.calls")}
        self._db.execute("CREATE TEMP TABLE call_names (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
        of = {**self._trials, **self._candidates}
        added = equal = 0
        for key, run, scope, *rest in self._all(f"SELECT id, run_id, scope, {told} FROM src.calls ORDER BY id"):
            item, mark, judged = str(scope).partition(_JUDGED)
            mapped = of.get(item, item) + mark + judged
            new = known.get((mapped, *rest))
            if new is None:
                row = {"run_id": self._runs.get(run, run), "scope": mapped, **dict(zip(names, rest, strict=True))}
                self._insert("calls", row)
                new = self._all("SELECT last_insert_rowid()")[0][0]
                added += 1
            else:
                equal += 1
            self._db.execute("INSERT INTO temp.call_names VALUES (?, ?)", (key, new))
        self._tally.count("calls", added, equal)

    def _add_trials(self) -> None:
        last = dict(self._all("SELECT run_id, max(position) FROM main.trials GROUP BY run_id"))
        kept = {key for (key,) in self._all("SELECT id FROM temp.kept_trials")}
        for trial in self._rows(TrialRow, "src.trials", "ORDER BY run_id, position"):
            if trial["id"] not in kept:
                self._tally.count("trials", 0, 1)
                continue
            run = self._runs[trial["run_id"]]
            if trial["run_id"] in self._joined:
                last[run] = last.get(run, -1) + 1
                trial["position"] = last[run]
            new = {
                "id": self._trials[trial["id"]],
                "run_id": run,
                "repeat": self._repeats.get(trial["id"], trial["repeat"]),
            }
            self._insert("trials", {**trial, **new})
            self._tally.count("trials", 1, 0)
        self._copy("imported", "item", "kept_trials")
        self._copy("steps", "trial_id", "kept_trials")
        self._copy("seen", "trial_id", "kept_trials")
        # Of two cards by one rubric and judge the later one counts, as where a session is scored again.
        before = self._count("main.scorecards")
        self._db.execute(
            "INSERT INTO main.scorecards SELECT (SELECT new FROM temp.names WHERE old = trial_id), "
            f"{self._others('scorecards', 'trial_id')} FROM src.scorecards WHERE true ON CONFLICT (trial_id, rubric, judge) DO UPDATE SET "
            + ", ".join(f"{name} = excluded.{name}" for name in self._others("scorecards", "trial_id").split(", "))
            + " WHERE excluded.at > scorecards.at"
        )
        self._db.execute(
            "INSERT OR IGNORE INTO main.checks SELECT (SELECT new FROM temp.names WHERE old = trial_id), "
            f"{self._others('checks', 'trial_id')} FROM src.checks WHERE state = 'done'"
        )
        added = self._count("main.scorecards") - before
        self._tally.count("scorecards", added, self._tally.given["scorecards"] - added)

    def _add_candidates(self) -> None:
        kept = {key for (key,) in self._all("SELECT id FROM temp.kept_candidates")}
        calls = dict(self._all("SELECT old, new FROM temp.call_names"))
        runs = dict(self._all("SELECT id, run_id FROM main.tasks"))
        for row in self._rows(CandidateRow, "src.candidates", "ORDER BY rowid"):
            if row["id"] not in kept:
                self._tally.count("candidates", 0, 1)
                continue
            key = row["id"]
            new = {
                "id": self._candidates[key],
                "run_id": runs.get(row["task_id"], self._runs[row["run_id"]]),
                "sample": self._samples.get(key, row["sample"]),
                "call_id": calls.get(row["call_id"]),
            }
            self._insert("candidates", {**row, **new})
            self._tally.count("candidates", 1, 0)
        self._copy("imported", "item", "kept_candidates")
        # Tasks and whole files have the same names everywhere.
        self._db.execute(
            "INSERT OR IGNORE INTO main.imported SELECT * FROM src.imported WHERE item LIKE 'file:%' OR item IN (SELECT id FROM main.tasks)"
        )
        self._copy("failing_tests", "candidate_id", "kept_candidates")
        self._copy("former_verdicts", "candidate_id", "kept_candidates")

    def _others(self, table: str, key: str) -> str:
        return ", ".join(
            name for (name,) in self._all(f"SELECT name FROM pragma_table_info('{table}') WHERE name != '{key}'")
        )

    def _copy(self, table: str, key: str, kept: str) -> None:
        """Add the rows of what was added, under its new name."""
        others = self._others(table, key)
        values = others.replace("call_id", "(SELECT new FROM temp.call_names WHERE old = call_id)")
        self._db.execute(
            f"INSERT INTO main.{table} ({key}, {others}) SELECT (SELECT new FROM temp.names WHERE old = {key}), {values} "
            f"FROM src.{table} WHERE {key} IN (SELECT id FROM temp.{kept})"
        )
        if table == "steps":
            added = int(
                self._all(f"SELECT count(*) FROM src.steps WHERE trial_id IN (SELECT id FROM temp.{kept})")[0][0]
            )
            self._tally.count("steps", added, self._tally.given["steps"] - added)

    def _add_notes(self) -> None:
        item = "coalesce((SELECT new FROM temp.names WHERE old = item), item)"
        before = self._count("main.annotations")
        # A remark on a criterion is kept under its trial's name with the criterion behind it.
        self._db.execute(
            "WITH theirs AS (SELECT id, step, text, at, coalesce((SELECT new FROM temp.names WHERE old = owner) "
            f"|| substr(item, length(owner) + 1), item) AS under FROM (SELECT *, {REMARKED} AS owner FROM src.annotations)) "
            "INSERT INTO main.annotations (item, step, text, at) SELECT under, step, text, at FROM theirs "
            "WHERE NOT EXISTS (SELECT 1 FROM main.annotations AS known WHERE known.step IS theirs.step AND known.text = theirs.text "
            "AND known.at = theirs.at AND known.item = under) ORDER BY id"
        )
        added = self._count("main.annotations") - before
        self._tally.count("annotations", added, self._tally.given["annotations"] - added)
        before = self._count("main.labels")
        # Of a label that was given here and taken away there, what was done last counts.
        self._db.execute(
            f"INSERT INTO main.labels (item, part, label, at, removed_at) SELECT {item}, part, label, at, removed_at FROM src.labels "
            "WHERE true ON CONFLICT (item, part, label) DO UPDATE SET at = excluded.at, removed_at = excluded.removed_at "
            "WHERE coalesce(excluded.removed_at, excluded.at) > coalesce(labels.removed_at, labels.at)"
        )
        added = self._count("main.labels") - before
        self._tally.count("labels", added, self._tally.given["labels"] - added)


def _version(row: dict[str, Any]) -> str:
    return f"{row['prompt']}/{row['context']}" if row["prompt"] else ""


def _asked(row: dict[str, Any]) -> tuple[object, ...]:
    return row["task_id"], row["evaluator"], row["prompt"], row["context"]


def _same_candidate(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two rows of one identity are one result; a control that came out the same way needs to be there once."""
    if one["evaluator"] in CONTROLS or one["control"]:
        return bool(one["verdict"] == other["verdict"])
    apart = {"run_id", "call_id"}
    return all(one[name] == other[name] for name in one if name not in apart)
