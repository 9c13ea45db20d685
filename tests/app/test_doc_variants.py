"""Doc variants of other runs of the source stand as cells beside those in front, joined by what the tasks are."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from regenerated import EVALUATOR, RUN, Recorder
from regeneration_app import press, regeneration
from trajectory_app import screen_text, until

from workbench.app.regeneration.evaluator_results import (
    MOST_VARIANTS,
    EvaluatorResults,
    OtherSamples,
    load_variants,
    other_samples,
)
from workbench.results.regeneration_runs import load_view
from workbench.results.samples import SampleState
from workbench.session import SessionReader

LLM = "llm:openai/gpt-5-mini"


def variant(recorder: Recorder, run_id: str, docs: str, cells: dict[str, str], **more: object) -> None:
    """Record a run with these docs: cells by function, a trailing ``#2`` is the second one of that name."""
    prompt = str(more.pop("prompt", ""))
    recorder.run(run_id=run_id, **{"docs": docs, **more})
    scope = str(more.get("docs_scope", "repository"))
    for place, (name, said) in enumerate(cells.items()):
        function, _, number = name.partition("#")
        task = recorder.task(
            function,
            place,
            id=f"{run_id}-{place}",
            run_id=run_id,
            docs=docs,
            docs_scope=scope,
            occurrence=int(number or 1),
        )
        recorder.cells(task, said, run_id=run_id, prompt=prompt)


def samples(signs: str) -> tuple[SampleState, ...]:
    """Return tested samples by the signs of their verdicts."""
    return tuple(SampleState({"✓": "passed", "✗": "failed", "⧖": "timeout"}[sign], route="hot") for sign in signs)


def variants(path: Path, run_id: str = RUN) -> tuple[OtherSamples, ...]:
    with SessionReader(path) as reader:
        view = load_view(reader, run_id)
        assert view is not None
        return load_variants(reader, view).get(view.group, ())


def test_cells_are_joined_by_function_and_the_newest_run_of_each_variant_counts(tmp_path: Path) -> None:
    path = tmp_path / "docs.session"
    recorder = Recorder(path)
    variant(recorder, RUN, "original", {"f": "✓✓", "f#2": "✓✗", "g": "✓✓"})
    variant(recorder, "older", "none", {"f": "✓✓"})
    variant(recorder, "none", "none", {"g": "✗✗", "f#2": "✗✓", "elsewhere": "✓✓"})
    variant(recorder, "same-docs", "original", {"f": "✗✗"})
    variant(recorder, "scope", "original", {"f": "⧖⧖"}, docs_scope="target")
    variant(recorder, "other-source", LLM, {"f": "✓✓"}, source="another")
    variant(recorder, "other-prompt", LLM, {"f": "✓✓"}, prompt="another")
    recorder.close()
    assert variants(path) == (
        OtherSamples("none", {f"{RUN}-2": samples("✗✗"), f"{RUN}-1": samples("✗✓")}),
        OtherSamples("original (target)", {f"{RUN}-0": samples("⧖⧖")}),
    )


def test_so_many_variants_stand_there_the_newest_ones_by_names_that_differ(tmp_path: Path) -> None:
    path = tmp_path / "docs.session"
    recorder = Recorder(path)
    variant(recorder, RUN, "original", {"f": "✓"})
    for number, docs in enumerate(("none", "llm:a/m", "llm:b/m", LLM)):
        variant(recorder, f"run-{number}", docs, {"f": "✗"})
    recorder.close()
    assert [one.name for one in variants(path)] == ["llm:a/m", "llm:b/m", "llm:gpt-5-mini"]
    assert MOST_VARIANTS == 3


def test_among_evaluators_a_column_says_that_it_is_of_docs(tmp_path: Path) -> None:
    path = tmp_path / "docs.session"
    recorder = Recorder(path)
    variant(recorder, RUN, "original", {"f": "✓"})
    recorder.cells(f"{RUN}-0", "✗", evaluator="openai/other")
    variant(recorder, "none", "none", {"f": "✗"})
    recorder.close()
    with SessionReader(path) as reader:
        view = load_view(reader, RUN, evaluator=EVALUATOR)
        assert view is not None
        cells = {group: {f"{RUN}-0": samples("✗")} for group in view.groups}
        shown, found = other_samples(view, EvaluatorResults(samples=cells, variants=load_variants(reader, view)))
    assert [shown, *(one.name for one in found)] == ["gpt-5-mini", "other", "docs none"]


async def test_a_variant_of_another_run_stands_beside_the_samples_in_front(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "docs.session")
    variant(recorder, RUN, LLM, {"f": "✓✓✓", "g": "✓✓✗"})
    variant(recorder, "bare", "none", {"g": "✗✗✓", "f": "✗⧖✗", "h": "✗✗✗"})
    async with regeneration(tmp_path / "docs.session", size=(200, 60)) as (pilot, screen):

        def row(word: str) -> list[str]:
            return next((line.split() for line in screen_text(screen.app).splitlines() if f" {word} " in line), [])

        # The newest run is in front; each cell is that of the same function, though places and ids differ.
        await until(pilot, lambda: "llm:gpt-5-mini" in row("function"), "the variant")
        heading = row("function")
        assert heading.index("none") + 1 == heading.index("llm:gpt-5-mini")
        assert [word for word in row("f") if set(word) <= set("✓✗⧖")] == ["✗⧖✗", "✓✓✓"]
        assert [word for word in row("g") if set(word) <= set("✓✗⧖")] == ["✗✗✓", "✓✓✗"]
        assert row("h")[row("h").index("✗✗✗") + 1] == "–", "no such task in that run"
        recorder.sample(f"{RUN}-0", 1, "✗")
        await until(pilot, lambda: "✓✗✓" in row("f"), "the cell of a run that is not in front, as it is now")
        await press(pilot, screen, "H")
        await until(pilot, lambda: "none" in row("function"), "the other way round")
        assert [word for word in row("f") if set(word) <= set("✓✗⧖")] == ["✓✗✓", "✗⧖✗"]
        await pilot.resize_terminal(150, 60)
        await until(pilot, lambda: "samples" in row("function"), "one column where there is no room")
    recorder.close()
