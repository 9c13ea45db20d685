"""Tier 3 without a model: the README compared with the case's facts, word by word and command by command.

It measures what can be measured: a README in other words than the facts scores lower here than with a model judge, and
a false sentence made of the right words scores as if it were true. What it finds is shown, with the place.
"""

from __future__ import annotations

import ast
import re

from workbench.rubric import commands, spans, terms
from workbench.rubric.judging import FactsLike, Question
from workbench.rubric.offline_reading import Reading, verdict
from workbench.rubric.scorecard import Criterion, Evidence

_COMMON_FILES = frozenset({"main.py", "cli.py", "app.py", "__main__.py", "__init__.py", "core.py", "run.py"})
FULL_COVERAGE = 0.7
"""Share of the facts' weighted words, near each other, that earns full points: paraphrase needs room."""
NO_COVERAGE = 0.15
"""Share below which nothing is earned: any two English texts have that much in common."""


def purpose(question: Question, facts: FactsLike, reading: Reading) -> Criterion:
    """Score how much of the facts' main purpose the README says, best within one paragraph."""
    wanted = terms.weights(facts.main_purpose)
    if not wanted:
        return verdict(question, None, "the facts state no main purpose")
    found = terms.coverage(wanted, reading.words)
    measure = 0.6 * found.together + 0.4 * found.share
    points = question.maximum * ramp(measure)
    spelled = terms.spelled(facts.main_purpose)
    reason = f"{found.together:.0%} of the purpose's words stand in one paragraph, {found.share:.0%} anywhere" + (
        f"; missing: {', '.join(spelled[item] for item in found.missing[:6])}" if found.missing else ""
    )
    evidence = [spans.fact(facts.main_purpose)]
    if found.end > found.start:
        evidence.insert(0, spans.at(reading.readme, found.start, found.end))
    return verdict(question, points, reason, evidence)


def ramp(share: float) -> float:
    """Return 0 below 15 % of the words, 1 from 70 %, straight between."""
    return min(1.0, max(0.0, (share - NO_COVERAGE) / (FULL_COVERAGE - NO_COVERAGE)))


def run_command(question: Question, facts: FactsLike, reading: Reading) -> Criterion:
    """Score the run command: the same (all), the same program with other arguments, the right file, or a mention."""
    wanted = commands.normal(commands.split(facts.run_command))
    if not wanted:
        return verdict(question, None, "the facts state no run command")
    start_of = commands.head(wanted)
    share, said, place = 0.0, f"no command starts {' '.join(start_of)}", None
    for command in reading.commands:
        value, what = _alike(command, wanted, start_of, facts.main_file)
        if value > share:
            share, said, place = value, what, spans.at(reading.readme, command.start, command.end)
    if share < 0.9 and (code := _in_code(facts.run_command, reading)) is not None:
        share, said, place = 1.0, "shows the same code", code
    if not share:
        name = facts.main_file.rsplit("/", 1)[-1]
        found = reading.outline.text.find(name) if name else -1
        if found >= 0:
            share, said = 0.2, f"names {name} but no command that runs it"
            place = spans.at(reading.readme, found, found + len(name))
    wrong = _missing_files(reading)
    if wrong is not None:
        share, said = max(0.0, share - 0.25), f"{said}; {wrong.text!r} runs a file that is not there"
    evidence = [item for item in (place, wrong) if item is not None]
    return verdict(question, question.maximum * share, said, [*evidence, spans.fact(facts.run_command)])


def _alike(
    command: commands.Command, wanted: tuple[str, ...], start: tuple[str, ...], main_file: str
) -> tuple[float, str]:
    words = command.words
    if words == wanted or (words[: len(wanted)] == wanted and len(start) > 1):
        return 1.0, "gives the run command"
    if commands.head(words) == start:
        options = [word for word in wanted[len(start) :] if word.startswith("-")]
        if all(option in words for option in options):
            return 1.0, "gives the run command, with other arguments"
        return 0.85, "starts the right program, without all of its options"
    module = main_file.removesuffix(".py").replace("/", ".").removesuffix(".__main__").removesuffix(".__init__")
    if words[:2] == ("python", main_file) or (module and words[:3] == ("python", "-m", module)):
        return 0.85, "runs the right file, in another way than the facts"
    name = main_file.rsplit("/", 1)[-1]
    # ``main.py`` is everybody's file name: only with its folder does it mean this project's.
    name = main_file if name in _COMMON_FILES else name
    if name and any(word == name or word.endswith(f"/{name}") for word in words) and len(words) > 1:
        return 0.6, f"a command uses {name}, but not as the facts do"
    return 0.0, ""


def _in_code(code: str, reading: Reading) -> Evidence | None:
    """Find the facts' run command where it is Python code rather than a shell command."""
    flat = re.sub(r"\s+", "", code).replace("'", '"')
    try:
        if len(flat) < 4 or not any(
            isinstance(n, ast.Import | ast.ImportFrom | ast.Call) for n in ast.walk(ast.parse(code))
        ):
            return None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for fence in reading.outline.fences:
        if flat in re.sub(r"\s+", "", fence.code).replace("'", '"'):
            return spans.at(reading.readme, fence.start, fence.end)
    return None


def _missing_files(reading: Reading) -> Evidence | None:
    for command in reading.commands:
        if command.words[:1] == ("python",) and len(command.words) > 1:
            name = command.words[1]
            if name.endswith(".py") and reading.project.lacks(name):
                return spans.at(reading.readme, command.start, command.end)
    return None


def key_features(question: Question, facts: FactsLike, reading: Reading) -> Criterion:
    """Score the share of key features of which at least 60 % of the words stand in one paragraph."""
    if not facts.key_features:
        return verdict(question, None, "the facts list no key features")
    evidence: list[Evidence] = []
    missing: list[str] = []
    for feature in facts.key_features:
        found = terms.coverage(terms.weights(feature), reading.words)
        if found.together >= 0.6:
            evidence.append(spans.at(reading.readme, found.start, found.end))
        else:
            missing.append(spans.quote(feature, 50))
    have = len(facts.key_features) - len(missing)
    reason = f"describes {have} of {len(facts.key_features)} key features"
    reason += f"; not found: {'; '.join(missing[:4])}" if missing else ""
    evidence.append(spans.fact("key features: " + "; ".join(facts.key_features)))
    return verdict(question, question.maximum * have / len(facts.key_features), reason, evidence)
