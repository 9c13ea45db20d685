"""Compare two trials: steps, points by criterion, files, READMEs, and costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from workbench.base.glyphs import STATES
from workbench.base.text import NOTHING, one_line
from workbench.comparison import panes
from workbench.comparison.texts import align, compare_texts, longest_common, read_text
from workbench.grounding.exploration import LISTED, PARTLY, READ, WHOLE
from workbench.results.scores import card_of, totals_of
from workbench.results.spread import Total
from workbench.rubric.scorecard import Criterion, Scorecard
from workbench.session.json_forms import TIER_NAMES, picked
from workbench.session.judges import in_words
from workbench.session.pending_work import trial_state
from workbench.session.rows import StepRow
from workbench.statistics.paired import difference

if TYPE_CHECKING:
    from workbench.session.reader import SessionReader
    from workbench.session.rows import AccessedFileRow, TrialRow

Scale = tuple[str, str]
Part = tuple[
    int, str, int
]  # tier, name and occurrence of a criterion; a tier has the name "", and the total has tier 0
StepPair = panes.PairedRow[StepRow]
CriterionPair = panes.PairedRow[Criterion]
_LOOKS = {None: ("· unseen", "dim"), LISTED: ("○ listed", "seen-listed"), PARTLY: ("◐ partly", "seen-read"), READ: ("● read", "seen-read")}  # fmt: skip
"""Access levels of a file, the closest one last."""
_STATE_STYLES = {"done": "passed", "failed": "failed", "running": "running", "unscored": "unscored", "interrupted": "paused"}  # fmt: skip


# -- which judge's points


def common_scales(mine: Sequence[Scale], other: Sequence[Scale], rubric: str, judge: str) -> tuple[Scale, Scale]:
    """Return the rubric and judge of each side, chosen from those of its scores, which are in order of preference.

    The result is the requested pair if both sides have it, or else the first common pair, if possible with the
    requested rubric. Without a common judge, both sides have the same rubric and their own judges. A side without
    scores gets the requested pair ("" for any).
    """
    order = sorted(mine, key=lambda one: (rubric not in ("", one[0]), judge not in ("", one[1])))
    common = next((one for one in order if one in other), None)
    if common and (not rubric or common[0] == rubric or not any(one[0] == rubric for one in (*mine, *other))):
        return common, common
    of_one_rubric = ((one, two) for one in order for two in other if one[0] == two[0])
    return next(of_one_rubric, (next(iter(order), (rubric, judge)), next(iter(other), (rubric, judge))))


def by_judges(left: Scale, right: Scale) -> str:
    """Return a text such as ``aeo-bench · offline judge``, with both judges if they differ."""
    a, b = (one_line(in_words(judge), 60) if judge else "none" for _, judge in (left, right))
    if not (rubric := left[0] or right[0]):
        return "no scores"
    return f"{rubric} · " + (a if left == right else f"judges differ, not comparable: A {a}, B {b}")


# -- reading


class TrialSide:
    """A trial with its points by one rubric and judge (``scale``); ``no_card`` says why there are no criteria."""

    def __init__(self, reader: SessionReader, trial: TrialRow, scale: Scale) -> None:
        rubric, judge = scale
        self.trial, self.scale, self.session = trial, scale, reader.path.name
        self.state = trial_state(reader, trial)
        if trial.state in {"queued", "running"}:
            run = reader.run(trial.run_id)
            at_work = run is None or reader.run_state(run) in {"queued", "running"}
            self.state = trial.state if at_work else "interrupted"
        scores = [row for row in reader.scores(trial.id) if (row.rubric, row.judge) == scale]
        self.total = totals_of(reader, scores).get((trial.id, *scale), Total())
        self.card = card_of(reader, scores[0]) if scores else None
        self.no_card = "" if self.card and self.card.criteria else "the scorecard has no readable criteria"
        if not scores:
            by = f" by {one_line(rubric, 40)}, judge {one_line(judge, 40)}" if rubric else ""
            self.no_card = "not scored yet" if self.state in {"queued", "running"} else f"not scored{by}"
        self.case, repeat = trial.case_name or trial.case_id, f"rep {trial.repeat}"
        # The parts that distinguish trials; the content is included only if it differs.
        named = (
            trial.agent,
            trial.model.rpartition("/")[2],
            self.case,
            reader.content_suffix(trial),
            repeat,
            self.session,
        )
        self.parts = [one_line(part, 60) for part in named]
        self.steps = reader.steps(trial.id)
        sizes = dict(reader.files_of(trial.snapshot)) if trial.snapshot else {}
        # A truncated file counts as partly read.
        self.seen = [
            replace(row, access=PARTLY) if row.access == READ and 0 < row.size < WHOLE * sizes.get(row.path, 0) else row
            for row in reader.accessed_files(trial.id)
        ]
        no_readme = {
            "queued": "no README yet: the trial waits for its engine",
            "running": "no README yet: the agent is at work",
            "interrupted": "no README: the trial was interrupted",
            "cancelled": "no README: the trial was cancelled",
            "failed": f"no README: the trial failed: {trial.error or 'no reason was recorded'}",
        }.get(self.state, "no README was submitted")
        title = f"{one_line(trial.agent, 40)}, {repeat}"
        self.readme = read_text(reader, trial.readme_blob, title, f"the README of trial {trial.id}", no_readme)

    def to_json(self) -> dict[str, Any]:
        return {
            "session": self.session,
            **picked(self.trial, "id:trial", "agent", "model", "repeat"),
            "case": self.case,
            "state": self.state,
            "judge": self.scale[1],
            **picked(self.total, "points:score", "out_of"),
        }


def read_side(reader: SessionReader, trial_id: str, rubric: str, judge: str) -> TrialSide | None:
    trial = reader.trial(trial_id)
    return TrialSide(reader, trial, (rubric, judge)) if trial is not None else None


def read_trials(left: panes.Named, right: panes.Named, rubric: str = "", judge: str = "", at: int = 0) -> panes.PairComparison:  # fmt: skip
    mine, other = ([(row.rubric, row.judge) for row in reader.scores(trial)] for reader, trial in (left, right))
    scales = common_scales(mine, other, rubric, judge)
    keys = [(reader, (trial, *scale)) for (reader, trial), scale in zip((left, right), scales, strict=True)]
    return compare(*panes.both(keys[0], keys[1], lambda reader, key: read_side(reader, *key), "Trial"))


# -- points


def criteria_of(card: Scorecard | None) -> dict[Part, Criterion]:
    """Return the criteria that have points, by tier, key or title, and occurrence."""
    found: dict[Part, Criterion] = {}
    counts: Counter[tuple[int, str]] = Counter()
    for one in card.criteria if card is not None else ():
        if one.maximum:
            name = one.tier, one.key or one.title
            found[*name, counts[name]] = one
            counts[name] += 1
    return found


def join_criteria(left: Scorecard | None, right: Scorecard | None) -> list[CriterionPair]:
    """Return each tier, followed by its criteria in the order of the left card, then those only in the right card.

    Criteria without points are omitted. The points of a tier are None if a criterion is unscored or missing.
    """

    def pair(a: Criterion | None, b: Criterion | None, name: str, *, heading: bool = False) -> CriterionPair:
        points = [None if one is None else one.points for one in (a, b)]
        return panes.PairedRow(a, b, name, (difference(*points),), points == [None, None], heading)

    tiers: dict[int, list[CriterionPair]] = {}
    for (tier, name, _), a, b in panes.joined(criteria_of(left), criteria_of(right)):
        title = next((one.title for one in (a, b) if one is not None), "")
        tiers.setdefault(tier, []).append(pair(a, b, title or name))
    rows = []
    for tier, pairs in sorted(tiers.items()):
        name = f"{tier} {TIER_NAMES.get(tier, f'Tier {tier}')}"
        a, b = _sum(tier, name, [one.left for one in pairs]), _sum(tier, name, [one.right for one in pairs])
        rows += [pair(a, b, name, heading=True), *pairs]
    return rows


def _sum(tier: int, name: str, criteria: Sequence[Criterion | None]) -> Criterion:
    given = [one.points for one in criteria if one is not None and one.points is not None]
    whole = round(math.fsum(given), 6) if len(given) == len(criteria) else None
    return Criterion(tier, "", name, whole, 0.0, "")


def criteria_pane(rows: Sequence[CriterionPair], nothing: str) -> panes.PaneTable[CriterionPair]:
    signs = Counter(row.sign for row in rows if not row.heading)
    wins, losses, same = (signs.pop(one, 0) for one in (panes.MORE, panes.LESS, panes.SAME))
    summary = [f"B wins {wins}, loses {losses}"] if wins or losses else []
    summary += [f"{signs.total()} scored on one side only"] if signs else []

    def points(row: CriterionPair, one: Criterion | None) -> panes.Cell:
        shown = NOTHING if one is None else "?" if one.points is None else f"{one.points:.1f}"
        return shown, "strong" if row.heading else ""

    def reason(judged: Criterion | None) -> str:
        if judged is None:
            return "not in its scorecard"
        # The judge is shown above the panes, so omit it here.
        return one_line(judged.reason, 2_000).removeprefix("offline judge: ") or "no reason was recorded"

    def why(row: CriterionPair) -> panes.Cell:
        """Return the reason for the side that is unscored or has fewer points."""
        if row.heading or row.sign == panes.SAME:
            return ""
        of_b = row.left is not None and row.left.points is not None if row.gap is None else row.gap < 0
        return f"B: {reason(row.right)}" if of_b else f"A: {reason(row.left)}", "dim"

    return panes.PaneTable(
        summary=" · ".join(summary) or ("all the same" if same else ""),
        rows=rows,
        columns=(
            panes.PaneColumn("criterion", lambda row: (one_line(row.name, 60), "strong" if row.heading else ""), 14, 28, text=True),
            panes.PaneColumn("A", lambda row: points(row, row.left), 6),
            panes.PaneColumn("B", lambda row: points(row, row.right), 6),
            panes.PaneColumn("B − A", lambda row: panes.change_cell(row.gap, 1, "", ""), 6),
            panes.texts("why", why, 12, 2_000, priority=1, cut="end"),
        ),
        nothing=nothing,
        says=reason,
    )  # fmt: skip


# -- comparing


def align_steps(left: Sequence[StepRow], right: Sequence[StepRow]) -> list[StepPair]:
    # The target of a ``respond`` step is the size of the README, which hardly ever matches, so ignore it.
    mine, other = ([(one.kind, one.action, one.kind != "respond" and one.target) for one in of] for of in (left, right))
    places = align(longest_common(mine, other), len(left), len(right))
    return [
        panes.PairedRow(None if i is None else left[i], None if j is None else right[j], same=True) for i, j in places
    ]


def _target(pair: StepPair) -> str:
    if pair.left is not None and pair.right is not None and pair.left.target != pair.right.target:
        mine, other = one_line(pair.left.target, 200).split(), one_line(pair.right.target, 200).split()
        alike = len(list(takewhile(lambda words: words[0] == words[1], zip(mine, other, strict=False))))
        return " ".join([*mine[:alike], "A", *mine[alike:], "· B", *other[alike:]])
    return one_line(pair.either.target, 400)


def join_files(left: Iterable[AccessedFileRow], right: Iterable[AccessedFileRow]) -> list[panes.PairedRow[str]]:
    """Return the paths that either agent saw, sorted, each with its closest access.

    A closer access counts as a higher value.
    """
    closeness = {how: at for at, how in enumerate(_LOOKS)}
    looks = [{row.path: row.access for row in sorted(seen, key=lambda row: closeness.get(row.access, 0))} for seen in (left, right)]  # fmt: skip
    return [
        panes.PairedRow(a, b, path, (closeness.get(b, 0) - closeness.get(a, 0),))
        for path, a, b in sorted(panes.joined(*looks), key=lambda one: one[0])
    ]


def compare(left: TrialSide, right: TrialSide) -> panes.PairComparison:
    a, b = left.trial, right.trial
    steps, points = align_steps(left.steps, right.steps), join_criteria(left.card, right.card)
    files = join_files(left.seen, right.seen)
    readme = compare_texts(left.readme, right.readme, page=False)
    tokens = [one.prompt_tokens + one.completion_tokens for one in (a, b)]
    same_scale = len({(one.scale, one.total.out_of, one.total.tiers) for one in (left, right)}) == 1
    amounts = {
        "steps": panes.Amount("steps", a.steps, b.steps, 6, 0, 3),
        "tokens": panes.Amount("tokens", tokens[0], tokens[1], 10, 0, 5),
        "seconds": panes.Amount("s", a.seconds, b.seconds, 8, 1, 4),
        "cost": panes.Amount("$", a.cost_usd, b.cost_usd, 9, 4, 1),
        "score": panes.Amount("score", left.total.points, right.total.points, 7, 1, comparable=same_scale),
    }
    states = [
        (f"{STATES.get(one.state, '?')} {one.state}", _STATE_STYLES.get(one.state, "dim")) for one in (left, right)
    ]
    scores = [panes.points(one.total.points, one.total.out_of) for one in (left, right)]
    gap = panes.change_cell(amounts["score"].difference, 1, "", "")
    shared = [mine for mine, theirs in zip(left.parts[:-1], right.parts, strict=False) if mine and mine == theirs]
    common, last = (
        sum(pair.both for pair in steps),
        max((step.number for step in (*left.steps, *right.steps)), default=0),
    )
    size = max(2, len(f"{last:,}"))
    apart = f"A {len(left.steps):,} · B {len(right.steps):,} · {common:,} in common"
    reasons = [one_line(side.no_card, 400) for side in (left, right)]
    nothing = f"A and B: {reasons[0]}" if reasons[0] == reasons[1] else f"A: {reasons[0]}\nB: {reasons[1]}"
    return panes.PairComparison(
        names=panes.names_apart(left.parts, right.parts, 0, 6),
        shared=" · ".join(shared),
        columns=(
            panes.head_column("state", (*states, ""), 13, 2, text=True),
            *(one.column for name, one in amounts.items() if name != "score"),
            panes.head_column("score", (*scores, gap), 7, style="score"),
        ),
        status=by_judges(left.scale, right.scale),
        leads=(panes.Lead("trial", a.id), panes.Lead("trial", b.id, of_b=True)),
        scale=left.scale,
        panes={
            "Steps": panes.PaneTable(
                summary=f"{common:,}, the same" if common == len(steps) else apart,
                rows=steps,
                columns=(
                    *panes.sided("{}", lambda step: (f"{step.number:,}" if step else NOTHING, "dim"), size),
                    panes.PaneColumn("action", lambda pair: one_line(pair.either.action, 15), 15, text=True),
                    panes.PaneColumn("target", _target, widest=400, text=True),
                ),
                nothing="Neither trial has a step.",
                number=lambda pair: pair.either.number,
                page="",
            ),
            "Points": criteria_pane(points, nothing),
            "Files": panes.PaneTable(
                summary=f"A {sum(bool(one.left) for one in files):,} · B {sum(bool(one.right) for one in files):,}",
                rows=files,
                columns=(
                    *panes.sided("{}", lambda how: _LOOKS.get(how, (how or "", "")), text=True),
                    panes.texts("path", lambda pair: pair.name, widest=400),
                ),
                nothing="Neither agent saw a file.",
                page="",
            ),
            "README": readme,
        },
        to_json=lambda: {
            "a": left.to_json(),
            "b": right.to_json(),
            "efforts": {name: one.to_json() for name, one in amounts.items()},
            "points": [
                {
                    "tier": one.either.tier,
                    "criterion": one.name,
                    **one.to_json(lambda judged: judged.points),
                    "difference": one.gap,
                    "reason_a": one.left.reason if one.left else None,
                    "reason_b": one.right.reason if one.right else None,
                }
                for one in points
                if not one.heading
            ],
            "steps": {"a": len(left.steps), "b": len(right.steps), "common": common},
            "files": [{"path": one.name, "a": one.left, "b": one.right} for one in files],
            "words": dict(zip(("a", "b", "common"), readme.words, strict=True)),
        },
    )


TRIALS = panes.ComparisonKind("trials", "two trials", ("Steps", "Points", "Files", "README"), read_trials)
