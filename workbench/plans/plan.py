"""Plans: what was asked for, as stored with a session's runs; every argument is declared here once. Cheap to import."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import MISSING, asdict, dataclass, field, replace
from typing import Any, TypeVar

from workbench.agents.names import AGENTS, agent_info
from workbench.base import numbers
from workbench.base.errors import UsageError
from workbench.base.extensions import names, plugin_named
from workbench.documenters.types import SCOPES
from workbench.plans.arguments import Counts, Line, PlanDamaged, argument, arguments_of, further, read_plan
from workbench.session.groups import CONTROLS
from workbench.session.json_forms import picked

PlanT = TypeVar("PlanT")
Item = TypeVar("Item")
#: What a document is scored by unless somebody chooses.
RUBRICS = ("aeo-bench", "strict")
#: What the identity of a candidate names one by one, or does without.
_NAMED = frozenset(["evaluator", "samples", "tasks", "limit", "prompt", "context", "extra_body"])


def _models() -> tuple[str, ...]:
    from workbench.models.defaults import available_models

    return available_models()


def _cases() -> tuple[str, ...]:
    from workbench.catalog import load_cases

    return tuple(case.id for case in load_cases()[0])


def _check_importer(text: str) -> None:
    if plugin_named("importer", text) is None:
        raise UsageError(f"There is no importer {text!r}.")


def _check_scope(text: str) -> None:
    if text not in SCOPES:
        raise UsageError(f"Scope must be {', '.join(SCOPES[:-1])} or {SCOPES[-1]}.")


def _share(text: str) -> float:
    try:
        return numbers.amount(text, most=1.0, above=True)
    except ValueError:
        raise ArgumentTypeError("it takes a share above 0 and up to 1") from None


def _ks(text: str) -> tuple[int, ...]:
    try:
        return tuple(numbers.whole(part, 1) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--k takes whole numbers of 1 or more, separated by commas, not {text!r}.") from None


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """Run an agent on test cases."""

    cases: tuple[str, ...] = argument(
        MISSING, "cases CASE…", "ids, 'all', or folders, git URL@revision, NAME==VERSION", counts=Counts.TRIAL
    )
    agent: str = argument(
        "white",
        "--agent AGENT",
        "white (default), planner (planner-2; planner-1 is the fixed walk), single-file, no-exploration, a2a:URL, or "
        "package.module:Class of your own",
        default="",
        counts=Counts.TRIAL,
        line=Line("agent", completes=lambda: (info.name for info in AGENTS), check=agent_info),
    )
    # Empty = the default of this machine; of `a2a:URL` what stands for the agent itself, see
    # `workbench.agents.remote_names.PEER_MODEL`
    model: str = argument(
        "",
        "--model MODEL",
        "a LiteLLM name, local, or replay:SESSION",
        counts=Counts.TRIAL,
        line=Line("model", completes=_models, paths=True),
    )
    judge: str = argument(  # Empty = the default of this machine
        "",
        "--judge JUDGE",
        "offline, a model, or package.module:Class of your own; trials that the session has are scored by it, not run "
        "again",
        line=Line("judge", completes=lambda: ("offline", *_models()), paths=True),
    )
    rubrics: tuple[str, ...] = argument(
        RUBRICS, "--rubric R[,R2]", "aeo-bench, strict; both unless given", default=(), study="settings.rubrics"
    )
    judge_repeats: int = argument(
        1,
        "--judge-repeats N",
        "times that a model judges each tier",
        study="settings.judge_repeats",
        number=("The number of times that the judge is asked", 1, numbers.MOST_REPEATS),
    )
    # How the READMEs of `trials` are checked: `run` with their blocks, `claims` without, "" not at all
    check: str = argument(
        "",
        "--check",
        "also check each README that was written: does it hold?",
        action="store_const",
        const="run",
        study="settings.checks",
    )
    repeats: int = argument(
        1,
        "--repeats N",
        "trials per case",
        number=("The number of repeats", 1, numbers.MOST_REPEATS),
        line=Line("repeats", most=100),
    )
    # Number of the first of them; 0 = of each case after the trials that the session has of it already
    first_repeat: int = argument(1, number=("The first repeat", 0, numbers.MOST_ITEMS))
    spend_limit: float = argument(0.0, "--spend-limit USD", "stop asking beyond this")  # 0 = no limit
    max_steps: int = argument(15, study="limits.steps", number=("The number of steps", 1, 10_000))
    # Characters that `read_file` returns at most; 0 = as fits the model
    read_limit: int = argument(
        0, study="limits.read", number=("The number of characters read at once", 0, 1_000_000_000)
    )
    # Tokens that an answer of the agent's model may have; 0 = 4,096
    answer_tokens: int = argument(
        0, study="limits.answer_tokens", number=("The number of tokens of an answer", 0, 1_000_000)
    )
    judges: tuple[str, ...] = argument((), study="settings.judges")  # Where there are several; empty = `judge` alone
    trials: tuple[str, ...] = ()  # Identities of the trials asked for, also of those that the session had already
    # What of trials that other runs recorded is scored: "" nothing, `missing` what they lack of the rubrics and judges,
    # `anew` everything, as of the time when the run was ordered. No agent is run for it
    rescore: str = ""
    import_folders: tuple[str, ...] = ()  # Where classes named by dotted path are imported from first
    fork_of: str = ""  # The trial of which this run is a fork, "" for trials of their own
    fork_step: int = 0
    card: str = ""  # What an agent that is reached over A2A said of itself when the run was planned, one line
    check_only: bool = False  # Whether nothing else is done with them: they are trials that other runs recorded
    check_seconds: float = 10.0  # How long a command or snippet of a README may take
    check_again: int = -1  # The block that is run once more; -1 for all of them

    @property
    def further(self) -> str:
        """The part of a trial's identity that says how it is made, beside agent, model and case."""
        return further(self, Counts.TRIAL, ("cases", "agent", "model"))

    @property
    def asked_judges(self) -> tuple[str, ...]:
        return self.judges or (self.judge,)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, text: str) -> DocumentPlan:
        return read_plan(cls, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an evaluator is asked for; another one of its identities gives further candidates in the same run."""

    evaluator: str = argument(  # Empty = the default of this machine
        "",
        "--evaluator EVALUATOR",
        "a LiteLLM name, local, reference, stub, replay:SESSION, or samples:FILE",
        counts=Counts.CANDIDATE,
        line=Line("evaluator", completes=lambda: (*_models(), *CONTROLS), paths=True, role="the evaluator"),
    )
    # Candidates per task (m); 0 = 3, or 1 for reference and stub, or what a samples file holds
    samples: int = argument(
        0,
        "--samples M",
        "candidates per task (3)",
        counts=Counts.CANDIDATE,
        number=("The number of samples", 0, numbers.MOST_ITEMS),
        line=Line("samples", most=1000),
    )
    tasks: tuple[str, ...] = argument(
        (),
        "--task ID…",
        "only this task: id, beginning, glob, or function name",
        counts=Counts.CANDIDATE,
        study="settings.tasks",
    )
    limit: int = argument(
        0,
        "--limit N",
        "only the first N tasks",
        counts=Counts.CANDIDATE,
        study="limits.tasks",
        number=("The number of tasks", 0, numbers.MOST_ITEMS),
        line=Line("limit", "Only the first so many tasks; empty for all.", most=999_999, placeholder="all tasks"),
    )
    prompt: str = argument(  # Empty = as fits the evaluator, as all that follows
        "",
        "--prompt PROMPT",
        "the prompt: paper-content-1, short-1 for small models, or a file with your own, in which {before} stands for the "
        "code",
        counts=Counts.CANDIDATE,
        study="settings.prompt",
    )
    context: str = argument(
        "",
        "--context CONTEXT",
        "context policy: prefix-1, signatures-1, tail-1, function-1",
        counts=Counts.CANDIDATE,
        study="settings.context",
    )
    extra_body: str = argument(  # `{}` = none
        "",
        "--extra-body JSON",
        "further fields of each request, part of the result's identity; {} for none (qwen3: answers without thinking)",
        counts=Counts.CANDIDATE,
        study="settings.extra_body",
    )


@dataclass(frozen=True, slots=True)
class Ask(Asked):
    """A request to one evaluator within a regeneration run; a run grows by adding asks."""

    evaluator: str
    samples: int
    # The model whose sampling settings are used: the recorded one in a replay, else the evaluator
    sampled_as: str = field(default="", kw_only=True)
    # The text of the person's own prompt, see `workbench.regeneration.prompts.OwnPrompt`
    prompt_text: str = field(default="", kw_only=True)

    @property
    def prompt_version(self) -> str:
        """The part of a candidate's identity that says how it was asked for; empty if no model is asked."""
        if not self.prompt:
            return ""
        body = f"/{self.extra_body}" if self.extra_body not in ("", "{}") else ""
        return f"{self.prompt}/{self.context}{body}{further(self, Counts.CANDIDATE, _NAMED)}"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An ask that the engine has processed: its candidates are rows now, or ``problem`` says why there are none."""

    ask: Ask
    problem: str = ""

    def answers(self, ask: Ask) -> bool:
        """Return whether this covers ``ask``: the same ask, or the same with at least as many samples."""
        enough = not self.ask.samples or (ask.samples and ask.samples <= self.ask.samples)
        return same_but_samples(self.ask, ask) and bool(enough)


def repeating(ask: Asked) -> dict[str, Any]:
    return picked(ask, *arguments_of(Asked))


def filled(plan: PlanT, other: object, *names: str) -> PlanT:
    """Return a plan that has from another what it leaves open (0, "", ()) of these fields."""
    values = {name: getattr(plan, name) or getattr(other, name) for name in names}
    return replace(plan, **values)  # type: ignore[type-var]


def as_text(plan: DocumentPlan | RegenerationPlan | ImprovementPlan) -> str:
    return json.dumps(plan.to_json(), ensure_ascii=False, sort_keys=True)


def chosen(ask: Asked, items: Sequence[tuple[str, str, Item]]) -> list[Item]:
    """Return the items that an ask selects from ``(readable id, hashed id, item)``, keeping the order."""
    from workbench.session import task_names

    return task_names.picked(ask.tasks, ask.limit, items)


def same_but_samples(one: Ask, other: Ask) -> bool:
    return replace(one, samples=0) == replace(other, samples=0)


@dataclass(frozen=True, slots=True)
class RegenerationPlan(Asked):
    """Regenerate the function bodies of a repository from their documentation; what is asked says what was asked for last."""

    source: str = argument(
        MISSING,
        "source SOURCE",
        "a case id, a folder, git URL@revision, or NAME==VERSION",
        counts=Counts.RUN,
        line=Line("source", "A case, a folder, a git URL@revision or NAME==VERSION, with pytest tests.", paths=True,
                  needed="Name a case, a folder, a git URL or NAME==VERSION."),
    )  # fmt: skip
    docs: str = argument(
        "original",
        "--docs DOCS",
        "original (default), none, llm:MODEL, repoagent:MODEL, osa:MODEL (see workbench docs), folder:PATH, source:SOURCE, "
        "'command:PROGRAM… {folder}' (docs/guides/doc-systems.md), or package.module:Class of your own",
        counts=Counts.RUN,
        line=Line(
            "docs",
            "original, none, llm:MODEL, repoagent:MODEL, osa:MODEL, command:PROGRAM…, a documented copy (folder:PATH, "
            "source:SOURCE), or package.module:Class.",
            lambda: ("original", "none", "llm:", "folder:", "source:", *(f"llm:{model}" for model in _models())),
            paths=True,
        ),
    )
    docs_scope: str = argument(
        "repository",
        "--docs-scope SCOPE",
        "repository (default): all docstrings of the tree are the doc system's; target: only the function's own; "
        "docstrings-only: as repository, and other strings, __doc__ and comments that document code are taken out",
        default="",
        counts=Counts.RUN,
        study="settings.docs_scope",
        line=Line(
            "scope",
            "repository: all docstrings of the tree are the doc system's. target: only that of the function itself.",
            lambda: SCOPES,
            check=_check_scope,
        ),
    )
    # With `published` there is no stub filter, and no control `stub`, see `workbench.regeneration.tasks`
    selection: str = argument(
        "filtered",
        "--selection SELECTION",
        "which functions are tasks: filtered (default), or published, the rule of the paper's counts (docs/reference/dataset.md)",
        default="",
        counts=Counts.RUN,
        study="settings.selection",
    )
    sandbox: str = argument(  # Empty = the strongest one here
        "",
        "--sandbox SANDBOX",
        "bubblewrap, docker, process, or package.module:Class; that of the run which the session has, else the strongest "
        "one",
        counts=Counts.RUN,
        study="settings.sandbox",
    )
    rebuild: bool = argument(False, "--rebuild", "build the tasks anew although the cache has them", counts=Counts.TASK)
    controls: bool = argument(
        True,
        "--no-controls",
        "do not test the original and a stub on every task",
        action="store_false",
        study="settings.controls",
    )
    k: tuple[int, ...] = argument(
        (1, 3), "--k K", "the k of pass@k, separated by commas (1,3)", type=_ks, default=(1, 3)
    )
    engine: str = argument(  # Empty = on this machine
        "",
        "--engine ENGINE",
        "where candidates are tested: dask://HOST:PORT, or local (default); docs/guides/cluster.md",
    )
    spend_limit: float = argument(0.0, "--spend-limit USD", "stop asking beyond this")  # 0 = no limit
    weaknesses: tuple[str, ...] = ()  # What a back end from outside does not isolate, as it declares it
    asks: tuple[Ask, ...] = ()  # Everything asked for in this run so far
    acceptances: tuple[Acceptance, ...] = ()  # Which of the asks an engine has taken up, or refused
    snapshot: str = ""  # Digest of the repository's content, once the run has fetched it
    import_folders: tuple[str, ...] = ()  # Where classes named by dotted path are imported from first
    lasting: bool = False  # Whether the run failed in a way that a resume cannot mend: only another order can

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, text: str) -> RegenerationPlan:
        return read_plan(cls, text)

    def acceptance(self, ask: Ask) -> Acceptance | None:
        return next((one for one in self.acceptances if one.answers(ask)), None)

    @property
    def waiting(self) -> tuple[Ask, ...]:
        return tuple(ask for ask in self.asks if self.acceptance(ask) is None)


@dataclass(frozen=True, slots=True)
class ImprovementPlan:
    """Improve the docstrings from which the samples of ``base``, with the original docs, do not come to pass."""

    base: RegenerationPlan  # Its `samples` are those that the writer sees, its spend limit holds for the whole order
    writer: str = argument(
        MISSING,
        "--writer MODEL",
        "who writes docstrings; the model of agents unless given",
        default="",
        counts=Counts.RUN,
        line=Line(
            "writer",
            "Who writes docstrings: it sees the function, and bodies that failed with what they did, never the tests.",
            _models,
            placeholder="the model of agents",
            role="the writer",
        ),
    )
    held_out: int = argument(
        5,
        "--held-out M",
        "further samples, which it never sees and which decide (5)",
        default=0,
        counts=Counts.RUN,
        line=Line(
            "held-out", "Samples that the writer never sees, which decide; five tell 0 of 5 from 3 of 5.", most=1000
        ),
    )
    below: float = argument(
        0.5, "--below SHARE", "a pass@1 below this is bad (0.5)", type=_share, default=0.0, counts=Counts.RUN
    )
    attempts: int = argument(
        2,
        "--attempts N",
        "docstrings tried for a function at most (2)",
        default=0,
        number=("The number of attempts", 1, 20),
        line=Line(
            "attempts",
            "Docstrings tried for a function at most; each next one is told why the last was refused.",
            most=20,
        ),
    )
    most: int = argument(0, "--limit N", "improve at most N functions")  # 0 = all that are badly documented
    second_evaluator: str = argument(  # Empty = the evaluator of `base`
        "",
        "--second-evaluator MODEL",
        "who writes the held-out samples, so that a gain holds for another model as well; the evaluator unless given",
        counts=Counts.RUN,
        line=Line(
            "second",
            "Who writes the held-out samples, so that a gain holds for another model too; empty for the evaluator.",
            _models,
            placeholder="the evaluator",
            role="the second evaluator",
        ),
    )

    @property
    def held_out_evaluator(self) -> str:
        return self.second_evaluator or self.base.evaluator

    @property
    def meaning(self) -> tuple[object, ...]:
        """What makes its result another one; more attempts, more functions or another limit only lead on."""
        base = self.base
        if base.extra_body in ("", "{}"):  # once resolved, both spellings say that a request has no further fields
            base = replace(base, extra_body="{}")
        return (base.snapshot, *(_meaning(plan) for plan in (base, self)))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, text: str) -> ImprovementPlan:
        try:
            return read_plan(cls, text)
        except PlanDamaged:
            raise PlanDamaged("An order to improve docstrings in this session is damaged; order it anew.") from None


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """Read files of other programs into a session."""

    files: tuple[str, ...] = argument(
        MISSING,
        "files FILE…",
        "files, or folders of them: ATIF, Inspect, SWE-agent, mini-swe-agent, OpenAI chat lines, EvalPlus, rows of tasks",
        line=Line("file", "A file, or a folder of files.", paths=True, needed="Name a file or a folder."),
    )
    importer: str = argument(  # Empty = each file is recognised by its content
        "",
        "--format IMPORTER",
        "the importer of a plug-in, or package.module:Class, that reads all of them; without it each is known by what is in it",
        line=Line(
            "format",
            "The importer of a plug-in, or package.module:Class, that reads all of them. Empty: our own formats, by what is in a file.",
            lambda: names("importer"),
            placeholder="known by what is in it",
            check=_check_importer,
        ),
    )
    case: str = argument(  # Empty = as the files say
        "",
        "--case CASE",
        "the test case that the trajectories are about, so that they can be scored",
        line=Line("case", "The test case that the trajectories are about, so that they can be scored.", _cases),
    )
    readme_is_last_message: bool = argument(
        False, "--readme-is-last-message", "the last message of each trajectory is the README that was handed in"
    )
    import_folders: tuple[str, ...] = ()  # Where an importer named by dotted path is imported from first

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def _meaning(plan: object) -> tuple[object, ...]:
    counting = (Counts.RUN, Counts.CANDIDATE)
    return tuple(getattr(plan, name) for name, one in arguments_of(plan).items() if one.counts in counting)
