"""Draw the README's pictures from the app itself: ``python docs/pictures/draw.py [NAME…]``.

Most are of the example session; that of a check is of a README in which some things are wrong on purpose, as the tests plant them.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
import time
from pathlib import Path

from workbench import paths
from workbench.app.app import WorkbenchApp
from workbench.catalog import resolve_case, snapshot_of
from workbench.engine.checks import plan_check
from workbench.engine.process import serve
from workbench.engine.rescoring import plan_rescore
from workbench.session import SessionWriter, create
from workbench.settings import Settings

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1] / "tests"))

from checking.planted import PLANTED, planted, write_project  # noqa: E402

SIZE = (124, 40)
# What is pressed after the example is open, before the picture is taken.
PICTURES = {
    "trajectory": ["2", "H", "H", "l", "l"],
    "regeneration": ["4", "j"],
    "cases": ["1", "j", "j"],
    "check": ["2", "s", "s", "shift+tab", "right_square_bracket", "n", "n", "n", "n", "n", "n", "enter"],
}


def checked_session(folder: Path) -> Path:
    """Write a session with a README in which things are wrong, and check it as an engine does."""
    session, root = folder / "checked.session", write_project(folder / "wordstat")
    readme, _ = planted([name for name in PLANTED if name != "missing step"])
    create(session)
    with SessionWriter(session) as writer:
        writer.add_run("run", "document", {"cases": [str(root)], "judge": "offline"})
        case = resolve_case(str(root))
        writer.add_trial("a-trial", "run", 0, (str(root), case.name), "white", "local", 1)
        snapshot = snapshot_of(case)
        files = [(path.relative_to(root).as_posix(), path.stat().st_size) for path in root.rglob("*") if path.is_file()]
        writer.add_snapshot(snapshot.digest, snapshot.source, snapshot.revision, files)
        writer.set_trial("a-trial", state="done", snapshot=snapshot.digest, readme_blob=writer.blob(readme), parsed=1)
        writer.set_run("run", state="done")
    for run in (plan_rescore(session), plan_check(session)[0]):
        serve(session, run)
    return session


async def draw(name: str, keys: list[str], session: Path) -> None:
    """Open a session, press the keys, wait until the screen has stood still for a second, and save it."""
    app = WorkbenchApp(session, Settings())
    async with app.run_test(size=SIZE) as pilot:
        for key in ["", *keys]:
            if key:
                await pilot.press(key)
            seen, since = "", time.monotonic()
            while time.monotonic() - since < 1.0:
                await pilot.pause(0.1)
                now = app.export_screenshot(title="Workbench", simplify=True)
                if now != seen:
                    seen, since = now, time.monotonic()
        # Without the addresses of web fonts: a picture loads nothing.
        drawn = re.sub(r"@font-face \{.*?\}", "", app.export_screenshot(title="Workbench"), flags=re.DOTALL)
        (FOLDER / f"{name}.svg").write_text(drawn, encoding="utf-8")


def main() -> None:
    """Draw all pictures, or those that are named."""
    example = paths.bundled("sessions") / "example.session"
    with tempfile.TemporaryDirectory(prefix="workbench-pictures-") as folder:
        for name in sys.argv[1:] or PICTURES:
            session = checked_session(Path(folder)) if name == "check" else example
            asyncio.run(draw(name, PICTURES[name], session))
            print(f"{name}.svg")


if __name__ == "__main__":
    main()
