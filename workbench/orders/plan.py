"""Plans: what the user asked for, as stored with a session's runs. Cheap to import; used by app, CLI and engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from workbench.base import typed_json
from workbench.base.errors import WorkbenchError
from workbench.session.json_forms import picked

Plan = TypeVar("Plan")
Item = TypeVar("Item")
#: What a document is scored by unless somebody chooses.
RUBRICS = ("aeo-bench", "strict")


class PlanDamaged(WorkbenchError):
    """The plan of a run cannot be read."""


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """Run an agent on test cases."""

    cases: tuple[str, ...]  # Ids of test cases, or sources (folder, git URL@revision, NAME==VERSION)
    agent: str = "white"  # Name of an agent, see `workbench.agents.names.AGENTS`, `a2a:URL` or `package.module:Class`
    # A LiteLLM name, `local`, `replay:SESSION`; empty = the default of this machine; of `a2a:URL` what stands for the
    # agent itself, see `workbench.agents.remote_names.PEER_MODEL`
    model: str = ""
    judge: str = ""  # `offline`, a model or `package.module:Class`; empty = the default of this machine
    repeats: int = 1
    # Number of the first of them; 0 = of each case after the trials that the session has of it already
    first_repeat: int = 1
    rubrics: tuple[str, ...] = RUBRICS
    spend_limit: float = 0.0  # US dollars, 0 = no limit
    max_steps: int = 15  # Steps after which the agent must have answered
    read_limit: int = 0  # Characters that `read_file` returns at most; 0 = as fits the model
    judge_repeats: int = 1  # Times that an LLM judge scores each tier
    trials: tuple[str, ...] = ()  # Identities of the trials asked for, also of those that the session had already
    judges: tuple[str, ...] = ()  # Who scores, where there are several; empty = `judge` alone
    # What of trials that other runs recorded is scored: "" nothing, `missing` what they lack of the rubrics and judges,
    # `anew` everything, as of the time when the run was ordered. No agent is run for it
    rescore: str = ""
    import_folders: tuple[str, ...] = ()  # Where classes named by dotted path are imported from first
    fork_of: str = ""  # The trial of which this run is a fork, "" for trials of their own
    fork_step: int = 0
    answer_tokens: int = 0  # Tokens that an answer of the agent's model may have; 0 = 4,096
    card: str = ""  # What an agent that is reached over A2A said of itself when the run was planned, one line
    check: str = ""  # How the READMEs of `trials` are checked: `run` with their blocks, `claims` without, "" not at all
    check_only: bool = False  # Whether nothing else is done with them: they are trials that other runs recorded
    check_seconds: float = 10.0  # How long a command or snippet of a README may take
    check_again: int = -1  # The block that is run once more; -1 for all of them

    @property
    def asked_judges(self) -> tuple[str, ...]:
        return self.judges or (self.judge,)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, text: str) -> DocumentPlan:
        return _read(cls, text)


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to one evaluator within a regeneration run; a run grows by adding asks."""

    evaluator: str  # A model, `reference`, `stub`, `replay:SESSION` or `samples:FILE`
    samples: int
    tasks: tuple[str, ...] = ()  # Ids, prefixes of ids or globs that select tasks; empty = all
    limit: int = 0
    prompt: str = ""  # Prompt version, see `workbench.regeneration.PROMPTS`, or the name of the person's own
    context: str = ""  # Context policy, see `workbench.regeneration.POLICIES`
    sampled_as: str = ""  # The model whose sampling settings are used: the recorded one in a replay, else the evaluator
    prompt_text: str = ""  # The text of the person's own prompt, see `workbench.regeneration.prompts.OwnPrompt`
    extra_body: str = ""  # Further fields of each request as JSON, see `workbench.models.defaults.read_extra_body`

    @property
    def prompt_version(self) -> str:
        """The part of a candidate's identity that identifies the prompt and further fields; empty if no model is asked."""
        body = f"/{self.extra_body}" if self.extra_body not in ("", "{}") else ""
        return f"{self.prompt}/{self.context}{body}" if self.prompt else ""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An ask that the engine has processed: its candidates are rows now, or ``problem`` says why there are none."""

    ask: Ask
    problem: str = ""

    def answers(self, ask: Ask) -> bool:
        """Return whether this covers ``ask``: the same ask, or the same with at least as many samples."""
        enough = not self.ask.samples or (ask.samples and ask.samples <= self.ask.samples)
        return same_but_samples(self.ask, ask) and bool(enough)


def repeating(ask: Ask | RegenerationPlan) -> dict[str, Any]:
    return picked(ask, "evaluator", "samples", "tasks", "limit", "prompt", "context", "extra_body")


def filled(plan: Plan, other: object, *names: str) -> Plan:
    """Return a plan that has from another what it leaves open (0, "", ()) of these fields."""
    values = {name: getattr(plan, name) or getattr(other, name) for name in names}
    return replace(plan, **values)  # type: ignore[type-var]


def as_text(plan: DocumentPlan | RegenerationPlan | ImprovementPlan) -> str:
    return json.dumps(plan.to_json(), ensure_ascii=False, sort_keys=True)


def chosen(ask: Ask, items: Sequence[tuple[str, str, Item]]) -> list[Item]:
    """Return the items that an ask selects from ``(readable id, hashed id, item)``, keeping the order."""
    from workbench.session import task_names

    return task_names.picked(ask.tasks, ask.limit, items)


def same_but_samples(one: Ask, other: Ask) -> bool:
    return replace(one, samples=0) == replace(other, samples=0)


@dataclass(frozen=True, slots=True)
class RegenerationPlan:
    """Regenerate the function bodies of a repository from their documentation."""

    source: str  # Id of a test case, a folder, git URL@revision or NAME==VERSION
    # A doc system: original, none, llm:MODEL, folder:PATH, source:SOURCE or `package.module:Class`
    docs: str = "original"
    evaluator: str = ""  # See `Ask`; empty = the default of this machine
    samples: int = 0  # Candidates per task (m); 0 = 3, or 1 for reference and stub, or what a samples file holds
    k: tuple[int, ...] = (1, 3)
    tasks: tuple[str, ...] = ()
    limit: int = 0
    controls: bool = True
    sandbox: str = ""  # Name of a back end or `package.module:Class`; empty = the strongest one here
    weaknesses: tuple[str, ...] = ()  # What a back end from outside does not isolate, as it declares it
    prompt: str = ""  # Version of the prompt, or a file with one's own; empty = as fits the evaluator
    context: str = ""  # Version of the context policy; empty = as fits the evaluator
    spend_limit: float = 0.0  # US dollars, 0 = no limit
    rebuild: bool = False  # Whether the tasks are built anew although the cache has them
    asks: tuple[Ask, ...] = ()  # Everything asked for in this run so far; the fields above say what was asked for last
    acceptances: tuple[Acceptance, ...] = ()  # Which of the asks an engine has taken up, or refused
    snapshot: str = ""  # Digest of the repository's content, once the run has fetched it
    engine: str = ""  # Where candidates are tested: `dask://HOST:PORT`; empty = on this machine
    import_folders: tuple[str, ...] = ()  # Where classes named by dotted path are imported from first
    lasting: bool = False  # Whether the run failed in a way that a resume cannot mend: only another order can
    # Where its docstrings stand, see `workbench.documenters.SCOPES`
    docs_scope: str = "repository"
    # By which rule functions become tasks, see `workbench.regeneration.selections`; with `published` there is no stub
    # filter, and no control `stub`
    selection: str = "filtered"
    # Further fields of each request to the evaluator as JSON; empty = as fits the evaluator, `{}` = none
    extra_body: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, text: str) -> RegenerationPlan:
        return _read(cls, text)

    def acceptance(self, ask: Ask) -> Acceptance | None:
        return next((one for one in self.acceptances if one.answers(ask)), None)

    @property
    def waiting(self) -> tuple[Ask, ...]:
        return tuple(ask for ask in self.asks if self.acceptance(ask) is None)


def _read(kind: type[Plan], text: str) -> Plan:
    try:
        return typed_json.decode(kind, text)
    except typed_json.WrongForm as error:
        raise PlanDamaged(
            f"The plan of a run in this session is damaged ({error.place or 'all of it'}), so it cannot go on; what it did can be "
            "shown. Start it anew."
        ) from None


@dataclass(frozen=True, slots=True)
class ImprovementPlan:
    """What is asked for."""

    # The regeneration with the original docs; its `samples` are those that the writer sees, its spend limit holds for
    # the whole order
    base: RegenerationPlan
    writer: str
    held_out: int = 5  # Samples of each docstring that the writer never sees
    below: float = 0.5  # A pass@1 below this is bad
    attempts: int = 2  # Docstrings that are tried for a function at most
    most: int = 0  # Functions that are tried at most; 0 = all that are badly documented
    second_evaluator: str = ""  # Who writes the held-out samples; empty = the evaluator of `base`

    @property
    def held_out_by(self) -> str:
        return self.second_evaluator or self.base.evaluator

    @property
    def meaning(self) -> tuple[object, ...]:
        """What makes its result another one; more attempts, more functions or another limit only lead on."""
        base = self.base
        # Once resolved, both spellings say that a request has no further fields.
        further = [] if base.extra_body in ("", "{}") else [base.extra_body]
        return (
            (base.source, base.snapshot, base.docs_scope, base.selection, base.sandbox, base.tasks),
            (base.evaluator, base.prompt, base.context, base.samples, *further),
            (self.writer, self.held_out, self.below, self.second_evaluator),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, text: str) -> ImprovementPlan:
        try:
            return _read(cls, text)
        except PlanDamaged:
            raise PlanDamaged("An order to improve docstrings in this session is damaged; order it anew.") from None
