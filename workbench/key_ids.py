"""The ids of the app's key bindings, which ``[keymap]`` in the settings file can change.

They are defined outside the app because every command reads the settings and reports misspelt ids. A test makes sure that
the list equals the app's.
"""

from __future__ import annotations

_NAMES = {
    "app": "cases help interrupt leave-tour marked palette quit regeneration resume runs search sessions theme trajectory travel-back travel-forward",
    "cases": "back fetch files mark mark-all open run test-docs",
    "choice": "next previous",
    "compare": "back next only-differences previous swap",
    "confirm": "down no other up yes",
    "dialog": "cancel next previous",
    "file": "down end page-down page-up top up",
    "filter": "cancel clear keep keep-too next previous",
    "help": "close down up",
    "labels": "star tags",
    "list": "down first last page-down page-up up",
    "marked": "back narrow open",
    "outline": "go",
    "pane": "next previous",
    "plot": "next previous",
    "prompt": "leave",
    "regeneration": "cancel clear-filter copy docs down dropped enter escape evaluator export filter first last more new "
    "next-hit next-run next-sample next-tab next-task open open-task page-down page-up previous-hit "
    "previous-run previous-sample previous-tab previous-task problem rerun-failed rerun-task resume "
    "samples search up zoom",
    "runs": "all back bring-back cancel name open put-away resume reverse sort",
    "search": "all-sessions back facet next open previous query results",
    "sessions": "back cancel delete export open reload resume",
    "trajectory": "annotate cancel copy down enter escape evidence export first last more next-hit next-step next-tab "
    "next-trial open page-down page-up previous-hit previous-step previous-tab previous-trial raw rerun "
    "resume scores search trials up",
    "tree": "close open open-all",
    "trials": "back clear-filter compare export filter fold group loss-open mark matrix-left matrix-open matrix-right open plot-open plots reverse scale sort",
}
KEY_IDS = frozenset(f"{group}.{name}" for group, names in _NAMES.items() for name in names.split())
