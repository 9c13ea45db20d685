"""The plan of each kind of order, as stored with its runs; every argument is declared here once. Cheap to import."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, replace
from typing import Any, TypeVar

from workbench.agents.names import AGENTS, agent_info
from workbench.base import numbers
from workbench.base.extensions import names
from workbench.documenters.types import SCOPES
from workbench.plans.arguments import (
    DialogField,
    Effect,
    Plan,
    PlanDamaged,
    argument,
    arguments_of,
    cases,
    check_importer,
    check_scope,
    further,
    models,
    read_ks,
    read_plan,
    share,
)
from workbench.session.groups import CONTROLS
from workbench.session.json_forms import picked

PlanT = TypeVar("PlanT")
Item = TypeVar("Item")
#: The rubrics that are used by default.
RUBRICS = ("aeo-bench", "strict")
#: Arguments that have their own place in a candidate's identity, or none.
_NAMED = frozenset(["evaluator", "samples", "tasks", "limit", "prompt", "context", "extra_body"])


@dataclass(frozen=True, slots=True)
class DocumentPlan(Plan):
    """Run an agent on test cases."""

    cases: tuple[str, ...] = argument(
        MISSING, "cases CASE…", "ids, 'all', or folders, git URL@revision, NAME==VERSION", effect=Effect.TRIAL
    )
    agent: str = argument(
        "white",
        "--agent AGENT",
        "white (default), planner (planner-2; planner-1 is the fixed walk), single-file, no-exploration, a2a:URL, "
        "or your own package.module:Class",
        default="",
        effect=Effect.TRIAL,
        line=DialogField("agent", completes=lambda: (info.name for info in AGENTS), check=agent_info),
    )
    # Empty = the default of this machine; for `a2a:URL` see `workbench.agents.remote_names.PEER_MODEL`
    model: str = argument(
        "",
        "--model MODEL",
        "a LiteLLM name, local, or replay:SESSION",
        effect=Effect.TRIAL,
        line=DialogField("model", completes=models, paths=True),
    )
    judge: str = argument(  # Empty = the default of this machine
        "",
        "--judge JUDGE",
        "judge: offline, a model, or package.module:Class; existing trials are scored by it and not run again",
        line=DialogField("judge", completes=lambda: ("offline", *models()), paths=True),
    )
    rubrics: tuple[str, ...] = argument(
        RUBRICS, "--rubric R[,R2]", "aeo-bench, strict (default: both)", default=(), study="settings.rubrics"
    )
    judge_repeats: int = argument(
        1,
        "--judge-repeats N",
        "how many times a model judges each tier (default: 1)",
        study="settings.judge_repeats",
        number=("The number of times that the judge is asked", 1, numbers.MOST_REPEATS),
    )
    # How READMEs are checked: `run` runs their blocks, `claims` only looks up names, "" disables the check
    check: str = argument(
        "",
        "--check",
        "also check each README that is written",
        action="store_const",
        const="run",
        study="settings.checks",
    )
    repeats: int = argument(
        1,
        "--repeats N",
        "trials per case (default: 1)",
        number=("The number of repeats", 1, numbers.MOST_REPEATS),
        line=DialogField("repeats", most=100),
    )
    # 0 = continue after the repeats of each case that the session already contains
    first_repeat: int = argument(1, number=("The first repeat", 0, numbers.MOST_ITEMS))
    spend_limit: float = argument(0.0, "--spend-limit USD", "stop making requests above this amount")  # 0 = no limit
    max_steps: int = argument(15, study="limits.steps", number=("The number of steps", 1, 10_000))
    # Maximum characters that `read_file` returns; 0 = depends on the model
    read_limit: int = argument(
        0, study="limits.read", number=("The number of characters read at once", 0, 1_000_000_000)
    )
    # Maximum tokens in an answer of the agent's model; 0 = 4,096
    answer_tokens: int = argument(
        0, study="limits.answer_tokens", number=("The number of tokens of an answer", 0, 1_000_000)
    )
    judges: tuple[str, ...] = argument((), study="settings.judges")  # Empty = only `judge`
    trials: tuple[str, ...] = ()  # Identities of all requested trials, including existing ones
    # Scoring of trials of other runs, without an agent: `missing` = missing scores, `anew` = all scores again (those
    # from before the order do not count), "" = none
    rescore: str = ""
    import_folders: tuple[str, ...] = ()  # Searched first when a class is given by its dotted path
    fork_of: str = ""  # The parent trial of a fork
    fork_step: int = 0
    card: str = ""  # One line of a remote agent's card when the order was placed
    check_only: bool = False  # Whether the run only checks the READMEs of trials in other runs
    check_seconds: float = 10.0  # Time limit for a command or snippet of a README
    check_again: int = -1  # Index of the block to rerun; -1 = all

    @property
    def further(self) -> str:
        """The further arguments in a trial's identity, besides agent, model and case."""
        return further(self, Effect.TRIAL, ("cases", "agent", "model"))

    @property
    def asked_judges(self) -> tuple[str, ...]:
        return self.judges or (self.judge,)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorArguments:
    """The arguments of a request to an evaluator; other values add candidates to the same run."""

    evaluator: str = argument(  # Empty = the default of this machine
        "",
        "--evaluator EVALUATOR",
        "a LiteLLM name, local, reference, stub, replay:SESSION, or samples:FILE",
        effect=Effect.CANDIDATE,
        line=DialogField("evaluator", completes=lambda: (*models(), *CONTROLS), paths=True, role="the evaluator"),
    )
    # Candidates per task (m); 0 = 3, or 1 for controls, or all those in a samples file
    samples: int = argument(
        0,
        "--samples M",
        "candidates per task (default: 3)",
        effect=Effect.CANDIDATE,
        number=("The number of samples", 0, numbers.MOST_ITEMS),
        line=DialogField("samples", most=1000),
    )
    tasks: tuple[str, ...] = argument(
        (),
        "--task ID…",
        "only this task: id, prefix of an id, glob, or function name",
        effect=Effect.CANDIDATE,
        study="settings.tasks",
    )
    limit: int = argument(
        0,
        "--limit N",
        "only the first N tasks",
        effect=Effect.CANDIDATE,
        study="limits.tasks",
        number=("The number of tasks", 0, numbers.MOST_ITEMS),
        line=DialogField("limit", "Use only the first tasks; empty uses all.", most=999_999, placeholder="all tasks"),
    )
    prompt: str = argument(  # Empty = depends on the evaluator; the same applies to the arguments below
        "",
        "--prompt PROMPT",
        "prompt: paper-content-1, short-1 for small models, or your own file that contains {before}, the place of "
        "the code",
        effect=Effect.CANDIDATE,
        study="settings.prompt",
    )
    context: str = argument(
        "",
        "--context CONTEXT",
        "context policy: prefix-1, signatures-1, tail-1, function-1",
        effect=Effect.CANDIDATE,
        study="settings.context",
    )
    extra_body: str = argument(  # `{}` = no further fields
        "",
        "--extra-body JSON",
        "extra fields of every request, part of a result's identity; {} adds none (default for qwen3: no thinking)",
        effect=Effect.CANDIDATE,
        study="settings.extra_body",
    )


@dataclass(frozen=True, slots=True)
class Ask(EvaluatorArguments):
    """A request to one evaluator within a regeneration run; a run grows by adding asks."""

    evaluator: str
    samples: int
    # The model that determines the sampling settings: the recorded one in a replay, or else the evaluator
    sampled_as: str = field(default="", kw_only=True)
    # The text of a custom prompt; see `workbench.regeneration.prompts.OwnPrompt`
    prompt_text: str = field(default="", kw_only=True)
    # Digest of the page that a reader sees; its text is a blob of the session. "" = none, or not a usage run
    page: str = field(default="", kw_only=True, compare=False)

    @property
    def prompt_version(self) -> str:
        """The prompt, context and settings in a candidate's identity, or "" if there are none."""
        if not (self.prompt or self.context):
            return ""
        body = f"/{self.extra_body}" if self.extra_body not in ("", "{}") else ""
        return f"{self.prompt}/{self.context}{body}{further(self, Effect.CANDIDATE, _NAMED)}"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An ask that the engine has processed: its candidates are in the session, or ``problem`` explains why not."""

    ask: Ask
    problem: str = ""

    def answers(self, ask: Ask) -> bool:
        """Return whether this covers ``ask``: it is the same request, with at least as many samples."""
        enough = not self.ask.samples or (ask.samples and ask.samples <= self.ask.samples)
        return same_but_samples(self.ask, ask) and bool(enough)


def repeating(ask: EvaluatorArguments) -> dict[str, Any]:
    return picked(ask, *arguments_of(EvaluatorArguments))


def filled(plan: PlanT, other: object, *names: str) -> PlanT:
    """Return the plan with its unset fields (0, "", ()) filled in from another plan."""
    values = {name: getattr(plan, name) or getattr(other, name) for name in names}
    return replace(plan, **values)  # type: ignore[type-var]


def as_text(plan: Plan) -> str:
    return json.dumps(plan.to_json(), ensure_ascii=False, sort_keys=True)


def chosen(ask: EvaluatorArguments, items: Sequence[tuple[str, str, Item]]) -> list[Item]:
    """Return the items of ``(readable id, hashed id, item)`` that an ask selects, in order."""
    from workbench.plans import task_names

    return task_names.picked(ask.tasks, ask.limit, items)


def same_but_samples(one: Ask, other: Ask) -> bool:
    return replace(one, samples=0) == replace(other, samples=0)


@dataclass(frozen=True, slots=True)
class CandidatePlan(EvaluatorArguments, Plan):
    """Test candidates of a repository; the run grows by asks.

    The evaluator's arguments are those of the latest ask.
    """

    source: str
    sandbox: str = argument(  # Empty = the strongest one on this machine
        "",
        "--sandbox SANDBOX",
        "bubblewrap, docker, process, or package.module:Class (default: that of the session's run, or the strongest one)",
        effect=Effect.RUN,
        study="settings.sandbox",
    )
    rebuild: bool = argument(False, "--rebuild", "rebuild the tasks even if they are cached", effect=Effect.TASK)
    controls: bool = argument(
        True,
        "--no-controls",
        "do not test the original and a stub on every task",
        action="store_false",
        study="settings.controls",
    )
    k: tuple[int, ...] = argument(
        (1, 3), "--k K", "values of k for pass@k, separated by commas (default: 1,3)", type=read_ks, default=(1, 3)
    )
    engine: str = argument(  # Empty = this machine
        "",
        "--engine ENGINE",
        "where candidates are tested: dask://HOST:PORT, or local (default); docs/guides/cluster.md",
    )
    spend_limit: float = argument(0.0, "--spend-limit USD", "stop making requests above this amount")  # 0 = no limit
    weaknesses: tuple[str, ...] = ()  # Declared weaknesses of a third-party back end
    asks: tuple[Ask, ...] = ()  # All asks that the run has had so far
    acceptances: tuple[Acceptance, ...] = ()  # The asks that an engine has processed
    snapshot: str = ""  # Digest of the repository's content, set when the repository is fetched
    import_folders: tuple[str, ...] = ()  # Searched first when a class is given by its dotted path
    permanent_failure: bool = False  # Whether only another order can help, not a resume

    @property
    def control_names(self) -> tuple[str, ...]:
        """The evaluators that are tested on every task if ``controls`` is set."""
        return CONTROLS

    def acceptance(self, ask: Ask) -> Acceptance | None:
        return next((one for one in self.acceptances if one.answers(ask)), None)

    @property
    def waiting(self) -> tuple[Ask, ...]:
        return tuple(ask for ask in self.asks if self.acceptance(ask) is None)


@dataclass(frozen=True, slots=True)
class RegenerationPlan(CandidatePlan):
    """Regenerate the function bodies of a repository from their documentation."""

    source: str = argument(
        MISSING,
        "source SOURCE",
        "a case id, a folder, git URL@revision, or NAME==VERSION",
        effect=Effect.RUN,
        line=DialogField("source", "A case, a folder, a git URL@revision or NAME==VERSION, with pytest tests.", paths=True,
                  needed="Name a case, a folder, a git URL or NAME==VERSION."),
    )  # fmt: skip
    docs: str = argument(
        "original",
        "--docs DOCS",
        "original (default), none, llm:MODEL, repoagent:MODEL, osa:MODEL (see workbench docs), folder:PATH, source:SOURCE, "
        "'command:PROGRAM… {folder}' (docs/guides/doc-systems.md), or your own package.module:Class",
        effect=Effect.RUN,
        line=DialogField(
            "docs",
            "original, none, llm:MODEL, repoagent:MODEL, osa:MODEL, command:PROGRAM…, a documented copy (folder:PATH, "
            "source:SOURCE), or package.module:Class.",
            lambda: ("original", "none", "llm:", "folder:", "source:", *(f"llm:{model}" for model in models())),
            paths=True,
        ),
    )
    docs_scope: str = argument(
        "repository",
        "--docs-scope SCOPE",
        "repository (default): replace every docstring of the tree; target: only that of the function; "
        "docstrings-only: every docstring, and remove other strings and comments that document code",
        default="",
        effect=Effect.RUN,
        study="settings.docs_scope",
        line=DialogField(
            "scope",
            "repository: replace every docstring of the tree. target: only that of the function.",
            lambda: SCOPES,
            check=check_scope,
        ),
    )
    # `published` has neither a stub filter nor the control `stub`; see `workbench.regeneration.tasks`
    selection: str = argument(
        "filtered",
        "--selection SELECTION",
        "which functions become tasks: filtered (default), or published, the rule of the paper's counts (docs/reference/dataset.md)",
        default="",
        effect=Effect.RUN,
        study="settings.selection",
    )

    @property
    def control_names(self) -> tuple[str, ...]:
        # Published tasks may pass with a stub.
        return CONTROLS if self.selection == "filtered" else CONTROLS[:1]


@dataclass(frozen=True, slots=True)
class ImprovementPlan(Plan):
    """Improve the docstrings of functions that fail in ``base``, a plan that uses the original docs."""

    base: RegenerationPlan  # The writer sees its `samples`; its spend limit applies to the whole order
    writer: str = argument(
        MISSING,
        "--writer MODEL",
        "model that writes docstrings (default: the agents' model)",
        default="",
        effect=Effect.RUN,
        line=DialogField(
            "writer",
            "The model that writes docstrings. It sees the function and failed bodies with their errors, never the tests.",
            models,
            placeholder="the agents' model",
            role="the writer",
        ),
    )
    held_out: int = argument(
        5,
        "--held-out M",
        "samples hidden from the writer, which decide (default: 5)",
        default=0,
        effect=Effect.RUN,
        line=DialogField(
            "held-out",
            "Samples hidden from the writer that decide whether a docstring is kept. Five can "
            "distinguish 0 of 5 from 3 of 5.",
            most=1000,
        ),
    )
    below: float = argument(
        0.5,
        "--below SHARE",
        "improve functions with a pass@1 below this (default: 0.5)",
        type=share,
        default=0.0,
        effect=Effect.RUN,
    )
    attempts: int = argument(
        2,
        "--attempts N",
        "maximum number of docstrings to try per function (default: 2)",
        default=0,
        number=("The number of attempts", 1, 20),
        line=DialogField(
            "attempts",
            "Maximum number of docstrings to try per function. The writer learns why the previous one was rejected.",
            most=20,
        ),
    )
    most: int = argument(0, "--limit N", "improve at most N functions")  # 0 = all badly documented functions
    second_evaluator: str = argument(  # Empty = the evaluator of `base`
        "",
        "--second-evaluator MODEL",
        "model for the held-out samples, to show that a gain holds for another model (default: the evaluator)",
        effect=Effect.RUN,
        line=DialogField(
            "second",
            "The model for the held-out samples, to show that a gain holds for another model; empty uses the evaluator.",
            models,
            placeholder="the evaluator",
            role="the second evaluator",
        ),
    )

    @property
    def held_out_evaluator(self) -> str:
        return self.second_evaluator or self.base.evaluator

    @property
    def meaning(self) -> tuple[object, ...]:
        """The arguments that identify the result; an order that differs only in other arguments continues it."""
        base = self.base
        if base.extra_body in ("", "{}"):  # both mean that a request has no further fields
            base = replace(base, extra_body="{}")
        return (base.snapshot, *(_meaning(plan) for plan in (base, self)))

    @classmethod
    def from_json(cls, text: str) -> ImprovementPlan:
        try:
            return read_plan(cls, text)
        except PlanDamaged:
            raise PlanDamaged("An order to improve docstrings in this session is damaged; start a new one.") from None


@dataclass(frozen=True, slots=True)
class ImportPlan(Plan):
    """Read files from other programs into a session."""

    files: tuple[str, ...] = argument(
        MISSING,
        "files FILE…",
        "files or folders: ATIF, Inspect, SWE-agent, mini-swe-agent, OpenAI chat lines, EvalPlus, rows of tasks",
        line=DialogField("file", "A file, or a folder of files.", paths=True, needed="Name a file or a folder."),
    )
    importer: str = argument(  # Empty = each file's format is recognised by its content
        "",
        "--format IMPORTER",
        "format of all files, an importer of a plug-in, or package.module:Class (default: detected from the content)",
        line=DialogField(
            "format",
            "The format of all files, an importer of a plug-in, or package.module:Class. Empty detects built-in formats.",
            lambda: names("importer"),
            placeholder="detected from the content",
            check=check_importer,
        ),
    )
    case: str = argument(  # Empty = as stated in the files
        "",
        "--case CASE",
        "test case of the trajectories, needed to score them",
        line=DialogField("case", "The test case of the trajectories, needed to score them.", cases),
    )
    readme_is_last_message: bool = argument(
        False, "--readme-is-last-message", "use the last message of each trajectory as its README"
    )
    import_folders: tuple[str, ...] = ()  # Searched first when an importer is given by its dotted path


def _meaning(plan: object) -> tuple[object, ...]:
    counting = (Effect.RUN, Effect.CANDIDATE)
    return tuple(getattr(plan, name) for name, one in arguments_of(plan).items() if one.effect in counting)
