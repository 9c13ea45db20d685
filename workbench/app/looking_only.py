"""What a read-only app refuses when its key is pressed, before any dialog; below it everything that writes refuses as well."""

from __future__ import annotations

from workbench.read_only import ReadOnly, is_read_only

_START = "start, resume or cancel runs"
_LABEL = "keep stars, tags or remarks"
_ARRANGE = "rename, delete, merge or bring back anything"
CHANGING = {
    **dict.fromkeys(
        (
            "add_samples",
            "cancel",
            "check_block",
            "check_readme",
            "fork",
            "improve",
            "rerun",
            "rerun_failed",
            "rerun_model",
            "resume",
            "test_docs",
        ),
        _START,
    ),
    **dict.fromkeys(("cancel_study", "new_study", "pause", "resume_study", "turn", "use"), _START),
    **dict.fromkeys(("annotate", "remark", "star", "tags"), _LABEL),
    **dict.fromkeys(("bring_back", "delete", "merge", "name", "put_away"), _ARRANGE),
    "fetch": "fetch sources",
    "import_files": "import files",
    "new": "begin anything new",
    "open_outside": "open another program",
    "open_repository": "fetch sources",
}
"""Actions that change something -> what they do, as it follows "it cannot"."""
WRITING_FILES = frozenset({"export", "save_picture"})
"""Actions that write a file for a person; in a browser it is downloaded, and nothing is written here."""


def refusal(action: str, *, in_dialog: bool, in_browser: bool) -> str:
    """Return the sentence for an action that a read-only app does not do, "" for one that it does.

    Args:
        action: An action as a binding names it: ``screen.fetch``, ``turn(-1)``.
        in_dialog: Whether a dialog is in front; what would change something is asked in none.
        in_browser: Whether the app is shown in a browser.
    """
    if in_dialog or not is_read_only():
        return ""
    name = action.partition("(")[0].rpartition(".")[2]
    if name in WRITING_FILES and not in_browser:
        return str(ReadOnly("write files"))
    return str(ReadOnly(CHANGING[name])) if name in CHANGING else ""
