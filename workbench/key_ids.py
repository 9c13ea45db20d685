"""The ids of the app's key bindings, which ``[keymap]`` in the settings file can change.

They are defined outside the app because every command reads the settings and reports misspelt ids. A test makes sure that
the list equals the app's.
"""

from __future__ import annotations

_NAMES = {
    "app": "cases help interrupt leave-tour marked palette quit regeneration resume runs search sessions study theme trajectory travel-back travel-forward",
    "cases": "back fetch files mark mark-all open run study test-docs",
    "choice": "next previous",
    "compare": "back export next next-pair only-differences open previous previous-pair swap",
    "confirm": "down no other up yes",
    "dialog": "cancel complete next previous save start",
    "edit": "cancel done",
    "file": "down end find forget next-hit page-down page-up previous-hit top up",
    "filter": "cancel clear keep keep-too next previous",
    "help": "close down end narrow page-down page-up top up",
    "labels": "remark star tags",
    "improving": "back cancel export next-attempt previous-attempt resume",
    "list": "all down first last narrow page-down page-up up",
    "marked": "back open",
    "find": "keep leave",
    "narrow": "keep leave",
    "outline": "go",
    "pane": "copy next previous",
    "pick": "cancel done mark mark-all type",
    "plot": "next previous",
    "prompt": "leave",
    "regeneration": "cancel clear-filter compare copy docs down dropped enter escape evaluator export filter first improve improvements last mark mark-evaluator more new "
    "next-hit next-run next-sample next-tab next-task open open-task page-down page-up previous-hit "
    "previous-run previous-sample previous-tab previous-task problem rerun-failed rerun-task resume "
    "samples search up zoom went-wrong sort reverse group",
    "runs": "all back bring-back cancel compare later mark name open pause put-away resume sooner",
    "search": "all-sessions back facet next open previous query results",
    "sessions": "all back bring-back cancel delete export mark merge name new open reload resume use",
    "several": "pick",
    "study": "back begin cancel compare export fold group mark matrix-left matrix-right measure new next-study next-tab open open-item open-leader open-pair open-ranking "
    "open-study previous-study previous-tab resume reverse sort weighting",
    "trajectory": "annotate cancel check check-block copy down enter escape evidence export first fork last more next-hit next-step next-tab "
    "next-trial open page-down page-up previous-hit previous-step previous-tab previous-trial raw rerun "
    "rerun-model resume score-view scores search trials up where-from",
    "table": "fold group reverse sort",
    "tree": "close open open-all",
    "trials": "back clear-filter compare export filter group loss-open mark matrix-left matrix-open matrix-right open plot-open plots reverse scale sort",
    "went-wrong": "back evaluator group next-tab open previous-tab",
}
KEY_IDS = frozenset(f"{group}.{name}" for group, names in _NAMES.items() for name in names.split())
