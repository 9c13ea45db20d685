"""``python -m workbench.sandbox [NAME [FOLDER…]]``: print whether a back end is usable, and why not, as JSON.

This runs in a separate process for callers that must not import the package ``docker``, such as the app.
"""

from __future__ import annotations

import json
import sys

from workbench.sandbox.choose import choose_backend
from workbench.sandbox.types import NoIsolation, SandboxUnavailable


def main() -> int:
    """Print ``{"backend": NAME}`` or ``{"problem": SENTENCE, "promises": [...] or null}``; always return 0."""
    name, *folders = sys.argv[1:] or [""]
    try:
        result: dict[str, object] = {"backend": choose_backend(name or None, folders).name}
    except NoIsolation as error:
        result = {"problem": str(error), "promises": error.promises}
    except SandboxUnavailable as error:
        result = {"problem": str(error), "promises": None}
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
