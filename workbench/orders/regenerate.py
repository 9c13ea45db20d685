"""Place orders to regenerate functions: new runs and extensions; move runs to another engine. Cheap to import."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import catalog
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extension_check import import_folders
from workbench.base.extensions import is_dotted, names
from workbench.base.files import expanded
from workbench.base.settings import load
from workbench.base.text import plural
from workbench.documenters import parse_docs, parse_scope
from workbench.documenters.doc_systems import program_of
from workbench.orders import defaults
from workbench.orders.docs_estimate import documentation
from workbench.orders.estimate import Documentation, WorkEstimate, estimate_ask, estimate_candidates, with_build_time
from workbench.orders.measured import MeasuredRates
from workbench.orders.order import WorkOrder
from workbench.orders.ordered_asks import OrderedAsk, check_samples, is_finished, is_same_work
from workbench.orders.plan_checks import check_place, check_regeneration, check_sandbox
from workbench.plans.plan import Ask, CandidatePlan, RegenerationPlan, as_text, repeating, same_but_samples
from workbench.plans.usage import candidate_plan, read_candidate_plan
from workbench.session import SessionReader, SessionWriter, engine_starts, ensure
from workbench.session.groups import CONTROLS, canonical
from workbench.session.identity import run_id
from workbench.session.pending_work import is_missing
from workbench.session.rows import RunRow, columns
from workbench.session.session_names import resolve_session

if TYPE_CHECKING:
    from workbench.regeneration.prompts import OwnPrompt

#: The name of this machine's own engine, which overrides a setting that names a cluster.
HERE = "local"


@dataclass(eq=False)
class RegenerateOrder(WorkOrder):
    """Regenerate function bodies of a repository."""

    plan: RegenerationPlan
    order: OrderedAsk = field(init=False)  # Set by `write`

    @property
    def what(self) -> str:
        evaluator = self.plan.evaluator or defaults.evaluator(load())
        samples = self.plan.samples or (1 if evaluator in CONTROLS else defaults.SAMPLES)
        return f"{self.plan.source} × {evaluator} × {plural(samples, 'sample')}"

    def check(self) -> None:
        whole = resolved(self.plan)
        check_sandbox(whole.sandbox or load().sandbox, whole.import_folders)
        check_place(self.session)

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        whole = resolved(self.plan)
        estimate = estimate_ask(measured, whole.source, whole.asks[0], rebuild=whole.rebuild)
        return replace(estimate, documentation=self.documentation(measured))

    def documentation(self, measured: MeasuredRates) -> Documentation:
        """Estimate the doc system's requests. It reads the source, so call it in a thread."""
        whole = resolved(self.plan)
        return documentation(measured, [(whole, is_documented(self.session, whole))])

    def write(self) -> None:
        self.order = order_regeneration(self.session, self.plan)
        self.runs = [self.order.run]


@dataclass(eq=False)
class MoreSamplesOrder(WorkOrder):
    """Extend a run to ``samples`` candidates per task for an evaluator, by default that of the latest ask.

    ``prompt`` and ``context`` select which asks of the evaluator are extended.
    """

    run: str
    samples: int
    evaluator: str = ""
    prompt: str = ""
    context: str = ""

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        plan = self._grown()
        ask = plan.asks[-1]
        with SessionReader(self.session) as reader:
            tasks = {task.id for task in reader.tasks(self.run) if task.state == "ready"}
            had = sum(row.evaluator == ask.evaluator and row.task_id in tasks for row in reader.candidates(self.run))
        estimate = estimate_candidates(
            measured, plan.source, ask.evaluator, candidates=max(0, len(tasks) * ask.samples - had)
        )
        return with_build_time(estimate, measured, plan.source)

    def _grown(self) -> CandidatePlan:
        row = _run(self.session, self.run)
        old = candidate_plan(row)
        check_regeneration(replace(old, samples=self.samples))
        evaluator = self.evaluator or old.evaluator
        mine = [ask for ask in old.asks if ask.evaluator == evaluator]
        if not mine:
            raise UsageError(f"The run has no order for samples of {evaluator}.")
        # If no ask has this prompt and context, all asks of the evaluator are extended.
        mine = [ask for ask in mine if (ask.prompt, ask.context) == (self.prompt, self.context)] or mine
        had = max(ask.samples for ask in mine)
        if self.samples <= had:
            raise UsageError(f"The run has {had} samples per task already; request more than that.")
        asks = tuple(replace(ask, samples=self.samples) for ask in mine)
        return replace(old, **repeating(asks[-1]), asks=asks)

    def write(self) -> None:
        grown = self._grown()
        self.runs = [_run(self.session, self.run).id]
        with SessionWriter(self.session) as writer, writer.transaction():
            grow(writer, self.runs[0], grown)


def is_documented(session: Path, plan: RegenerationPlan) -> bool:
    """Return whether a session contains the complete documentation for an order."""
    if not session.exists():
        return False
    with SessionReader(session, surveyed=False) as reader:
        run = next((run.id for run in reader.runs() if is_same_work(run, plan)), "")
        return bool(
            reader.query("SELECT 1 FROM stages WHERE run_id = ? AND name = 'documentation' AND state = 'done'", (run,))
        )


def order_regeneration(session: Path, plan: RegenerationPlan) -> OrderedAsk:
    """Write a regeneration run into a session (created if missing) and return the order.

    A run with the same identity is extended and retains its results: an order for ten samples after one for five adds
    five, and another evaluator gets the same tasks. Raises UsageError if the plan is invalid.
    """
    plan = resolved(plan)
    check_place(session)
    # After all checks, because this caches a copy of the repository, and a refused order must not leave anything
    # behind.
    plan = replace(plan, snapshot=content_of(plan.source))
    check_samples(session, plan)
    ensure(session)
    # The search is part of the transaction: of several concurrent orders, only the first creates the run.
    with SessionWriter(session) as writer, writer.transaction() as connection:
        runs = connection.execute(f"SELECT {columns(RunRow)} FROM runs ORDER BY created_at, id").fetchall()
        same = [run for run in (RunRow(*row) for row in runs) if is_same_work(run, plan)]
        # Runs with content and runs that are not archived take precedence.
        old = max(same, key=_precedence, default=None)
        key = old.id if old is not None else run_id()
        engine_starts.announce(key)
        if old is None:
            writer.add_run(key, "regenerate", plan.to_json())
        else:
            writer.unarchive_run(key)
            grow(writer, key, plan)
    return OrderedAsk(key, plan.asks[0], plan.k)


def completed_order(session: Path, plan: RegenerationPlan) -> OrderedAsk | None:
    """Return the order if the session has already completed it, or None."""
    plan = resolved(plan)
    if not session.exists():
        return None
    plan = replace(plan, snapshot=content_of(plan.source))
    with SessionReader(session) as reader:
        same = [run for run in reader.runs() if is_same_work(run, plan)]
        run = max(same, key=_precedence, default=None)
        if run is None or reader.holder(run.id) is not None or is_missing(reader, run):
            return None
        order = OrderedAsk(run.id, plan.asks[0], plan.k)
        return order if is_finished(reader, order) else None


def _precedence(run: RunRow) -> tuple[bool, bool, float]:
    return bool(candidate_plan(run).snapshot), run.archived_at is None, run.created_at


def resolved(plan: RegenerationPlan) -> RegenerationPlan:
    """Fill in this machine's defaults, so that resuming on another machine does the same work."""
    from workbench.regeneration.tasks import parse_selection
    from workbench.sandbox.choose import backend_info

    check_regeneration(plan)
    sandbox = plan.sandbox or load().sandbox
    if sandbox:
        sandbox = backend_info(sandbox).name
    catalog.check_python(catalog.resolve_case(plan.source))
    ask, docs = full_ask(plan), parse_docs(plan.docs)
    named = [("sandbox", sandbox)] if is_dotted(sandbox) else []
    named += [("doc system", docs.rest)] if docs.kind == "extension" else []
    return replace(
        plan,
        source=absolute_source(plan.source),
        docs=_absolute_docs(plan.docs.strip()),
        docs_scope=parse_scope(plan.docs_scope),
        selection=parse_selection(plan.selection),
        **repeating(ask),
        k=tuple(sorted(set(plan.k))),
        sandbox=sandbox,
        spend_limit=plan.spend_limit or load().spend_limit,
        asks=(ask,),
        engine=_engine(plan.engine or load().engine),
        import_folders=import_folders(named, plan.import_folders),
    )


def _engine(text: str) -> str:
    if text in ("", HERE):
        return ""
    from workbench.sandbox.choose import clusters_at

    clusters_at(text.strip()).check(text)
    return text.strip()


def full_ask(plan: RegenerationPlan) -> Ask:
    """Return the ask of a plan, with the prompt and this machine's defaults filled in."""
    from workbench.models.defaults import extra_body_for, is_local, read_extra_body
    from workbench.regeneration.prompts import DEFAULT_POLICY, POLICIES, PROMPT_VERSION

    evaluator = plan.evaluator or defaults.evaluator(load())
    plain = {
        "evaluator": evaluator,
        "samples": plan.samples or defaults.SAMPLES,
        "prompt": "",
        "context": "",
        "extra_body": "",
    }
    base = Ask(**repeating(plan) | plain)
    # The prompt is read for controls too, because an unknown name is a mistake.
    own = _own_prompt(plan.prompt, plan.asks) if plan.prompt else None
    if plan.context and plan.context not in POLICIES:
        raise UsageError(f"There is no context policy {plan.context!r}; choose one of {', '.join(POLICIES)}.")
    body = read_extra_body(plan.extra_body) if plan.extra_body else ""
    if evaluator in CONTROLS:
        return replace(base, samples=plan.samples or 1)
    if evaluator.startswith("samples:"):
        from workbench.regeneration.extraction import read_samples

        path = expanded(evaluator.removeprefix("samples:")).absolute()
        read_samples(path)
        return replace(base, evaluator=f"samples:{path}", samples=plan.samples)
    if evaluator.startswith("replay:"):
        return _replayed(replace(base, extra_body=body), evaluator, plan, own)
    if not body and (usual := extra_body_for(evaluator)):
        body = canonical(usual)
    defaults.check_model(evaluator, "the evaluator")
    small = is_local(evaluator)
    return replace(
        base,
        prompt=own.name if own else plan.prompt or ("short-1" if small else PROMPT_VERSION),
        context=plan.context or ("function-1" if small else DEFAULT_POLICY),
        sampled_as=evaluator,
        prompt_text=own.text if own else "",
        extra_body=body,
    )


def _own_prompt(prompt: str, recorded: Sequence[Ask]) -> OwnPrompt | None:
    from workbench.regeneration.prompts import PROMPTS, OwnPrompt, read_prompt

    before = next((one for one in recorded if one.prompt == prompt), None)
    if before is not None:
        return OwnPrompt(prompt, before.prompt_text) if before.prompt_text else None

    if prompt in PROMPTS:
        return None
    path = expanded(prompt)
    if not path.exists():
        raise UsageError(f"There is no prompt version and no file {prompt!r}; choose {', '.join(PROMPTS)}, or a file.")
    return read_prompt(path)


def _replayed(ask: Ask, evaluator: str, plan: RegenerationPlan, own: OwnPrompt | None) -> Ask:
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
        raise UsageError(f"{path.name} contains no evaluator's answers to replay.")
    old = recorded[-1]
    return replace(
        ask,
        evaluator=f"replay:{path}",
        samples=plan.samples or old.samples,
        prompt=own.name if own else plan.prompt or old.prompt,
        prompt_text=own.text if own else "" if plan.prompt else old.prompt_text,
        context=plan.context or old.context,
        sampled_as=old.sampled_as or old.evaluator,
        extra_body=ask.extra_body or old.extra_body,
    )


def _recorded(text: str) -> str:
    return f"replay:{resolve_session(text.removeprefix('replay:')).resolve()}"


def absolute_source(text: str) -> str:
    """Return a source as stored in plans, with absolute paths for folders and files."""
    if text.startswith("/") and expanded(text).exists():
        return str(expanded(text).resolve())
    try:
        catalog.find_case(text)
    except catalog.UnknownCase:
        path = expanded(text)
        return str(path.resolve()) if path.exists() else text
    return text


def _absolute_docs(text: str) -> str:
    """Return the doc system's name with absolute paths. Raises UsageError if the doc system cannot be used."""
    docs = parse_docs(text)
    match docs.kind:
        case "llm" if docs.rest.startswith("replay:"):
            docs = replace(docs, rest=_recorded(docs.rest))
        case "llm":
            defaults.check_model(docs.rest, "the doc system")
        case "source":
            from workbench.repository import parse_source

            catalog.require_there(parse_source(docs.rest))
        case "folder":
            path = expanded(docs.rest).absolute()
            if not path.is_dir():
                raise UsageError(f"There is no folder {path} with documented code; give the path of a documented copy.")
            docs = replace(docs, rest=str(path))
        case program if program in names("doc system", own=True):
            if docs.rest.startswith("replay:"):
                docs = replace(docs, rest=_recorded(docs.rest))
            docs, model = program_of(docs).adapter.resolved(docs, defaults.evaluator(load()))
            if docs.kind == "command" and model.startswith("replay:"):
                docs = replace(docs, rest=docs.rest.replace(f"{{model={model}}}", f"{{model={_recorded(model)}}}"))
            elif model and not model.startswith("replay:"):
                defaults.check_model(model, "the doc system")
    return docs.text


# -- a run that grows


def content_of(source: str) -> str:
    """Return the digest of a source's current content, or "" if it is fixed, remote or unusable."""
    try:
        snapshot = catalog.current_snapshot(catalog.resolve_case(source))
    except WorkbenchError:
        # Ignore the problem: the engine reports it in the run.
        return ""
    return snapshot.digest if snapshot is not None else ""


def _grown(asks: Iterable[Ask], more: Iterable[Ask]) -> tuple[Ask, ...]:
    grown = {replace(ask, samples=0): ask.samples for ask in asks}
    for ask in more:
        key = replace(ask, samples=0)
        # 0 means all samples of a file, so it counts as the maximum.
        both = (grown.get(key, ask.samples), ask.samples)
        grown[key] = max(both) if all(both) else 0
    return tuple(replace(key, samples=samples) for key, samples in grown.items())


def grow(writer: SessionWriter, run: str, plan: CandidatePlan) -> None:
    """Add a plan's asks to a run, within a transaction; the results of the run are not changed."""
    with writer.transaction() as connection:
        kind, text, state = connection.execute("SELECT kind, config, state FROM runs WHERE id = ?", (run,)).fetchone()
        old = read_candidate_plan(kind, text)
        grown = replace(
            old,
            asks=_grown(old.asks, plan.asks),
            # The engine processes these asks again and records new acceptances.
            acceptances=tuple(
                one for one in old.acceptances if not any(same_but_samples(one.ask, ask) for ask in plan.asks)
            ),
            **repeating(plan),
            k=tuple(sorted({*old.k, *plan.k})),
            controls=old.controls or plan.controls,
            spend_limit=plan.spend_limit,
            engine=plan.engine,
            rebuild=old.rebuild or plan.rebuild,
            import_folders=tuple(dict.fromkeys((*plan.import_folders, *old.import_folders))),
            permanent_failure=False,
        )
        writer.set_run(run, config=as_text(grown))
        if state != "running":
            engine_starts.announce(run)
            writer.set_run(run, state="queued", finished_at=None, error=None)


def move(session: Path, engine: str, run: str = "") -> None:
    """Set the engine (``dask://HOST:PORT`` or ``local``) of one regeneration run, or of all.

    The new engine is used from the next start of a run.
    """
    engine = _engine(engine)
    with SessionReader(session) as reader:
        keys = [_run(session, run).id] if run else [row.id for row in reader.runs() if row.kind == "regenerate"]
    if not keys:
        raise UsageError(f"{session.name} has no regeneration run; an engine tests only the candidates of such runs.")
    with SessionWriter(session) as writer, writer.transaction() as connection:
        for key in keys:
            kind, text = connection.execute("SELECT kind, config FROM runs WHERE id = ?", (key,)).fetchone()
            moved = replace(read_candidate_plan(kind, text), engine=engine)
            writer.set_run(key, config=as_text(moved))


def _run(session: Path, run: str) -> RunRow:
    with SessionReader(session) as reader:
        found = [row for row in reader.runs() if row.has_candidates and row.id.startswith(run)]
    if len(found) != 1:
        raise UsageError(f"{session.name} has no regeneration run {run!r}.")
    return found[0]
