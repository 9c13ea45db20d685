"""Ask for regeneration runs: plan them, let them grow, run parts of them again. Cheap to import."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.engine.client import WarmEngine, launch, resolve_session
from workbench.engine.plan import Ask, RegenerationPlan
from workbench.engine.selection import matches, row_id
from workbench.errors import UsageError
from workbench.session import SessionReader, SessionWriter, create
from workbench.session.identity import run_id
from workbench.session.rows import CandidateRow, RunRow, TaskRow

DEFAULT_SAMPLES = 3
CONTROLS = ("reference", "stub")
SANDBOXES = ("bubblewrap", "docker", "process")
#: Names the engine that tests on this machine, where a setting names a cluster.
HERE = "local"


def plan_regeneration(session: Path, plan: RegenerationPlan) -> str:
    """Write a regeneration run into a session (created if missing) and return the run's id.

    A session that has a run on the same source and doc system gets no second one: that run grows by what is asked for,
    and what it has stays. So ten samples after five keep the five, and another evaluator works on the same tasks.

    Raises:
        UsageError: The source, doc system or evaluator is unknown, or a number makes no sense.
        SessionError: The session cannot be written.
    """
    plan = resolved(plan)
    if not session.exists():
        create(session)
    with SessionReader(session) as reader:
        old = next((run for run in reversed(reader.runs()) if _same_work(run, plan)), None)
    with SessionWriter(session) as writer, writer.transaction():
        if old is None:
            key = run_id()
            writer.add_run(key, "regenerate", replace(plan, asks=_grown((), plan.asks)).to_json())
            return key
        _grow(writer, old.id, plan)
    return old.id


def resolved(plan: RegenerationPlan) -> RegenerationPlan:
    """Return the plan with this machine's defaults written out, so that a resumed run does the same anywhere.

    Raises:
        UsageError: See :func:`plan_regeneration`.
    """
    from workbench.catalog import resolve_case
    from workbench.settings import load

    if plan.samples < 0 or plan.limit < 0:
        raise UsageError("The numbers of samples and tasks must not be negative.")
    if not plan.k or any(k < 1 for k in plan.k):
        raise UsageError("k must be 1 or more, for example --k 1,3.")
    if plan.sandbox and plan.sandbox not in SANDBOXES:
        raise UsageError(f"There is no sandbox called {plan.sandbox!r}; choose from {', '.join(SANDBOXES)}.")
    resolve_case(plan.source)
    ask = _ask(plan)
    return replace(
        plan,
        source=_absolute_source(plan.source),
        docs=_absolute_docs(plan.docs.strip()),
        evaluator=ask.evaluator,
        samples=ask.samples,
        prompt=ask.prompt,
        context=ask.context,
        k=tuple(sorted(set(plan.k))),
        spend_limit=plan.spend_limit or load().spend_limit,
        asks=(ask,),
        engine=_engine(plan.engine or load().engine),
    )


def _engine(text: str) -> str:
    if text in ("", HERE):
        return ""
    from workbench.cluster import dask_address

    dask_address(text)
    return text.strip()


def _ask(plan: RegenerationPlan) -> Ask:
    from workbench.models.defaults import default_model
    from workbench.settings import load

    evaluator = plan.evaluator or load().evaluator or default_model("evaluator")
    base = Ask(evaluator, plan.samples or DEFAULT_SAMPLES, plan.tasks, plan.limit)
    if evaluator in CONTROLS:
        return replace(base, samples=plan.samples or 1)
    if evaluator.startswith("samples:"):
        from workbench.engine.samples import read_samples

        path = Path(evaluator.removeprefix("samples:")).expanduser().absolute()
        read_samples(path)
        return replace(base, evaluator=f"samples:{path}", samples=plan.samples)
    if evaluator.startswith("replay:"):
        return _replayed(base, evaluator, plan)
    return _worded(base, plan.prompt, plan.context)


def _with_key(model: str) -> None:
    """Refuse a model whose key is missing before a repository is fetched and its suite run for it."""
    from workbench.models.defaults import missing_key
    from workbench.settings import load

    if name := missing_key(model, base_url=load().base_url):
        raise UsageError(f"{model} needs a key: set {name}, or use the model `local`, which needs none.")


def _worded(ask: Ask, prompt: str, context: str) -> Ask:
    """Choose the wording and the context that fit the model, where nobody chose them."""
    from workbench.models.defaults import is_local
    from workbench.regeneration.context import DEFAULT_POLICY, POLICIES
    from workbench.regeneration.prompts import PROMPT_VERSION, PROMPTS

    _with_key(ask.evaluator)
    small = is_local(ask.evaluator)
    prompt = prompt or ("short-1" if small else PROMPT_VERSION)
    context = context or ("function-1" if small else DEFAULT_POLICY)
    if prompt not in PROMPTS:
        raise UsageError(f"There is no prompt version {prompt!r}; choose one of {', '.join(PROMPTS)}.")
    if context not in POLICIES:
        raise UsageError(f"There is no context policy {context!r}; choose one of {', '.join(POLICIES)}.")
    return replace(ask, prompt=prompt, context=context, sampled_as=ask.evaluator)


def _replayed(ask: Ask, evaluator: str, plan: RegenerationPlan) -> Ask:
    """Ask as the recorded run asked: same wording, same context, same settings, or nothing would be found."""
    path = resolve_session(evaluator.removeprefix("replay:")).resolve()
    with SessionReader(path) as reader:
        recorded = [
            one
            for run in reader.runs()
            if run.kind == "regenerate"
            for one in RegenerationPlan.from_json(run.config).asks
            if one.prompt
        ]
    if not recorded:
        raise UsageError(f"{path.name} holds no answers of an evaluator to replay.")
    old = recorded[-1]
    return replace(
        ask,
        evaluator=f"replay:{path}",
        samples=plan.samples or old.samples,
        prompt=plan.prompt or old.prompt,
        context=plan.context or old.context,
        sampled_as=old.sampled_as or old.evaluator,
    )


def _absolute_source(text: str) -> str:
    from workbench.catalog import UnknownCase, find_case

    try:
        find_case(text)
    except UnknownCase:
        path = Path(text).expanduser()
        return str(path.resolve()) if path.exists() else text
    return text


def _absolute_docs(text: str) -> str:
    kind, _colon, rest = text.partition(":")
    if kind == "llm" and rest:
        _with_key(rest)
    if text in ("original", "none") or (kind in ("llm", "source") and rest):
        return text
    if kind == "folder" and rest:
        path = Path(rest).expanduser().absolute()
        if not path.is_dir():
            raise UsageError(f"There is no folder {path} with documented code; give the path of a documented copy.")
        return f"folder:{path}"
    raise UsageError(
        f"There is no doc system {text!r}; choose original, none, llm:MODEL, folder:PATH or source:SOURCE."
    )


# -- a run that grows


def _same_work(run: RunRow, plan: RegenerationPlan) -> bool:
    if run.kind != "regenerate":
        return False
    old = RegenerationPlan.from_json(run.config)
    if (old.source, old.docs) != (plan.source, plan.docs) or (plan.sandbox and plan.sandbox != old.sandbox):
        return False
    return not plan.rebuild and (not old.snapshot or _content(plan.source) in ("", old.snapshot))


def _content(source: str) -> str:
    """Return the digest of a folder as it is now; "" where the source cannot have changed or is not here."""
    path = Path(source)
    if not path.is_dir():
        return ""
    from workbench.catalog import resolve_case, snapshot_of

    return snapshot_of(resolve_case(source)).digest


def _grown(asks: Iterable[Ask], more: Iterable[Ask]) -> tuple[Ask, ...]:
    """Return the asks with more of them; one that differs in its number of samples only takes the larger number."""
    grown = {replace(ask, samples=0): ask.samples for ask in asks}
    for ask in more:
        key = replace(ask, samples=0)
        grown[key] = max(grown.get(key, 0), ask.samples)
    return tuple(replace(key, samples=samples) for key, samples in grown.items())


def _grow(writer: SessionWriter, run: str, plan: RegenerationPlan) -> None:
    """Add a plan's asks to a run, within a transaction; the rest of the run stays as it is."""
    with writer.transaction() as connection:
        text, state = connection.execute("SELECT config, state FROM runs WHERE id = ?", (run,)).fetchone()
        old = RegenerationPlan.from_json(text)
        grown = replace(
            old,
            asks=_grown(old.asks, plan.asks),
            evaluator=plan.evaluator,
            samples=plan.samples,
            tasks=plan.tasks,
            limit=plan.limit,
            prompt=plan.prompt,
            context=plan.context,
            k=tuple(sorted({*old.k, *plan.k})),
            controls=old.controls or plan.controls,
            spend_limit=plan.spend_limit,
            engine=plan.engine,
        )
        writer.set_run(run, config=json.dumps(grown.to_json(), ensure_ascii=False, sort_keys=True))
        if state != "running":
            writer.set_run(run, state="queued", finished_at=None, error=None)


def move(session: Path, engine: str, run: str = "") -> None:
    """Let the regeneration runs of a session (or one of them) be tested elsewhere from their next start on.

    Args:
        session: The session file.
        engine: ``dask://HOST:PORT``, or ``local`` for this machine.
        run: Id of the run; empty = all.

    Raises:
        UsageError: The engine is no address, or there is no such run.
    """
    engine = _engine(engine)
    with SessionReader(session) as reader:
        keys = [_run(session, run).id] if run else [row.id for row in reader.runs() if row.kind == "regenerate"]
    with SessionWriter(session) as writer, writer.transaction() as connection:
        for key in keys:
            text = connection.execute("SELECT config FROM runs WHERE id = ?", (key,)).fetchone()[0]
            moved = replace(RegenerationPlan.from_json(text), engine=engine)
            writer.set_run(key, config=json.dumps(moved.to_json(), ensure_ascii=False, sort_keys=True))


def add_samples(session: Path, run: str, samples: int, *, warm: WarmEngine | None = None) -> str:
    """Let a run have ``samples`` candidates per task for the evaluator asked for last; those that it has stay.

    Returns:
        The run's id.

    Raises:
        UsageError: There is no such run, or it has as many already.
    """
    row = _run(session, run)
    old = RegenerationPlan.from_json(row.config)
    if samples <= old.samples:
        raise UsageError(f"The run has {old.samples} samples per task already; ask for more than that.")
    asks = tuple(replace(ask, samples=samples) for ask in old.asks if ask.evaluator == old.evaluator)
    with SessionWriter(session) as writer, writer.transaction():
        _grow(writer, row.id, replace(old, samples=samples, asks=asks))
    launch(session, row.id, warm)
    return row.id


def _run(session: Path, run: str) -> RunRow:
    with SessionReader(session) as reader:
        found = [row for row in reader.runs() if row.kind == "regenerate" and row.id.startswith(run)]
    if len(found) != 1:
        raise UsageError(f"{session.name} has no regeneration run {run!r}.")
    return found[0]


# -- parts of a run again


def find_items(reader: SessionReader, item: str) -> tuple[list[TaskRow], list[CandidateRow]]:
    """Return the tasks, or the one candidate, that a person means; both empty where there is nothing."""
    runs = [run.id for run in reader.runs() if run.kind == "regenerate"]
    tasks = [task for run in runs for task in reader.tasks(run) if matches(item, row_id(task), task.id)]
    if tasks:
        exact = [task for task in tasks if item in (task.id, row_id(task))]
        return exact or tasks, []
    if len(item) < 4:
        return [], []
    found = [row for run in runs for row in reader.candidates(run) if row.id.startswith(item)]
    return [], found


def rerun_items(
    session: Path,
    item: str = "",
    *,
    failed: bool = False,
    model: str = "",
    samples: int = 0,
    warm: WarmEngine | None = None,
) -> list[str]:
    """Run tasks or a candidate once more and return the ids of the runs taken up.

    With a model, that model is asked for the tasks meant: as many samples as the run has, or ``samples``. With
    ``samples`` alone the evaluator is asked until each task has that many. With neither, the answers that are there
    are tested again, and asked for where there is none: nothing is drawn anew because its result did not please,
    which would raise pass@k by choice.

    Args:
        session: The session file.
        item: A task (id, beginning, glob, function name) or a candidate (id or its beginning); empty = all.
        failed: Only candidates that did not pass, and their tasks.
        model: Another evaluator.
        samples: Candidates per task.
        warm: An engine that waits.

    Raises:
        UsageError: Nothing is meant, or a candidate's beginning is not unique.
    """
    with SessionReader(session) as reader:
        candidates = _meant(session, reader, item, failed)
        runs = {row.id: row for row in reader.runs()}
    touched = list(dict.fromkeys(row.run_id for row in candidates))
    with SessionWriter(session) as writer, writer.transaction() as connection:
        for key in touched:
            mine = [row for row in candidates if row.run_id == key]
            if model or samples:
                _grow(writer, key, _asked_again(runs[key], mine, model, samples))
                continue
            for row in mine:
                connection.execute(
                    "UPDATE candidates SET state = 'queued', verdict = NULL, verdict_reason = NULL WHERE id = ?",
                    (row.id,),
                )
            connection.execute(
                "UPDATE runs SET state = 'queued', finished_at = NULL, error = NULL WHERE id = ? AND state != 'running'",
                (key,),
            )
    for key in touched:
        launch(session, key, warm)
    return touched


def _meant(session: Path, reader: SessionReader, item: str, failed: bool) -> list[CandidateRow]:
    tasks, one = find_items(reader, item) if item else ([], [])
    if len(one) > 1:
        raise UsageError(f"{item!r} could be {len(one)} candidates; give more characters.")
    rows = one
    if not rows:
        meant = {task.id for task in tasks}
        every = (row for run in reader.runs() if run.kind == "regenerate" for row in reader.candidates(run.id))
        rows = [row for row in every if not item or row.task_id in meant]
    if failed:
        rows = [row for row in rows if not row.control and row.verdict != "passed"]
    elif not one:
        rows = [row for row in rows if not row.control or item]
    if not rows:
        what = "no candidate that failed" if failed else f"no task or candidate {item!r}"
        raise UsageError(f"{session.name} has {what}; `workbench show {session}` lists what it has.")
    return rows


def _asked_again(run: RunRow, rows: Sequence[CandidateRow], model: str, samples: int) -> RegenerationPlan:
    plan = RegenerationPlan.from_json(run.config)
    tasks = tuple(dict.fromkeys(row.task_id for row in rows))
    again = replace(plan, evaluator=model or plan.evaluator, samples=samples or plan.samples, tasks=tasks, limit=0)
    wording = ("", "") if model else (plan.prompt, plan.context)
    again = replace(again, prompt=wording[0], context=wording[1])
    ask = _ask(again)
    return replace(
        again, evaluator=ask.evaluator, samples=ask.samples, prompt=ask.prompt, context=ask.context, asks=(ask,)
    )
