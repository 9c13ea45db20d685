"""Two trials side by side: steps, points, files, READMEs, and what each took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from workbench.comparison import panes
from workbench.comparison.alignment import align
from workbench.comparison.criteria import join_criteria, points_pane
from workbench.comparison.texts import TextPair, TextSide, compare_texts, read_text
from workbench.glyphs import STATES
from workbench.grounding.exploration import LISTED, PARTLY, READ, WHOLE
from workbench.results.scores import card_of
from workbench.session.judges import in_words
from workbench.session.pending_work import trial_state
from workbench.session.rows import StepRow
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Scorecard
    from workbench.session.reader import SessionReader
    from workbench.session.rows import AccessedFileRow, ScoreRow, TrialRow

Scale = tuple[str, str]
"""Rubric and judge."""
StepPair = panes.Pair[StepRow]
_LOOKS = {"": ("· unseen", "dim"), LISTED: ("○ listed", "seen-listed"), PARTLY: ("◐ partly", "seen-read"), READ: ("● read", "seen-read")}  # fmt: skip
"""How closely an agent looked at a file, the closest last."""
_STATE_STYLES = {"done": "passed", "failed": "failed", "running": "running", "unscored": "unscored", "interrupted": "paused"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrialSide:
    """One of the two trials, as it was read.

    Attributes:
        state: As a person should see it, ``interrupted`` and ``unscored`` included.
        told_apart: A mark of its content where another trial of the same name has other content, else "".
        seen: Files that its agent listed or read.
        scale: By whose points it is compared; ``score`` is None where it has none by these.
        no_card: Why there are no criteria, "" where there are some.
    """

    trial: TrialRow
    session: str
    state: str
    told_apart: str
    steps: tuple[StepRow, ...]
    seen: tuple[AccessedFileRow, ...]
    readme: TextSide
    scale: Scale
    score: ScoreRow | None
    card: Scorecard | None
    no_card: str

    @property
    def tokens(self) -> int:
        return self.trial.prompt_tokens + self.trial.completion_tokens

    @property
    def points(self) -> tuple[float | None, float, Any]:
        """Its points, what they are out of, and the tiers that are not scored."""
        return (self.score.total, self.score.out_of, self.score.unscored) if self.score is not None else (None, 0.0, ())

    def to_json(self) -> dict[str, Any]:
        trial, (total, out_of, _) = self.trial, self.points
        return {
            "session": self.session,
            "trial": trial.id,
            "agent": trial.agent,
            "model": trial.model,
            "case": trial.case_name or trial.case_id,
            "repeat": trial.repeat,
            "state": self.state,
            "judge": self.scale[1],
            "score": total,
            "out_of": out_of,
        }


@dataclass(frozen=True, slots=True)
class FilePair:
    """How closely each agent looked at a path: ``read``, ``partly read``, ``listed``, or "" for not at all."""

    path: str
    left: str
    right: str

    @property
    def closer(self) -> int:
        """Return 0 where both looked equally closely, -1 where the left one looked closer, 1 where the right one did."""
        mine, other = _closeness(self.left), _closeness(self.right)
        return (other > mine) - (other < mine)


# -- reading


def read_side(reader: SessionReader, trial_id: str, rubric: str, judge: str) -> TrialSide | None:
    """Read a trial with its points by one rubric and judge; None if it is not in the session."""
    trial = reader.trial(trial_id)
    if trial is None:
        return None
    state = trial_state(reader, trial)
    if trial.state in {"queued", "running"}:
        run = reader.run(trial.run_id)
        at_work = run is None or reader.run_state(run) in {"queued", "running"}
        state = trial.state if at_work else "interrupted"
    score = next((row for row in reader.scores(trial_id) if (row.rubric, row.judge) == (rubric, judge)), None)
    card = card_of(reader, score) if score is not None else None
    no_card = "" if card is not None and card.criteria else "the scorecard has no criteria to be read"
    if score is None:
        by = f" by {one_line(rubric, 40)}, judge {one_line(judge, 40)}" if rubric else ""
        no_card = "not scored yet" if state in {"queued", "running"} else f"not scored{by}"
    title = f"{one_line(trial.agent, 40)}, rep {trial.repeat}"
    readme = read_text(reader, trial.readme_blob, title, f"the README of trial {trial.id}", _no_readme(trial, state))
    return TrialSide(
        trial, reader.path.name, state, reader.told_apart(trial), tuple(reader.steps(trial_id)), _seen(reader, trial),
        readme, (rubric, judge), score, card, no_card,
    )  # fmt: skip


def _no_readme(trial: TrialRow, state: str) -> str:
    return {
        "queued": "no README yet: the trial waits for its engine",
        "running": "no README yet: the agent is at work",
        "interrupted": "no README: the trial was interrupted",
        "cancelled": "no README: the trial was cancelled",
        "failed": f"no README: the trial failed: {trial.error or 'no reason was recorded'}",
    }.get(state, "no README was handed in")


def _seen(reader: SessionReader, trial: TrialRow) -> tuple[AccessedFileRow, ...]:
    """Return the paths that the agent saw; a file of which it was shown a part only is partly read."""
    sizes = dict(reader.files_of(trial.snapshot)) if trial.snapshot else {}
    return tuple(
        replace(row, how=PARTLY) if row.how == READ and 0 < row.size < WHOLE * sizes.get(row.path, 0) else row
        for row in reader.seen(trial.id)
    )


def scales_of(left: panes.Named, right: panes.Named, rubric: str = "", judge: str = "") -> tuple[Scale, Scale]:
    """Return by which rubric and judge each of two trials is read.

    That is the wanted one if both have it, else the first one that both have, of the wanted rubric if possible. Two that no judge
    has in common are read by one rubric and each by its own judge, which the reader must be told; a trial without such points
    gets what was wanted ("" for any), and is then said not to be scored by it.
    """
    mine, other = ([(row.rubric, row.judge) for row in reader.scores(trial)] for reader, trial in (left, right))
    order = sorted(mine, key=lambda one: (rubric not in ("", one[0]), judge not in ("", one[1])))
    common = next((one for one in order if one in other), None)
    if common and (not rubric or common[0] == rubric or not any(one[0] == rubric for one in (*mine, *other))):
        return common, common
    for one in order:
        theirs = next((two for two in other if two[0] == one[0]), None)
        if theirs is not None:
            return one, theirs
    return next(iter(order), (rubric, judge)), next(iter(other), (rubric, judge))


def read_trials(
    left: panes.Named, right: panes.Named, rubric: str = "", judge: str = "", at: int = 0
) -> panes.Comparison:
    scales = scales_of(left, right, rubric, judge)
    keys = [(reader, (trial, *scale)) for (reader, trial), scale in zip((left, right), scales, strict=True)]
    return compare(*panes.both(keys[0], keys[1], lambda reader, key: read_side(reader, *key), "Trial"))


# -- comparing


def align_steps(left: Sequence[StepRow], right: Sequence[StepRow]) -> tuple[StepPair, ...]:
    """Align steps by the longest common subsequence of their actions."""
    places = align([_action(step) for step in left], [_action(step) for step in right])
    return tuple(panes.Pair(None if i is None else left[i], None if j is None else right[j]) for i, j in places)


def _action(step: StepRow) -> tuple[str, str, str]:
    # The target of a ``respond`` step is the size of the README, which two agents hardly ever share.
    return step.kind, step.action, "" if step.kind == "respond" else step.target


def join_files(left: Iterable[AccessedFileRow], right: Iterable[AccessedFileRow]) -> tuple[FilePair, ...]:
    """Return all paths that either agent saw, by name, with the closest look of each."""
    looks = [{row.path: row.how for row in sorted(seen, key=lambda row: _closeness(row.how))} for seen in (left, right)]
    return tuple(
        FilePair(path, a or "", b or "") for path, a, b in sorted(panes.joined(*looks), key=lambda one: one[0])
    )


def _closeness(how: str) -> int:
    return list(_LOOKS).index(how) if how in _LOOKS else 0


def compare(left: TrialSide, right: TrialSide) -> panes.Comparison:
    """Compare two trials; takes time that grows with the product of their sizes, see the parts for its bounds."""
    a, b = left.trial, right.trial
    steps, tiers = align_steps(left.steps, right.steps), join_criteria(left.card, right.card)
    files = join_files(left.seen, right.seen)
    readme = compare_texts(left.readme, right.readme).named()
    same_scale = (left.scale, left.points[1:]) == (right.scale, right.points[1:])
    efforts = (
        panes.Effort("steps", a.steps, b.steps),
        panes.Effort("tokens", left.tokens, right.tokens),
        panes.Effort("seconds", a.seconds, b.seconds),
        panes.Effort("cost", a.cost_usd, b.cost_usd),
        panes.Effort("score", left.points[0], right.points[0], same_scale),
    )

    def leads(pane: str, rows: Mapping[str, Any]) -> panes.Leads:
        of_b, number, row = False, None, rows.get(pane)
        if row is not None and pane == "steps-diff":
            of_b, number = row.left is None, row.either.number
        elif row is not None and pane == "files-diff":
            of_b = not row.left
        return (panes.Lead("trial", (b if of_b else a).id, of_b, number=number),)

    def values() -> dict[str, Any]:
        words = readme.diff
        return {
            "a": left.to_json(),
            "b": right.to_json(),
            "efforts": panes.efforts_json(efforts),
            "points": [
                {
                    "tier": one.tier,
                    "criterion": one.title,
                    **panes.pair_json(one, lambda judged: judged.points),
                    "difference": one.difference,
                    "reason_a": one.left.reason if one.left else None,
                    "reason_b": one.right.reason if one.right else None,
                }
                for tier in tiers
                for one in tier.criteria
            ],
            "steps": {"a": len(left.steps), "b": len(right.steps), "common": sum(pair.both for pair in steps)},
            "files": [{"path": one.path, "a": one.left or None, "b": one.right or None} for one in files],
            "words": {"a": words.left_words, "b": words.right_words, "common": words.common_words},
        }

    reasons = [one_line(side.no_card, 400) for side in (left, right)]
    nothing = f"A and B: {reasons[0]}" if reasons[0] == reasons[1] else f"A: {reasons[0]}\nB: {reasons[1]}"
    return panes.Comparison(
        left=left,
        right=right,
        head=lambda width: _head(left, right, efforts, width),
        leads=leads,
        scale=left.scale,
        values=values,
        panes={
            "steps-diff": _steps_pane(left, right, steps),
            "points-diff": points_pane(tiers, nothing),
            "files-diff": panes.Table(
                said=f"A {sum(bool(one.left) for one in files):,} · B {sum(bool(one.right) for one in files):,}",
                rows=files,
                columns=(
                    panes.Column("A", lambda pair: _LOOKS.get(pair.left, (pair.left, "")), text=True),
                    panes.Column("B", lambda pair: _LOOKS.get(pair.right, (pair.right, "")), text=True),
                    panes.texts("path", lambda pair: pair.path, widest=400),
                ),
                sign=lambda pair: (panes.SAME, panes.ONLY_B, panes.ONLY_A)[pair.closer],
                nothing="Neither agent saw a file.",
                page="",
            ),
            "readme-diff": panes.Texts(readme, _readme_said(readme), page=False),
        },
    )


# -- what is shown


def _steps_pane(left: TrialSide, right: TrialSide, steps: Sequence[StepPair]) -> panes.Table[StepPair]:
    common = sum(pair.both for pair in steps)
    apart = f"A {len(left.steps):,} · B {len(right.steps):,} · {common:,} in common"
    last = max((step.number for side in (left, right) for step in side.steps), default=0)
    size = max(2, len(f"{last:,}"))

    def number(step: StepRow | None) -> panes.Cell:
        return panes.NOTHING if step is None else f"{step.number:,}", "dim"

    def target(pair: StepPair) -> str:
        if pair.left is not None and pair.right is not None and pair.left.target != pair.right.target:
            mine, other = one_line(pair.left.target, 200).split(), one_line(pair.right.target, 200).split()
            alike = len(list(takewhile(lambda words: words[0] == words[1], zip(mine, other, strict=False))))
            return " ".join([*mine[:alike], "A", *mine[alike:], "· B", *other[alike:]])
        return one_line(pair.either.target, 400)

    return panes.Table(
        said=f"{common:,}, the same" if common == len(steps) else apart,
        rows=steps,
        columns=(
            panes.Column("A", lambda pair: number(pair.left), size),
            panes.Column("B", lambda pair: number(pair.right), size),
            panes.Column("action", lambda pair: one_line(pair.either.action, 15), 15, text=True),
            panes.Column("target", target, widest=400, text=True),
        ),
        sign=lambda pair: panes.sided(pair.left, pair.right) or panes.SAME,
        nothing="Neither trial has a step.",
        by_stretch=True,
        page="",
    )


def _readme_said(texts: TextPair) -> str:
    diff = texts.diff
    if texts.left.absent or texts.right.absent:
        return ""
    if diff.same:
        return f"{diff.left_words:,} words, the same"
    return f"words: A {diff.left_words:,} · B {diff.right_words:,} · {diff.common_words:,} in common"


def _parts(side: TrialSide, other: TrialSide | None = None) -> tuple[str, ...]:
    """Return what tells a trial from others: agent, model, case, a mark of its content if it has one, repeat, session."""
    trial = side.trial
    parts = [trial.agent, trial.model.rpartition("/")[2], trial.case_name or trial.case_id, side.told_apart]
    session = [side.session] if other is None or side.session != other.session else []
    return tuple(one_line(part, 60) for part in (*parts, f"rep {trial.repeat}", *session))


def _named(parts: Iterable[str]) -> str:
    return " · ".join(filter(None, parts))


def _names(left: TrialSide, right: TrialSide, width: int) -> tuple[str, str, str]:
    """Return what both share, and the name of each; where a whole name is longer than ``width``, only the former has what both share."""
    a, b = _parts(left, right), _parts(right, left)
    if max(map(cell_len, map(_named, (a, b)))) <= width or a == b:
        return "", _named(a), _named(b)
    shared = [one if one == other else "" for one, other in zip(a, b, strict=True)]
    own = [_named("" if common else one for one, common in zip(parts, shared, strict=True)) for parts in (a, b)]
    return _named(shared), own[0], own[1]


def _score(side: TrialSide) -> str:
    # Points of a card with unscored tiers are out of less than 100.
    total, out_of, _ = side.points
    return panes.figure(total, 1) + (f"/{out_of:.0f}" if total is not None and out_of != 100 else "")


def _head(left: TrialSide, right: TrialSide, efforts: Sequence[panes.Effort], width: int) -> panes.Head:
    shared, a, b = _names(left, right, max(20, width - 60))
    steps, tokens, seconds, cost, score = efforts
    states = [
        (f"{STATES.get(side.state, '?')} {side.state}", _STATE_STYLES.get(side.state, "dim")) for side in (left, right)
    ]
    gap = panes.change_cell(score.difference, 1, "", "")
    judges = [
        one_line(in_words(judge), 60) if judge else "" for judge in dict.fromkeys((left.scale[1], right.scale[1]))
    ]
    by = judges[0] if len(judges) == 1 else f"judges differ: A {judges[0] or 'none'}, B {judges[1] or 'none'}"
    return panes.Head(
        names=((a, b), (_named(_parts(left)), _named(_parts(right)))),
        shared=shared,
        figures=(
            panes.Figure("state", (states[0], states[1], ""), 13, 2, text=True),
            steps.figure("steps", 6, 0, 3),
            tokens.figure("tokens", 10, 0, 5),
            seconds.figure("s", 8, 1, 4),
            cost.figure("$", 9, 4, 1),
            panes.Figure("score", (_score(left), _score(right), gap), 7, style="score"),
        ),
        status=_named((left.scale[0], by)),
    )


TRIALS = panes.Kind(
    "trials",
    "two trials",
    {"steps-diff": "Steps", "points-diff": "Points", "files-diff": "Files", "readme-diff": "README"},
    read_trials,
)
KINDS = {"trial": TRIALS}
