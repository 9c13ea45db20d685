"""Scores: scorecards, totals, spread over repeats, and agreement of judges."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from workbench.results.spread import Total
from workbench.rubric.scorecard import NO_FACTS_POINTS, Criterion, Scorecard
from workbench.session.rows import ScoreRow
from workbench.session.schema import COUNTED

if TYPE_CHECKING:
    from workbench.results.spread import Agreement, PointSpread
    from workbench.session.reader import SessionReader
    from workbench.session.rows import TrialRow

_HELD = "SELECT DISTINCT trial_id FROM steps JOIN calls ON calls.id = call_id WHERE kind = 'respond' AND response_schema_blob IS NOT NULL"
_MOST_REPEATS = 200
_MOST_CARDS = 20_000
# Digest of a scorecard -> points from its format, and whether tier 3 was credited. Both depend only on the content, so
# they can be cached.
_read_cards: dict[str, tuple[float, bool]] = {}


@dataclass(frozen=True, slots=True)
class ImportedScore:
    """A score by another program's scorer; no figure includes it."""

    scorer: str
    value: str
    explanation: str


def card_of(reader: SessionReader, score: ScoreRow) -> Scorecard | None:
    """Return the scorecard without its damaged parts, or None if nothing can be read."""
    values = reader.card(score)
    return Scorecard.from_json(values) if values else None


def cards_of(reader: SessionReader, scores: Iterable[ScoreRow]) -> tuple[Scorecard, ...]:
    return tuple(card for score in scores if (card := card_of(reader, score)) is not None)


def scores_of(reader: SessionReader, trials: Iterable[str]) -> list[ScoreRow]:
    where = "WHERE trial_id IN (SELECT value FROM json_each(?))"
    return reader.rows(ScoreRow, "scorecards", where, (json.dumps(list(trials)),))


def scores_version(reader: SessionReader) -> tuple[int, float]:
    """Return the number of scorecards and the time of the newest, which change with each new one."""
    count, last = reader.query("SELECT count(*), coalesce(max(at), 0) FROM scorecards")[0]
    return count, last


def totals_of(reader: SessionReader, scores: Iterable[ScoreRow]) -> dict[tuple[str, str, str], Total]:
    """Return the totals of scores by trial, rubric and judge.

    A scorecard is only read if its trial had to follow a format, or if its tier 3 points equal those credited to a case
    without facts.
    """
    held = {trial for (trial,) in reader.query(_HELD)}
    found = {}
    for score in scores:
        from_format, credited = 0.0, False
        if score.trial_id in held or score.tier3 == NO_FACTS_POINTS:
            if score.card_blob not in _read_cards:
                if len(_read_cards) > _MOST_CARDS:
                    _read_cards.clear()
                card = card_of(reader, score)
                _read_cards[score.card_blob] = (card.given or 0.0, card.credited) if card is not None else (0.0, False)
            from_format, credited = _read_cards[score.card_blob]
        tiers = tuple(number for number in (1, 2, 3, 4) if number not in score.unscored)
        key = score.trial_id, score.rubric, score.judge
        found[key] = Total(score.total, score.out_of, tiers, from_format, credited)
    return found


def agreement_of(reader: SessionReader, documents: Iterable[Sequence[ScoreRow]]) -> tuple[Agreement, ...]:
    """Return the agreement of judges over documents, each represented by its scores; () if none has two judges."""
    several = []
    for scores in documents:
        judges: dict[str, set[str]] = {}
        for score in scores:
            judges.setdefault(score.rubric, set()).add(score.judge)
        if mine := [score for score in scores if len(judges[score.rubric]) > 1]:
            several.append(cards_of(reader, mine))
    if not several:
        return ()
    from workbench.results.spread import agreements

    return tuple(agreements(several))


def agreement_on(reader: SessionReader, cards: Sequence[Scorecard]) -> tuple[Agreement, ...]:
    """Return the agreement, over all trials, of the judges that scored one trial.

    () if each judge used another rubric.
    """
    rubrics = [card.rubric for card in cards]
    trials: dict[str, list[ScoreRow]] = {}
    for score in reader.scores() if len(set(rubrics)) < len(rubrics) else ():
        if rubrics.count(score.rubric) > 1:
            trials.setdefault(score.trial_id, []).append(score)
    return agreement_of(reader, trials.values())


def repeat_spreads(reader: SessionReader, trial: TrialRow) -> Mapping[tuple[str, str], tuple[PointSpread, ...]]:
    """Return the spread of points over a trial's newest repeats, by rubric and judge.

    Repeats have the same case, content, agent and model.
    """
    repeats = _repeats(reader, trial)
    if len(repeats) < 2:
        return {}
    from workbench.results.spread import point_spreads

    cards: dict[tuple[str, str], list[Scorecard]] = {}
    for card in cards_of(reader, (score for repeat in repeats for score in reader.scores(repeat))):
        cards.setdefault((card.rubric, card.judge), []).append(card)
    return {scale: point_spreads(mine) for scale, mine in cards.items() if len(mine) > 1}


def _repeats(reader: SessionReader, trial: TrialRow) -> list[str]:
    found = reader.query(
        f"SELECT id FROM trials WHERE case_id = ? AND content = ? AND agent = ? AND model = ? AND (({COUNTED}) "
        "OR id = ?) ORDER BY started_at DESC LIMIT ?",
        (trial.case_id, trial.content, trial.agent, trial.model, trial.id, _MOST_REPEATS),
    )
    return [key for (key,) in found]


def imported_scores(reader: SessionReader, trial: str) -> tuple[ImportedScore, ...]:
    origin = reader.imported(trial)
    if origin is None:
        return ()
    of = f"the origin of trial {trial}"
    found = reader.decoded(reader.text_or_none(origin.extra_blob, of), dict, of).get("scores")
    return tuple(
        ImportedScore(*(str(one.get(name) or "") for name in ("scorer", "value", "explanation")))
        for one in (found if isinstance(found, list) else ())
        if isinstance(one, dict)
    )


@dataclass(frozen=True, slots=True)
class AgentScore:
    """An agent's newest score on a case."""

    agent: str
    total: Total
    state: str

    @property
    def share(self) -> float | None:
        return None if self.total.share is None else self.total.share / 100


def last_scores(reader: SessionReader, rubric: str = "aeo-bench") -> dict[str, tuple[AgentScore, ...]]:
    """Return the newest score of each agent by case; agents are in the order of their first use."""
    totals: dict[str, Total] = {}
    for (trial_id, _, _), total in totals_of(reader, [row for row in reader.scores() if row.rubric == rubric]).items():
        # Use the first judge, as all other lists do.
        totals.setdefault(trial_id, total)
    runs = {run.id: reader.run_state(run) for run in reader.runs()}
    newest: dict[str, dict[str, AgentScore]] = {}
    for trial in reader.trials():
        if trial.parent:  # a fork does not measure the agent alone
            continue
        by_agent = newest.setdefault(trial.case_id, {})
        # A trial without an engine is still marked as running, so use the state of its run.
        going = trial.state in {"queued", "running"}
        run = runs.get(trial.run_id, trial.state)
        state = run if going and run not in {"queued", "running"} else trial.state
        score = AgentScore(trial.agent, totals.get(trial.id, Total()), state)
        before = by_agent.get(trial.agent)
        # A queued trial does not replace an existing score.
        if before is None or score.total.points is not None or before.total.points is None:
            by_agent[trial.agent] = score
    return {case: tuple(scores.values()) for case, scores in newest.items()}


# -- missing points

Standing = Literal["good", "middling", "poor"]

GOOD, MIDDLING = 0.7, 0.4
"""Minimum shares of the points for a good and a middling score; lower scores are poor."""


def standing(share: float) -> Standing:
    return "good" if share >= GOOD else "middling" if share >= MIDDLING else "poor"


Lost = tuple[tuple[str, float], ...]
"""Titles of the criteria that lost points, each with the number of points lost."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Points lost by a criterion: the mean over scorecards, and the number of ``trials`` that lost any."""

    title: str
    mean: float
    trials: int


def lost_points(card: Scorecard | None) -> Lost:
    """Return the points lost by a scorecard's criteria, without unscored criteria and those with full points."""
    criteria = card.criteria if card is not None else ()
    return tuple((one.title, one.missing) for one in criteria if one.points is not None and one.missing > 0)


def losses_among(cards: Sequence[Lost]) -> list[Loss]:
    points: dict[str, float] = {}
    trials: dict[str, int] = {}
    for lost in cards:
        for title, many in lost:
            points[title] = points.get(title, 0.0) + many
            trials[title] = trials.get(title, 0) + 1
    losses = [Loss(title, points[title] / len(cards), trials[title]) for title in points]
    return sorted(losses, key=lambda loss: (-loss.mean, loss.title))


def missing_points(card: Scorecard) -> tuple[tuple[Criterion, float], ...]:
    """Return the criteria with less than full points, largest loss first and unscored ones last.

    Each criterion comes with the total that the scorecard would reach without its loss and all larger losses; this
    total excludes unscored criteria.
    """
    criteria = [one for one in card.criteria if one.maximum]
    lacking = [one for one in criteria if one.points is not None and one.missing]
    total = math.fsum(one.points for one in criteria if one.points is not None)
    found = []
    for one in sorted(lacking, key=lambda one: (-one.missing, one.tier, one.title)):
        total += one.missing
        found.append((one, round(total, 6)))
    return (*found, *((one, round(total, 6)) for one in criteria if one.points is None))
