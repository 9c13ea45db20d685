"""Draw the README's pictures from the app itself, on the example session: ``python docs/pictures/draw.py``."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

from workbench import paths
from workbench.app.app import WorkbenchApp
from workbench.settings import Settings

FOLDER = Path(__file__).parent
SIZE = (124, 40)
# What is pressed after the example is open, before the picture is taken.
PICTURES = {"trajectory": ["2", "H", "H", "l", "l"], "regeneration": ["4", "j"], "cases": ["1", "j", "j"]}


async def draw(name: str, keys: list[str]) -> None:
    """Open the example, press the keys, wait until the screen has stood still for a second, and save it."""
    app = WorkbenchApp(paths.bundled("sessions") / "example.session", Settings())
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
    """Draw all pictures."""
    for name, keys in PICTURES.items():
        asyncio.run(draw(name, keys))
        print(f"{name}.svg")


if __name__ == "__main__":
    main()
