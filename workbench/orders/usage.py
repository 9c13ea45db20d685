"""Place orders to measure the use of pages: choose the pages, the project and the reader. Cheap to import."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench import catalog
from workbench.base import paths
from workbench.base.errors import UsageError, WorkbenchError
from workbench.base.extension_check import import_folders
from workbench.base.extensions import is_dotted
from workbench.base.files import expanded, read_bytes
from workbench.base.settings import load
from workbench.base.text import plural
from workbench.checking.pages import find_pages, project_folder
from workbench.orders import defaults
from workbench.orders.estimate import WorkEstimate, added, estimate_candidates, times
from workbench.orders.measured import MeasuredRates
from workbench.orders.order import WorkOrder, select_trials
from workbench.orders.ordered_asks import check_samples, is_same_work
from workbench.orders.plan_checks import check_place, check_regeneration, check_sandbox
from workbench.orders.regenerate import absolute_source, content_of, grow
from workbench.plans.plan import Ask, repeating
from workbench.plans.usage import UsagePlan
from workbench.session import SessionReader, SessionWriter, engine_starts, ensure
from workbench.session.groups import SOURCES, WITHOUT, canonical
from workbench.session.identity import run_id
from workbench.session.rows import RunRow, columns
from workbench.session.session_names import resolve_session

OWN, SHUFFLED = "README", "shuffled"
"""The names of two special pages, besides no page and the sources: the project's own README, and another project's."""
LITERAL = "literal"
READERS = (LITERAL, "reference", "stub", "table", "package")
"""Readers that need no model."""
PROMPT = "usage-1"
AGENT_PREFIX = "agent:"
"""Prefix of a reader agent's name, followed by its model."""
LARGEST_PAGE = 2_000_000
_SUFFIXES = (".md", ".markdown", ".rst", ".txt")


@dataclass(frozen=True, slots=True)
class PageArm:
    """A page that readers see; ``digest`` identifies its text, or is "" if the engine reads it from the project."""

    context: str  # the name recorded with candidates: `README`, `none`, `mine.md@1a2b3c4d5e6f`
    digest: str = ""
    text: str = field(default="", compare=False)


def page_arm(label: str, text: str) -> PageArm:
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    return PageArm(f"{label}@{digest[:12]}", digest, text)


def read_page_arm(path: Path) -> PageArm:
    """Read a page. Raises UsageError if it is unreadable, too large, or binary."""
    data = read_bytes(path, most=LARGEST_PAGE)
    if b"\0" in data[:8000]:
        raise UsageError(f"{path} is a binary file, not a page.")
    return page_arm(path.name, data.decode("utf-8-sig", "replace"))


@dataclass(frozen=True, slots=True)
class Subject:
    """The pages of one project that are measured."""

    source: str
    pages: tuple[PageArm, ...]


def named_session(source: str, trials: Sequence[str] = ()) -> Path | None:
    """Return the session that a source names, or None if it names a project or a page. Raises UsageError."""
    path = expanded(source)
    if path.suffix == ".session" or trials:
        return resolve_session(source)
    known = paths.sessions_dir() / f"{source}.session"
    if "/" in source or path.exists() or not known.exists():
        return None
    # A case takes precedence over a session of the same name.
    return None if any(case.id == source for case in catalog.load_cases()[0]) else known


def subjects_of(plan: UsagePlan, trials: Sequence[str] = ()) -> tuple[Path | None, list[Subject]]:
    """Return the session that the plan's source names, or None, and the pages to measure by project.

    ``trials`` selects trials of the session (id, prefix of an id, or case).
    """
    path = expanded(plan.source)
    session = named_session(plan.source, trials)
    if session is not None:
        return _of_session(session, trials)
    if path.is_file() and path.suffix.lower() in _SUFFIXES:
        if plan.readme:
            raise UsageError(f"{plan.source} is a page already; name its project to measure another one.")
        return None, [Subject(str(project_folder(path.absolute().parent)), (read_page_arm(path),))]
    if plan.readme in ("", OWN):
        return None, [Subject(plan.source, (PageArm(f"{OWN} and docs" if plan.pages else OWN),))]
    if plan.readme in (WITHOUT, SOURCES, SHUFFLED):
        page = other_readme(plan.source) if plan.readme == SHUFFLED else PageArm(plan.readme)
        return None, [Subject(plan.source, (page,))]
    file = expanded(plan.readme)
    if not file.is_file():
        raise UsageError(
            f"The file {plan.readme!r} does not exist; give a file, or one of `none`, `source` and `shuffled`."
        )
    return None, [Subject(plan.source, (read_page_arm(file),))]


def _of_session(session: Path, trials: Sequence[str]) -> tuple[Path, list[Subject]]:
    with SessionReader(session) as reader:
        rows = select_trials(
            session, reader.trials(), trials, lambda row: row.readme_blob is not None,
            lambda row: "submitted no README that could be measured",
        )  # fmt: skip
        found: dict[str, dict[str, PageArm]] = {}
        for row in rows:
            text = reader.text_or_none(row.readme_blob, f"the README of trial {row.id}")
            if text is not None:
                arm = page_arm(f"trial {row.id[:8]}", text)
                found.setdefault(row.case_id, {}).setdefault(arm.digest, arm)
    return session, [Subject(case, tuple(arms.values())) for case, arms in found.items()]


def other_readme(source: str) -> PageArm:
    """Return the README of another test case, which is the same for every order."""
    for case in catalog.load_cases()[0]:
        if case.reference_readme and case.id != source:
            return page_arm(f"{SHUFFLED} {case.id}", case.reference_readme)
    raise UsageError("No other test case has a README to show instead.")


def with_reader_asks(plan: UsagePlan, pages: Sequence[PageArm]) -> UsagePlan:
    """Return the plan with one ask for each page. Raises UsageError if the reader cannot be used."""
    ask = reader_ask(plan)
    asks = tuple(replace(ask, context=page.context, page=page.digest) for page in pages)
    return replace(plan, **repeating(asks[-1]), asks=asks)


def reader_ask(plan: UsagePlan) -> Ask:
    from workbench.models.defaults import extra_body_for, read_extra_body

    reader = plan.evaluator or LITERAL
    plain = {"evaluator": reader, "samples": plan.samples or 1, "prompt": "", "context": "", "extra_body": ""}
    base = Ask(**repeating(plan) | plain)
    if reader in READERS:
        return base
    if reader.startswith("samples:"):
        from workbench.regeneration.extraction import read_samples

        path = expanded(reader.removeprefix("samples:")).absolute()
        read_samples(path)
        return replace(base, evaluator=f"samples:{path}", samples=plan.samples)
    model = reader.removeprefix(AGENT_PREFIX)
    body = read_extra_body(plan.extra_body) if plan.extra_body else ""
    if reader.startswith("replay:"):
        path = resolve_session(reader.removeprefix("replay:")).resolve()
        recorded = _recorded_ask(path)
        return replace(
            base, evaluator=f"replay:{path}", prompt=recorded.prompt, samples=plan.samples or recorded.samples,
            sampled_as=recorded.sampled_as or recorded.evaluator, extra_body=body or recorded.extra_body,
        )  # fmt: skip
    if not body and (usual := extra_body_for(model)):
        body = canonical(usual)
    defaults.check_model(model, "the reader")
    samples = plan.samples or defaults.SAMPLES
    return replace(base, samples=samples, prompt=_prompt(plan), sampled_as=model, extra_body=body)


def _prompt(plan: UsagePlan) -> str:
    from workbench.usage.reader_agent import prompt_version, steps_of

    if not plan.evaluator.startswith(AGENT_PREFIX):
        return PROMPT
    # A rerun specifies the prompt of the samples that it adds to.
    return plan.prompt if steps_of(plan.prompt) is not None else prompt_version(plan.max_steps)


def _recorded_ask(session: Path) -> Ask:
    with SessionReader(session) as reader:
        runs = [run for run in reader.runs() if run.kind == "usage"]
        asks = [ask for run in runs for ask in UsagePlan.from_json(run.config).asks if ask.prompt]
    if not asks:
        raise UsageError(f"{session.name} contains no answers of a reader to replay.")
    return asks[-1]


@dataclass(eq=False)
class UsageOrder(WorkOrder):
    """Measure what readers of pages can do with the projects that the pages describe; one run for each project."""

    plan: UsagePlan
    trials: Sequence[str] = ()
    subjects: list[Subject] = field(default_factory=list, init=False)

    def resolve(self) -> None:
        _, self.subjects = subjects_of(self.plan, self.trials)

    def plans(self) -> list[UsagePlan]:
        if not self.subjects:
            self.resolve()
        return [resolved(self.plan, subject) for subject in self.subjects]

    @property
    def what(self) -> str:
        if not self.subjects:
            self.resolve()
        pages = plural(sum(len(subject.pages) for subject in self.subjects), "page")
        projects = ", ".join(Path(subject.source).name or subject.source for subject in self.subjects[:3])
        return f"{projects} × {pages} × {self.plan.evaluator or LITERAL}"

    def check(self) -> None:
        for plan in self.plans():
            check_sandbox(plan.sandbox or load().sandbox, plan.import_folders)
        check_place(self.session)

    def estimate(self, measured: MeasuredRates) -> WorkEstimate:
        plans = self.plans()
        estimate = added(self._estimate(measured, plan, ask) for plan in plans for ask in plan.asks)
        if all(ask.evaluator in READERS or ask.evaluator.startswith("samples:") for plan in plans for ask in plan.asks):
            return replace(estimate, noun="answer", requests=0.0)
        return replace(estimate, noun="answer")

    def _estimate(self, measured: MeasuredRates, plan: UsagePlan, ask: Ask) -> WorkEstimate:
        from workbench.usage.reader_agent import steps_of

        estimate = estimate_candidates(measured, plan.source, ask.evaluator, candidates=self._missing(plan, ask))
        steps = steps_of(ask.prompt)
        if steps is None or estimate.basis:
            return estimate
        # Without earlier answers of this agent, only its limit of steps is known.
        return replace(estimate, requests=times(estimate.requests, float(steps)), up_to=True)

    def _missing(self, plan: UsagePlan, ask: Ask) -> int | None:
        """Return the number of answers that an ask adds, or None if the session has no tasks of this project yet."""
        if not self.session.exists():
            return None
        with SessionReader(self.session, surveyed=False) as reader:
            run = next((run for run in reversed(reader.runs()) if is_same_work(run, plan)), None)
            tasks = [task.id for task in reader.tasks(run.id) if task.state != "excluded"] if run is not None else []
            if run is None or not tasks or ask.tasks:
                return None
            had = Counter(row.task_id for row in reader.candidates(run.id) if row.task_id in tasks and
                          (row.evaluator, row.prompt, row.context) == (ask.evaluator, ask.prompt, ask.context))  # fmt: skip
        return sum(max(0, ask.samples - had[task]) for task in tasks[: ask.limit or None])

    def write(self) -> None:
        self.runs = [order_usage(self.session, plan, subject.pages) for plan, subject in
                     zip(self.plans(), self.subjects, strict=True)]  # fmt: skip


def resolved(plan: UsagePlan, subject: Subject) -> UsagePlan:
    """Fill in this machine's defaults; every page is compared with no page and with the sources."""
    from workbench.sandbox.choose import backend_info

    check_regeneration(plan)
    sandbox = plan.sandbox or load().sandbox
    if sandbox:
        sandbox = backend_info(sandbox).name
    catalog.check_python(catalog.resolve_case(subject.source))
    named = [("sandbox", sandbox)] if is_dotted(sandbox) else []
    pages = dict.fromkeys((*subject.pages, PageArm(WITHOUT), PageArm(SOURCES)))
    plan = replace(
        plan,
        source=absolute_source(subject.source),
        readme="",
        k=tuple(sorted(set(plan.k))),
        sandbox=sandbox,
        spend_limit=plan.spend_limit or load().spend_limit,
        import_folders=import_folders(named, plan.import_folders),
    )
    return with_reader_asks(plan, [*pages])


def order_usage(session: Path, plan: UsagePlan, pages: Sequence[PageArm]) -> str:
    """Write a usage run into a session (created if missing), or extend the run that has the same tasks; return its id."""
    check_place(session)
    plan = replace(plan, snapshot=content_of(plan.source))
    check_samples(session, plan)
    ensure(session)
    with SessionWriter(session) as writer, writer.transaction() as connection:
        for page in pages:
            if page.digest:
                writer.blob(page.text)
        runs = connection.execute(f"SELECT {columns(RunRow)} FROM runs ORDER BY created_at, id").fetchall()
        old = next((run for run in reversed([RunRow(*row) for row in runs]) if is_same_work(run, plan)), None)
        key = old.id if old is not None else run_id()
        engine_starts.announce(key)
        if old is None:
            writer.add_run(key, "usage", plan.to_json())
        else:
            writer.unarchive_run(key)
            grow(writer, key, plan)
    return key


def own_page(root: Path, reference: str | None, *, docs: bool) -> tuple[str, str]:
    """Return the name and text of a project's own README, with the pages of its docs if ``docs`` is set.

    If the repository of a test case has no README, the one of its ground truth is used. Name and text are "" if there
    is none.
    """
    paths = find_pages(root)
    pages = paths if docs else [path for path in paths if "/" not in path][:1]
    texts = []
    for path in pages:
        try:
            texts.append(read_bytes(root / path, most=LARGEST_PAGE).decode("utf-8-sig", "replace"))
        except WorkbenchError:
            continue
    if not texts and reference:
        return "README.md of the ground truth", reference
    return (pages[0] if pages else ""), "\n\n".join(texts)
