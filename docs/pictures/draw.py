"""Draw the README's pictures from the app itself: ``python docs/pictures/draw.py [NAME…]``.

Most are of the example session. That of a check is of a README in which some things are wrong on purpose, as the tests plant them; that of an
improvement is of a real order, whose evaluator and writer answer by rule over loopback.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from pathlib import Path

from workbench.app.app import WorkbenchApp
from workbench.base import paths
from workbench.base.settings import Settings
from workbench.catalog import resolve_case, snapshot_of
from workbench.engine.process import serve
from workbench.orders.check import CheckOrder
from workbench.orders.rescore import RescoreOrder
from workbench.session import SessionWriter, create

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER.parents[1] / "tests"), str(FOLDER.parents[1] / "tests" / "improving")]

from checking.planted import PLANTED, planted, write_project  # noqa: E402
from engine.tiny_repository import make_repository  # noqa: E402
from loopback.server import LoopbackServer  # noqa: E402
from thin_docs import GOOD, SOURCE, SUITE, Models, order  # noqa: E402

from workbench.cli import main as workbench  # noqa: E402

SIZE = (124, 40)
# What is pressed after the example is open, before the picture is taken.
PICTURES = {
    "trajectory": ["2", "H", "H", "l", "l"],
    "regeneration": ["4", "j"],
    "cases": ["1", "j", "j"],
    "check": ["2", "s", "s", "shift+tab", "right_square_bracket", "n", "n", "n", "n", "n", "n", "enter"],
    "improve": ["4", "I", "G"],
}
#: What the writer answers first: prose, code, the body in words, a parameter that there is not.
_REFUSED = (
    "Sure! Here it is: better",
    "def add(first, second):\n    return (first + second) % 1000",
    '"""Compute total = first + second and return total % 1000."""',
    '"""Return the sum.\n\nArgs:\n    modulus: The limit.\n"""',
)


def improved_session(folder: Path) -> Path:
    """Order an improvement of a small repository and carry it out."""
    session, source = folder / "improved.session", make_repository(folder / "small-sums", SOURCE, SUITE)
    with LoopbackServer(Models(*_REFUSED, GOOD)) as server:
        os.environ |= {"OPENAI_API_KEY": "sk-loopback", "WORKBENCH_BASE_URL": server.base_url}
        asked = order(source, "--attempts", "5", "--patch", str(folder / "better.patch"))
        asked[asked.index("demo")] = str(session)
        assert workbench(asked) == 0
    return session


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
    for run in (RescoreOrder(session).submit().runs[0], CheckOrder(session).submit().runs[0][0]):
        serve(session, run)
    return session


_MADE = {"check": checked_session, "improve": improved_session}


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
            made = _MADE.get(name)
            asyncio.run(draw(name, PICTURES[name], example if made is None else made(Path(folder))))
            print(f"{name}.svg")


if __name__ == "__main__":
    main()
