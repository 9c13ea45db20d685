"""Where no sandbox isolates, the app asks one question before anything is written, and takes the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
DRIVER = """
import asyncio, json, sys
from pathlib import Path
sys.path.insert(0, "tests/app")
from trajectory_app import screen_text, until
from workbench.base import paths, settings
from workbench.app.app import WorkbenchApp
from workbench.app.regeneration.new_run_dialog import RegenerationDialog
from workbench.app.toolkit.form import Confirm
from workbench.orders import launching
from workbench.plans.plan import RegenerationPlan
from workbench.session import SessionReader

launching.launch = lambda *_: None  # what is ordered is looked at, not executed
answer = sys.argv[1]

async def main():
    app = WorkbenchApp(None, settings.load(), warm_engine=False)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        while app.is_opening:
            await pilot.pause()
        await app.switch_mode("regeneration")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, RegenerationDialog), "the dialog")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and screen_text(app), "the question, painted")
        shown = screen_text(app)
        written = [str(path) for path in paths.sessions_dir().rglob("*")]
        await pilot.press(answer)
        if answer == "y":
            await until(pilot, lambda: app.reader is not None, "the session")
        else:
            await until(pilot, lambda: "No sandbox isolates" in screen_text(app), "the reason")
    sandboxes = []
    for path in paths.sessions_dir().glob("*.session"):
        with SessionReader(path) as reader:
            sandboxes += [RegenerationPlan.from_json(run.config).sandbox for run in reader.runs()]
    print(json.dumps({"shown": shown, "written": written, "sandboxes": sandboxes,
                      "docker": "docker" in sys.modules}))

asyncio.run(main())
"""


@pytest.mark.sandbox
@pytest.mark.parametrize(("answer", "sandboxes"), [("y", ["process"]), ("n", [])])
def test_one_question_offers_the_plain_process_with_its_guarantees(
    needs_bubblewrap: None, answer: str, sandboxes: list[str], home: Path, tmp_path: Path
) -> None:
    import json

    environment = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/none", "PYTHONPATH": str(ROOT)}
    command = ["unshare", "-U", "-r", "sh", "-c", FORBIDDEN, "sh", sys.executable, "-c", DRIVER, answer]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert "No sandbox available" in said["shown"]
    assert "in a plain process instead?" in said["shown"]
    assert "Environment variables are not passed on" in said["shown"]
    assert said["written"] == []
    assert not said["docker"]
    assert said["sandboxes"] == sandboxes
