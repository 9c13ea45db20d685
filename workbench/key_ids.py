"""The ids of the app's key bindings and their keys, which ``[keymap]`` in the settings file can change.

They stand outside the app because every command reads the settings and reports misspelt ids. A test holds the app's bindings
to them.
"""

from __future__ import annotations

_KEYS = {
    "app": (
        "cases=1 trajectory=2 sessions=3 regeneration=4 study=5 resume=u travel-back=alt+left "
        "travel-forward=alt+right runs=U marked=number_sign palette=ctrl+p search=ctrl+f help=question_mark,f1 "
        "theme=ctrl+t leave-tour=escape quit=q interrupt=ctrl+c"
    ),
    "cases": "run=enter mark=space test-docs=V study=X mark-all=A fetch=f5 files=l,right open=ctrl+n back=escape",
    "choice": "next=right,l,space previous=left,h",
    "compare": (
        "next=n previous=N only-differences=f swap=S open=enter export=x back=escape next-pair=right_square_bracket "
        "previous-pair=left_square_bracket"
    ),
    "costs": "back=escape,dollar_sign",
    "confirm": "no=escape,n yes=y other=left,right down=down,j up=up,k",
    "dialog": "cancel=escape complete=tab next=down previous=up save=ctrl+s start=ctrl+g",
    "edit": "done=ctrl+s cancel=escape",
    "file": "find=slash next-hit=n previous-hit=N forget=escape",
    "filter": "keep=enter keep-too=f cancel=escape clear=F,delete next=down,j,tab previous=up,k,shift+tab",
    "find": "leave=escape keep=down,tab",
    "help": (
        "close=escape,q,question_mark,f1 down=j,down up=k,up page-down=pagedown,space page-up=pageup top=home,g "
        "end=end,G narrow=slash"
    ),
    "improving": "resume=u cancel=c export=x next-attempt=J previous-attempt=K back=escape,I",
    "labels": "star=asterisk tags=t remark=a",
    "list": (
        "down=down,j up=up,k page-down=pagedown,ctrl+d page-up=pageup,ctrl+u first=g,home last=G,end narrow=slash "
        "all=escape"
    ),
    "marked": "open=enter back=escape,number_sign",
    "narrow": "leave=escape keep=down,tab",
    "outline": "go=enter",
    "pane": "next=tab previous=shift+tab copy=y",
    "pick": "done=enter cancel=escape type=tab,shift+tab mark=space mark-all=A",
    "prompt": "leave=escape",
    "regeneration": (
        "open-task=enter resume=u clear-filter=F filter=f went-wrong=w sort=o reverse=O group=b "
        "rerun-task=r rerun-failed=R samples=plus problem=exclamation_mark cancel=c docs=Y improve=i improvements=I "
        "next-hit=n previous-hit=N new=ctrl+n search=slash dropped=D mark=space mark-evaluator=M compare=C export=x "
        "open=ctrl+e next-sample=l,right previous-sample=h,left next-task=J previous-task=K next-run=L previous-run=H "
        "evaluator=v next-tab=right_square_bracket previous-tab=left_square_bracket zoom=z more=greater_than_sign "
        "enter=enter escape=escape"
    ),
    "runs": (
        "open=enter resume=u cancel=c pause=P sooner=shift+up later=shift+down name=f2 put-away=d,delete "
        "bring-back=ctrl+z all=full_stop mark=space compare=C back=escape,U"
    ),
    "search": "facet=enter,space open=enter next=n previous=N query=slash all-sessions=ctrl+f results=down back=escape",
    "sessions": (
        "reload=f5 merge=ampersand costs=dollar_sign new=ctrl+n use=equals_sign name=f2 export=x cancel=c bring-back=ctrl+z "
        "all=full_stop back=escape open=enter resume=u delete=d,delete mark=space"
    ),
    "several": "pick=enter,space",
    "study": (
        "begin=enter open-item=enter open-pair=enter open-leader=enter open-ranking=enter open-study=enter open=enter "
        "mark=space matrix-left=left,h matrix-right=right,l resume=u cancel=c compare=C measure=s sort=o reverse=O "
        "group=b fold=minus next-tab=right_square_bracket previous-tab=left_square_bracket weighting=B next-study=L "
        "previous-study=H export=x new=ctrl+n back=escape"
    ),
    "table": "sort=o reverse=O group=b fold=minus",
    "trajectory": (
        "resume=u next-step=l,right previous-step=h,left next-trial=L previous-trial=H trials=T search=slash "
        "next-hit=n previous-hit=N scores=s score-view=W evidence=e where-from=w check=V check-block=Z rerun=r "
        "rerun-model=ctrl+r fork=E cancel=c export=x next-tab=right_square_bracket previous-tab=left_square_bracket "
        "raw=m open=ctrl+e more=greater_than_sign enter=enter escape=escape"
    ),
    "tree": "open=enter,l,right close=h,left open-all=ctrl+right",
    "trials": (
        "loss-open=enter matrix-left=left,h matrix-right=right,l matrix-open=enter plot-open=enter open=enter "
        "mark=space sort=o reverse=O group=b filter=f clear-filter=F compare=C plots=p scale=s export=x back=escape,T"
    ),
    "went-wrong": (
        "open=enter next-tab=right_square_bracket previous-tab=left_square_bracket evaluator=v group=b "
        "open-group=l,right close-group=h,left back=escape,w"
    ),
}
KEYS = {
    f"{group}.{name}": keys
    for group, names in _KEYS.items()
    for name, _, keys in (one.partition("=") for one in names.split())
}
KEY_IDS = frozenset(KEYS)
