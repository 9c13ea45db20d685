"""The frame of every HTML report: its policy, which makes the browser fetch nothing and run only our script, and its style."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from pathlib import Path

from workbench.base.text import clean

# The browser itself enforces that nothing is fetched and nothing else runs, whatever a README or a name says.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = Path(__file__).with_name("report.css")


def e(text: object) -> str:
    """Escape a text for content and attributes, without control characters and bidirectional overrides."""
    return escape(clean(str(text)), quote=True)


def opening(title: str, style: str = "", script: str = "") -> str:
    """Return all up to the body; ``script`` is ours and the only one that runs; ValueError where it would hide its own end."""
    policy, run = _POLICY, ""
    if script:
        if "</script" in script.lower() or "<!--" in script:
            raise ValueError("a script may hold neither </script nor <!--")
        # Browsers allow exactly these bytes, the line breaks around them included.
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
        policy, run = f"{_POLICY}; script-src 'sha256-{digest}'", f"<script>{script}</script>\n"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{e(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{e(title)}</title>\n<style>\n{_STYLE.read_text(encoding='utf-8')}{style}</style>\n{run}</head>\n<body>\n"
    )


def closing(foot: str) -> str:
    return f"<footer>{e(foot)}</footer>\n</body>\n</html>\n"
