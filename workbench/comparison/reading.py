"""What a comparison needs of a trial, read from its session; damage becomes a sentence, never an error."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.comparison.texts import MOST_BYTES
from workbench.comparison.trials import Side
from workbench.grounding.exploration import PARTLY, READ, WHOLE
from workbench.results.scores import card_of
from workbench.session.pending_work import trial_state
from workbench.session.row_reader import TextDamaged
from workbench.text import clean, one_line

if TYPE_CHECKING:
    from workbench.rubric.scorecard import Scorecard
    from workbench.session.reader import SessionReader
    from workbench.session.rows import AccessedFileRow, ScoreRow, TrialRow


def read_side(reader: SessionReader, trial_id: str, rubric: str, judge: str) -> Side | None:
    """Read a trial with its points by one rubric and judge; None if it is not in the session.

    Raises:
        SessionError: The file cannot be read at all.
    """
    trial = reader.trial(trial_id)
    if trial is None:
        return None
    state = _state(reader, trial)
    readme, no_readme = _readme(reader, trial, state)
    score = next((row for row in reader.scores(trial_id) if (row.rubric, row.judge) == (rubric, judge)), None)
    card, no_card = _card(reader, score, state, rubric, judge)
    return Side(
        trial=trial,
        state=state,
        told_apart=reader.told_apart(trial),
        steps=tuple(reader.steps(trial_id)),
        seen=_seen(reader, trial),
        readme=readme,
        no_readme=no_readme,
        cut=readme is not None and reader.size(trial.readme_blob) > MOST_BYTES,
        total=score.total if score is not None else None,
        out_of=score.out_of if score is not None else 0.0,
        card=card,
        no_card=no_card,
        session=reader.path.name,
        judge=judge,
        rubric=rubric,
        unscored=score.unscored if score is not None else (),
    )


Scale = tuple[str, str]
"""Rubric and judge."""


def scales_of(
    left: tuple[SessionReader, str], right: tuple[SessionReader, str], rubric: str = "", judge: str = ""
) -> tuple[Scale, Scale]:
    """Return by which rubric and judge each of two trials is read.

    That is the wanted one if both have it, else the first one that both have, of the wanted rubric if possible. Two that no judge
    has in common are read by one rubric and each by its own judge, which the reader must be told; a trial without such points
    gets what was wanted, and is then said not to be scored by it.

    Args:
        left: The session of one trial, and the trial.
        right: Those of the other.
        rubric: The wanted rubric, "" for any.
        judge: The wanted judge, "" for any.
    """
    mine, other = ([(row.rubric, row.judge) for row in reader.scores(trial)] for reader, trial in (left, right))
    order = sorted(mine, key=lambda one: (rubric not in ("", one[0]), judge not in ("", one[1])))
    both = next((one for one in order if one in other), None)
    if both is not None and (not rubric or both[0] == rubric or not any(one[0] == rubric for one in (*mine, *other))):
        return both, both
    for one in order:
        theirs = next((two for two in other if two[0] == one[0]), None)
        if theirs is not None:
            return one, theirs
    return next(iter(order), (rubric, judge)), next(iter(other), (rubric, judge))


def _state(reader: SessionReader, trial: TrialRow) -> str:
    if trial.state in {"queued", "running"}:
        run = reader.run(trial.run_id)
        of_run = reader.run_state(run) if run is not None else trial.state
        return trial.state if of_run in {"queued", "running"} else "interrupted"
    return trial_state(reader, trial)


def _seen(reader: SessionReader, trial: TrialRow) -> tuple[AccessedFileRow, ...]:
    """Return the paths that the agent saw; a file of which it was shown a part only is partly read."""
    sizes = dict(reader.files_of(trial.snapshot)) if trial.snapshot else {}
    return tuple(
        replace(row, how=PARTLY) if row.how == READ and 0 < row.size < WHOLE * sizes.get(row.path, 0) else row
        for row in reader.seen(trial.id)
    )


def _readme(reader: SessionReader, trial: TrialRow, state: str) -> tuple[str | None, str]:
    if trial.readme_blob is not None:
        try:
            text = reader.text(trial.readme_blob, MOST_BYTES, of=f"the README of trial {trial.id}")
        except TextDamaged as error:
            return None, one_line(str(error), 300)
        return clean(text), ""
    why = {
        "queued": "no README yet: the trial waits for its engine",
        "running": "no README yet: the agent is at work",
        "interrupted": "no README: the trial was interrupted",
        "cancelled": "no README: the trial was cancelled",
        "failed": f"no README: the trial failed: {trial.error or 'no reason was recorded'}",
    }.get(state, "no README was handed in")
    return None, one_line(why, 300)


def _card(
    reader: SessionReader, row: ScoreRow | None, state: str, rubric: str, judge: str
) -> tuple[Scorecard | None, str]:
    if row is None:
        by = f" by {one_line(rubric, 40)}, judge {one_line(judge, 40)}" if rubric else ""
        why = "not scored yet" if state in {"queued", "running"} else f"not scored{by}"
        return None, why
    card = card_of(reader, row)
    return card, "" if card is not None and card.criteria else "the scorecard has no criteria to be read"
