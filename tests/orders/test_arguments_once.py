"""An argument is declared in one file, and found wherever an order is asked for and wherever a result is identified."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import workbench

DECLARED = """
    mood: str = argument(
        "calm", "--mood MOOD", "in which mood", effect=Effect.{effect}, study="settings.mood",
        line=DialogField("mood", "The mood.", lambda: ("calm", "wild")),
    )
"""
FOUND = """
import json, sys
from dataclasses import replace
from pathlib import Path
from workbench.app.toolkit.order_form import plan_fields, plan_values
from workbench.base.settings import Settings
from workbench.cli import build_parser
from workbench.orders.ordered_asks import is_same_work
from workbench.orders.study import document_plan, regeneration_plan
from workbench.orders.run import ordered_case
from workbench.plans.plan import Ask, DocumentPlan, RegenerationPlan, as_text
from workbench.session.rows import RunRow
from workbench.studies.study_files import read_study_file

command, kind, words = sys.argv[1:4]
plan_type = {"run": DocumentPlan, "regenerate": RegenerationPlan}[command]
parser = build_parser(command)
given = parser.parse_args([command, "word_counter", "--mood", "wild"])
field = next(one for one in plan_fields(plan_type, {"mood": "wild"}, Settings()) if one.name == "mood")
study = read_study_file(Path(words))
plan = (document_plan if command == "run" else lambda *a: regeneration_plan(a[0], a[0].rows[0], a[1]))(study, study.columns[0])
read = plan_type.from_json(as_text(plan))
if command == "run":
    case = ordered_case("word_counter")
    made = [case.identity(lambda *_: [], one, 1) for one in (plan, replace(plan, mood="calm"), replace(plan, judge="local"))]
    other = [made[0] == made[1], made[0] == made[2]]
elif kind == "RUN":
    run = RunRow(**{name: None for name in RunRow.__dataclass_fields__} | {"kind": "regenerate", "config": as_text(plan)})
    other = [is_same_work(run, one) for one in (plan, type(plan)(plan.source, mood="calm"))]
else:
    other = [Ask("m", 1, prompt="p", context="c", mood=mood).prompt_version for mood in ("calm", "wild")]
print(json.dumps({
    "option": given.mood, "dialog": [field.value, field.help, list(field.known)], "values": plan_values(plan_type, {"mood": "wild"}),
    "toml": study.settings.mood, "plan": [plan.mood, read.mood], "identity": other,
}))
"""


@pytest.mark.parametrize(
    ("command", "before", "effect", "identity"),
    [
        ("run", "    judges: tuple", "TRIAL", [False, True]),
        ("regenerate", "    sandbox: str", "RUN", [True, False]),
        ("regenerate", "    context: str", "CANDIDATE", ["p/c", "p/c/mood=wild"]),
    ],
)
def test_an_argument_is_added_in_one_file(tmp_path, command, before, effect, identity):
    package = Path(workbench.__file__).parent
    (tmp_path / "workbench").mkdir()
    for part in package.iterdir():
        if part.name == "plans":
            shutil.copytree(part, tmp_path / "workbench" / "plans")
        elif part.name != "__pycache__":
            (tmp_path / "workbench" / part.name).symlink_to(part)
    plans = tmp_path / "workbench" / "plans" / "plan.py"
    text = plans.read_text(encoding="utf-8")
    assert text.count(before) == 1
    plans.write_text(text.replace(before, DECLARED.format(effect=effect) + before), encoding="utf-8")
    study = tmp_path / "study.toml"
    agents = command == "run"
    columns = 'agents = ["white"]' if agents else 'docs = ["original"]\nevaluators = ["reference"]'
    study.write_text(
        f'name = "s"\nkind = "{"agents" if agents else "docs"}"\nrows = ["word_counter"]\n[columns]\n{columns}\n'
        '[settings]\nmood = "wild"\n'
    )
    done = subprocess.run(
        [sys.executable, "-c", FOUND, command, effect, str(study)],
        cwd=tmp_path, env={"PYTHONPATH": str(tmp_path), "PATH": ""}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == {
        "option": "wild",
        "dialog": ["wild", "The mood.", ["calm", "wild"]],
        "values": {"mood": "wild"},
        "toml": "wild",
        "plan": ["wild", "wild"],
        "identity": identity,
    }
