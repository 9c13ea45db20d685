"""Does the offline judge tell a real README from worse ones? The validity ladder, on sixteen projects.

    python tests/benchmarks/judge_ladder.py [--cache FOLDER] [--verbose]

The six bundled cases and ten real projects (five that the judge was made with, five held out). Each rung of the ladder is the
real README made worse in one known way, or no README of this project at all. Without the reference README: it would be
the key to its own exam. Aims: the real README wins at least 95 % of the pairs; what is no README of this project has at most
35 of the 60 judged points (tiers 3 and 4; where facts are missing and tier 3 is unscored, 17.5 of 30).
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from pathlib import Path
from typing import Any

from figures import Figure, publish
from ladder_projects import HELD_OUT, TUNED, bundled, downloaded
from ladder_rungs import LIMITED, MOST, RUNGS, Project

from workbench.rubric import OfflineJudge, score
from workbench.rubric.scorecard import NO_FACTS_POINTS

METADATA = {"@context": "https://schema.org", "@type": "SoftwareSourceCode", "name": "n", "description": "d"}


async def judged(readme: str, project: Project, rubric: str, facts: bool) -> tuple[float, float]:
    """Return the judged points, scaled to 60, and those of tier 4."""
    card = await score(
        readme,
        METADATA,
        parsed=True,
        rubric=rubric,
        facts=project.facts if facts else None,
        reference_readme=None,
        view=project.view,
        judge=OfflineJudge(),
        without_facts=NO_FACTS_POINTS,
    )
    tiers = [tier for number, tier in card.tiers.items() if number > 2 and tier.points is not None]
    got, most = sum(tier.points or 0.0 for tier in tiers), sum(tier.maximum for tier in tiers)
    return got * 60 / most if most else 0.0, card.tiers[4].points or 0.0


async def climb(projects: list[Project], rubric: str, facts: bool) -> list[dict[str, Any]]:
    """Return one row for each project and rung."""
    rows: list[dict[str, Any]] = []
    for index, project in enumerate(projects):
        other = projects[(index + 3) % len(projects)]
        real, fourth = await judged(project.readme, project, rubric, facts)
        rows.append(
            {"project": project.name, "held_out": project.held_out, "rung": "real", "points": real, "quality": fourth}
        )
        for rung, made in RUNGS.items():
            points, fourth = await judged(made(project, other), project, rubric, facts)
            rows.append(
                {
                    "project": project.name,
                    "held_out": project.held_out,
                    "rung": rung,
                    "points": points,
                    "quality": fourth,
                    "wins": real > points + 1e-9,
                    "over": rung in LIMITED and points > MOST,
                }
            )
    return rows


def table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print the mean points and the share of won pairs of each rung."""
    if not rows:
        return
    print(f"\n{title}\n{'rung':<20} {'mean':>5} {'most':>5} {'tier 4':>6} {'real wins':>9} {'over 35':>7}")
    for rung in ("real", *RUNGS):
        mine = [row for row in rows if row["rung"] == rung]
        points = [row["points"] for row in mine]
        line = f"{rung:<20} {statistics.fmean(points):5.1f} {max(points):5.1f} {statistics.fmean(r['quality'] for r in mine):6.1f}"
        if rung != "real":
            line += f" {sum(row['wins'] for row in mine):>4}/{len(mine):<4}"
            line += f" {sum(row['over'] for row in mine):>7}" if rung in LIMITED else ""
        print(line)
    pairs = [row["wins"] for row in rows if "wins" in row]
    print(
        f"real README wins {sum(pairs)} of {len(pairs)} pairs, {sum(pairs) / len(pairs):.3f}; over 35: {sum(r.get('over', False) for r in rows)}"
    )


async def main() -> int:
    """Climb with both rubrics, with and without facts, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "workbench-ladder")
    parser.add_argument("--verbose", action="store_true", help="print every pair that is lost and every rung above 35")
    parser.add_argument(
        "--no-held-out", action="store_true", help="leave the held-out projects alone (while changing the judge)"
    )
    arguments = parser.parse_args()
    projects = bundled() + downloaded(TUNED, arguments.cache, held_out=False)
    if not arguments.no_held_out:
        projects += downloaded(HELD_OUT, arguments.cache, held_out=True)
    figures = []
    for rubric in ("aeo-bench", "strict"):
        for facts in (True, False):
            rows = await climb(projects, rubric, facts)
            conditions = f"{rubric}, {'with' if facts else 'without'} facts"
            for title, held_out in (("six cases and five projects", False), ("five held-out projects", True)):
                chosen = [row for row in rows if row["held_out"] is held_out]
                if not chosen:
                    continue
                table(f"{conditions}: {title}", chosen)
                wins = [row["wins"] for row in chosen if "wins" in row]
                share = sum(wins) / len(wins)
                target = 0.95 if rubric == "aeo-bench" and facts and not held_out else None
                what = f"offline judge: the real README wins ({conditions}, {title})"
                figures.append(Figure(what, f"{sum(wins)} pairs", f"{len(wins)} pairs", share, target, at_least=True))
            if arguments.verbose:
                for row in rows:
                    if not row.get("wins", True) or row.get("over"):
                        print(f"  {row['project']:<20} {row['rung']:<20} {row['points']:5.1f}")
    return publish(figures)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
