"""Classes by dotted path: what is recognised, from where it is imported, and the sentence for what is missing."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Protocol

import pytest

from workbench.agents import make_agent
from workbench.base.errors import UsageError
from workbench.base.extension_check import import_folders
from workbench.base.extensions import ExtensionProblem, failure, is_dotted, load, make
from workbench.rubric import JudgeRequest, OfflineJudge, Question, make_judge, parse_judge
from workbench.sandbox import choose_backend


class Shouter(Protocol):
    name: str
    loud: bool

    async def shout(self, words: str, times: int) -> str: ...

    def stop(self) -> None: ...


GOOD = """
class Good:
    loud = True
    async def shout(self, words, times=1):
        return words.upper() * times
    def stop(self):
        pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory; what is imported from it is forgotten again."""
    monkeypatch.chdir(tmp_path)
    before, path = set(sys.modules), list(sys.path)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def write(folder: Path, module: str, text: str) -> None:
    path = folder / f"{module.replace('.', '/')}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("text", ["a:B", "a.b.c:D", "_a:_B", "replays:X"])
def test_dotted_paths(text: str) -> None:
    assert is_dotted(text, {"replay"})


@pytest.mark.parametrize("text", ["", "a", "a:", ":B", "a:B:C", "a/b:C", "a-b:C", "a:0", "replay:X", "a..b:C", "a:B\n"])
def test_what_is_none(text: str) -> None:
    assert not is_dotted(text, {"replay"})


def test_a_class_is_imported_from_the_working_directory_and_named_by_its_path(folder: Path) -> None:
    write(folder, "loud_ones.inner", GOOD)
    loaded = load("shouter", "loud_ones.inner:Good", Shouter)
    assert loaded.folder == str(folder)
    assert make("shouter", loaded).name == "loud_ones.inner:Good"


def test_a_recorded_folder_comes_before_the_working_directory(folder: Path) -> None:
    write(folder / "recorded", "loud_recorded", GOOD)
    write(folder, "loud_recorded", "")
    loaded = load("shouter", "loud_recorded:Good", Shouter, [str(folder / "gone"), str(folder / "recorded")])
    assert loaded.folder == str(folder / "recorded")
    # Afterwards nothing that is installed is hidden by what lies beside it.
    assert sys.path[0] != str(folder / "recorded")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no Good."),
        ("class Goad: pass", "has no Good; did you mean Goad?"),
        ("Good = 3", "is not a class."),
        ("class Good: pass", "is no shouter: it lacks the attribute loud, and lacks shout(), and lacks stop()."),
        (GOOD.replace("async ", ""), "it has a shout() that is not async."),
        (GOOD.replace("def stop", "async def stop"), "it has a stop() that must not be async."),
        (GOOD.replace("words, times=1", "words"), "it has a shout() that cannot be called as shout(words, times)."),
        (GOOD.replace("def stop(self):\n        pass", "stop = 3"), "it has no method stop(), but an attribute."),
        ("import no_such_module", "importing bad_ones failed: ModuleNotFoundError: No module named 'no_such_module'."),
        ("1 / 0", "importing bad_ones failed: ZeroDivisionError: division by zero."),
        ("raise SystemExit(3)", "importing bad_ones failed: SystemExit: 3."),
        ("def", "importing bad_ones failed: SyntaxError: "),
    ],
)
def test_one_sentence_names_what_is_missing(folder: Path, text: str, said: str) -> None:
    write(folder, "bad_ones", text)
    with pytest.raises(ExtensionProblem) as problem:
        load("shouter", "bad_ones:Good", Shouter)
    assert said in str(problem.value)
    assert "bad_ones" in str(problem.value)
    assert "\n" not in str(problem.value)
    assert problem.value.exit_code == 2


def test_a_missing_module_is_named_with_where_it_was_looked_for(folder: Path) -> None:
    with pytest.raises(ExtensionProblem, match=rf"no module nobody_has_this in {folder}, on PYTHONPATH or installed\."):
        load("shouter", "nobody_has_this.at_all:Good", Shouter)


def test_the_constructor_gets_what_it_names_and_nothing_else(folder: Path) -> None:
    write(folder, "loud_made", GOOD + "    def __init__(self, model_client): self.model_client = model_client\n")
    loaded = load("shouter", "loud_made:Good", Shouter)
    assert make("shouter", loaded, {"model_client": 5, "scope": "x"}).model_client == 5
    with pytest.raises(
        ExtensionProblem, match=r"The shouter loud_made:Good cannot be made: TypeError: .*'model_client'"
    ):
        make("shouter", loaded)
    write(folder, "loud_frozen", GOOD.replace("    loud", "    __slots__ = ()\n    loud"))
    with pytest.raises(ExtensionProblem, match=r"cannot be made: AttributeError: .*'name'"):
        make("shouter", load("shouter", "loud_frozen:Good", Shouter))


def test_what_it_lets_out_is_said_with_its_place(folder: Path) -> None:
    write(folder, "loud_failing", GOOD.replace("return words", "raise KeyError('k')\n        return words"))
    shouter = make("shouter", load("shouter", "loud_failing:Good", Shouter))
    with pytest.raises(KeyError) as raised:
        asyncio.run(shouter.shout("a", 1))
    assert failure("shouter", "loud_failing:Good", raised.value) == (
        "The shouter loud_failing:Good failed: KeyError: 'k' (loud_failing.py, line 5)."
    )


def test_ours_are_loaded_the_same_way() -> None:
    assert make_agent("planner-2").name == "planner-2"
    assert make_agent("workbench.agents.planner:Planner").name == "workbench.agents.planner:Planner"
    assert choose_backend("process").name == "process"
    with pytest.raises(
        UsageError, match="There is no sandbox called 'proces'; choose from bubblewrap, docker, process"
    ):
        choose_backend("proces")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("offline", "offline"),
        ("replay:demo", "replay"),
        ("ft:davinci", "model"),
        ("openai/gpt-4o-mini", "model"),
        ("ollama/llama3:Big", "model"),
        ("panel:Three", "extension"),
    ],
)
def test_what_a_judges_name_means(text: str, kind: str) -> None:
    assert parse_judge(text).kind == kind


JUDGE = """
from workbench.rubric import Criterion
class Judge:
    async def judge_tier(self, tier, brief):
        return {}
"""


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero (odd_judge.py, line 5)."),
        ("None", "it did not return a list of Criterion."),
        ("[1]", "it did not return a list of Criterion."),
        ("[]", "it was asked for purpose of tier 3 and returned something else."),
        ('[Criterion(3, "purpose", "P", 13.0, 12.0, "r")]', "it returned 13.0 of 12.0, but only 0 to 12 are possible."),
        ('[Criterion(3, "purpose", "P", float("nan"), 12.0, "r")]', "it returned nan of 12.0"),
    ],
)
async def test_a_judge_that_answers_nonsense_leaves_the_tier_unscored(folder: Path, answer: str, said: str) -> None:
    write(folder, "odd_judge", JUDGE.format(answer))
    judge = make_judge("odd_judge:Judge", None)
    brief = JudgeRequest("strict", (Question("purpose", "P", 12.0, ""),), "text", None, None, None, None, 0, 0)
    (criterion,) = await judge.judge_tier(3, brief)
    assert criterion.points is None
    assert criterion.reason.startswith("judge failed: ")
    assert said in criterion.reason
    assert (criterion.judged_by, judge.name) == ("odd_judge:Judge", "odd_judge:Judge")
    del sys.modules["odd_judge"]


def test_a_judge_may_take_the_gateway(folder: Path) -> None:
    write(
        folder,
        "asking_judge",
        JUDGE.format("[]") + "    def __init__(self, model_client, scope): self.given = model_client, scope\n",
    )
    judge = make_judge("asking_judge:Judge", None, scope="trial-1/judge")
    assert judge._judge.given == (None, "trial-1/judge")  # type: ignore[attr-defined]
    assert OfflineJudge().name == make_judge("offline", None).name


def test_classes_are_tried_in_a_process_of_their_own(folder: Path) -> None:
    write(folder, "apart", "print('noise')\n" + JUDGE.format("[]") + "class Other: pass\n")
    assert import_folders([("judge", "apart:Judge")]) == (str(folder),)
    assert "apart" not in sys.modules
    assert import_folders([]) == ()
    with pytest.raises(UsageError, match=r"^apart:Other .* is no judge: it lacks judge_tier\(\)\.$"):
        import_folders([("judge", "apart:Other")])
    write(folder, "ending", "import os\nos._exit(7)\n")
    with pytest.raises(UsageError, match=r"^Importing ending:X ended the process \(exit status 7\)\.$"):
        import_folders([("agent", "ending:X")])
