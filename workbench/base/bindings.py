"""The app's key bindings, each declared once for the footer, help, palette, texts and ``[keymap]`` in the settings.

They are defined outside the app because every command reads the settings and reports misspelt ids. A test verifies that
the app uses them.
"""

from __future__ import annotations

from typing import NamedTuple

_TABLE = """
labels
  -star                       asterisk                star                    star
  tags                        t                       tags                    tags
  -remark                     a                       remark                  remark
pane
  next/previous               tab/shift+tab           next_pane(±1)           next pane/previous pane
  -copy                       y                       copy                    copy what has the focus | copy this pane's text
app
  -cases                      1                       mode('cases')           Cases
  -trajectory                 2                       mode('trajectory')      Trajectory
  -sessions                   3                       mode('sessions')        Sessions
  -regeneration               4                       mode('regeneration')    Regeneration
  -study                      5                       mode('study')           Study
  resume                      u                       resume                  resume
  -travel-back/travel-forward alt+left/alt+right      travel(-1)/travel(1)    back to where you were/forward again
  -runs                       U                       runs                    all runs
  -marked                     number_sign             marked                  stars, tags, remarks
  !-palette                   ctrl+p                  command_palette         all commands
  -search                     ctrl+f                  search                  search all
  -help                       question_mark,f1        help                    help
  -theme                      ctrl+t                  next_theme              next theme
  !-leave-tour                escape                  leave_tour              leave the tour
  -quit                       q                       quit                    quit
  !-interrupt                 ctrl+c                  interrupt               copy what is selected, twice: quit
cases/list
  run                         enter                   choose                  run
  mark                        space                   mark                    mark
  test-docs                   V                       screen.test_docs        test docs
  study                       X                       screen.new_study        study | new study of the marked cases
  -mark-all                   A                       mark_all                mark all
  fetch                       f5                      screen.fetch            fetch
  -files                      l,right                 screen.next_pane(1)     files
cases
  open                        ctrl+n                  open_repository         new repository
  cases.test-docs cases.study
  back                        escape                  back                    back
choice
  -next/previous              right,l,space/left,h    step(±1)                next/previous
compare
  next/previous               n/N                     difference(±1)          difference
  only-differences            f                       only_differences        hide same
  swap                        S                       swap                    swap
  open                        enter                   open_item               open
  export                      x                       export                  export
  next-pair/previous-pair     right_square_bracket/left_square_bracket pair(±1)                pair
  back                        escape                  leave                   back
confirm
  no                          escape,n                dismiss(False)          no
  yes                         y                       dismiss(True)           yes
  -other                      left,right              app.focus_next          other
  -down/up                    down,j/up,k             scroll(±1)              down/up
costs
  back                        escape,dollar_sign      leave                   back
dialog
  cancel                      escape                  dismiss(None)           cancel
  -complete                   tab                     complete                complete, or next field
  -next/previous              down/up                 app.focus_next/app.focus_previous field
dialog/study
  save                        ctrl+s                  save                    save as study.toml
  start                       ctrl+g                  start                   start
edit
  !done                       ctrl+s                  done                    done
  !cancel                     escape                  dismiss(None)           cancel
file
  -find                       slash                   find                    find in the text
  -next-hit/previous-hit      n/N                     hit(±1)                 hit
  -forget                     escape                  forget                  no hits marked
filter
  keep                        enter                   accept                  keep
  -keep-too                   f                       accept                  keep
  cancel                      escape                  cancel                  as before
  clear                       F,delete                clear                   clear
  -next/previous              down,j,tab/up,k,shift+tab app.focus_next/app.focus_previous question
find
  -leave                      escape                  leave                   no hits marked
  -keep                       down,tab                keep                    go to the text
help
  close                       escape,q,question_mark,f1 close                   close
  -page-down                  space                   page(1)                 page down
improving
  resume                      u                       resume                  resume
  cancel                      c                       cancel                  cancel
  export                      x                       export                  patch or branch
  -next-attempt/previous-attempt J/K                     attempt(±1)             attempt from any pane
  back                        escape,I                leave                   back
list
  -down/up                    down,j/up,k             move(±1)                down/up
  -page-down/page-up          pagedown,ctrl+d/pageup,ctrl+u page(±1)                page down/page up
  -first/last                 g,home/G,end            edge(False)/edge(True)  first/last
list/rows
  -narrow                     slash                   narrow                  only rows with…
  -all                        escape                  widen                   show all rows again
marked
  open                        enter                   choose                  go there
  back                        escape,number_sign      leave                   back
narrow
  -leave                      escape                  leave                   show all
  -keep                       down,tab                keep                    go to the rows
outline
  go                          enter                   choose                  go there
pick
  done                        enter                   done                    done
  cancel                      escape                  dismiss(None)           as before
  -type                       tab,shift+tab           other                   type another one
pick/rows
  mark                        space                   mark                    mark
  mark-all                    A                       mark_all                all or none
prompt
  -leave                      escape                  leave                   leave
regeneration
  resume                      u                       resume                  resume
  -pane.next
  clear-filter                F                       clear_filter            clear filter
  filter                      f                       filter                  filter
  went-wrong                  w                       what_went_wrong         what went wrong
  sort                        o                       arrange('sort_next')    sort
  -reverse                    O                       arrange('reverse')      sort the other way round
  group                       b                       arrange('group_next')   group by
  rerun-task                  r                       rerun                   rerun task
  rerun-failed                R                       rerun_failed            rerun failed
  samples                     plus                    add_samples             5 more samples
  problem                     exclamation_mark        problem                 failed self-check
  cancel                      c                       cancel                  cancel
  steps                       e                       steps                   steps | show the steps of the agent that wrote the sample
  docs                        Y                       docs                    docs
  steps                       e                       steps                   steps | steps of the agent that wrote this sample
  improve                     i                       improve                 improve docs
  improvements                I                       improvements            improvements
  next-hit/previous-hit       n/N                     hit(±1)                 hit
  new                         ctrl+n                  new                     new run
  measure-use                 at                      measure_use             use of a page | measure what readers can do with a page
  search                      slash                   search                  search
  dropped                     D                       dropped                 stages, dropped
  -labels.star labels.tags -labels.remark
  mark                        space                   mark                    mark
  -mark-evaluator             M                       mark_group              mark the evaluator
  compare                     C                       compare                 compare
  export                      x                       export                  export
  open                        ctrl+e                  open_outside            open in editor
  next-sample/previous-sample l,right/h,left          sample(±1)              sample
  -next-task/previous-task    J/K                     task(±1)                task from any pane
  -next-run/previous-run      L/H                     run(±1)                 run
  evaluator                   v                       evaluator               next evaluator
  next-tab/previous-tab       right_square_bracket/left_square_bracket tab(±1)                 tab
  -zoom                       z                       zoom                    zoom
  -more                       greater_than_sign       more                    show more of a long text
  -enter                      enter                   zoom                    zoom the pane
  -escape                     escape                  leave                   leave search, zoom, pane
regeneration/enter
  open-task                   enter                   choose                  open
runs
  resume                      u                       resume                  resume
  cancel                      c                       cancel                  cancel
  pause                       P                       pause                   pause
  sooner                      shift+up                turn(-1)                sooner
  later                       shift+down              turn(1)                 later
  name                        f2                      name                    name
  archive                     d,delete                archive                 archive
  bring-back                  ctrl+z                  bring_back              bring back
  all                         full_stop               all                     show archived
  mark                        space                   mark                    mark
  compare                     C                       compare                 compare
  -labels.star labels.tags -labels.remark
  back                        escape,U                leave                   back
runs/enter
  open                        enter                   choose                  open
search
  query                       slash                   query                   change the search
  !all-sessions               ctrl+f                  everywhere              this session, all sessions
  -results                    down                    results                 go to the hits
  back                        escape                  leave                   back
search/enter
  facet                       enter,space             choose                  only these
search/hits
  open                        enter                   choose                  open
  -next/previous              n/N                     move(±1)                hit
sessions
  -reload                     f5                      reload                  read again
  merge                       ampersand               merge                   merge marked
  new                         ctrl+n                  new                     new
  use                         equals_sign             use                     for the next run
  name                        f2                      name                    rename
  export                      x                       export                  export report
  cancel                      c                       cancel                  cancel run
  -bring-back                 ctrl+z                  bring_back              bring back the one deleted last
  -all                        full_stop               all                     show deleted ones
  -costs                      dollar_sign             app.costs               what models cost
  -labels.star -labels.tags -labels.remark
  -back                       escape                  app.mode('cases')       back
sessions/list
  open                        enter                   choose                  open
  resume                      u                       screen.resume           resume
  delete                      d,delete                screen.delete           delete
  -mark                       space                   mark                    mark
several
  -pick                       enter,space             pick                    choose
study
  resume                      u                       resume_study            go on | go on with this study
  cancel                      c                       cancel_study            cancel | cancel this study
  compare                     C                       compare                 compare
  measure                     s                       measure                 measure
  sort                        o                       sort_next               sort
  -reverse                    O                       reverse                 reverse
  group                       b                       group                   group | group the rows
  -fold                       minus                   fold                    fold or unfold a group
  next-tab/previous-tab       right_square_bracket/left_square_bracket tab(±1)                 tab
  weighting                   B                       weighting               weighting of rankings
  -next-study/previous-study  L/H                     study(±1)               study
  export                      x                       export                  export | export a report on this study
  new                         ctrl+n                  new_study               new study
  -back                       escape                  leave                   back to the matrix
study/enter
  open-pair                   enter                   choose                  side by side
  open-study                  enter                   choose                  show it
  open-item                   enter                   choose                  open
  open-leader                 enter                   choose                  its column
  begin                       enter                   choose                  begin
  open-ranking                enter                   choose                  its pairs
study/matrix
  open                        enter                   choose                  open
  mark                        space                   mark                    mark column
  -matrix-left/matrix-right   left,h/right,l          column(-1)/column(1)    previous column/next column
table
  sort                        o                       sort_next               sort
  -reverse                    O                       reverse                 reverse
  group                       b                       group_next              group
  -fold                       minus                   fold                    fold the group
trajectory
  resume                      u                       resume                  resume
  next-step/previous-step     l,right/h,left          step(±1)                step
  next-trial/previous-trial   L/H                     trial(±1)               trial
  trials                      T                       trials                  all trials
  search                      slash                   search                  search
  next-hit/previous-hit       n/N                     hit(±1)                 hit
  scores                      s                       scores                  scores
  -score-view                 W                       score_view              what it takes
  evidence                    e                       evidence                evidence
  where-from                  w                       where                   where from
  check                       V                       check_readme            check
  measure-use                 at                      measure_use             use | measure what readers can do with this README
  -check-block                Z                       check_block             run this block again
  rerun                       r                       rerun                   rerun | rerun this trial
  rerun-model                 ctrl+r                  rerun_model             rerun with another model
  -rescore                    ctrl+g                  rescore                 score again | score again by other judges or rubrics
  fork                        E                       fork                    edit, go on from here
  cancel                      c                       cancel                  cancel
  export                      x                       export                  export | export a report
  next-tab/previous-tab       right_square_bracket/left_square_bracket tab(±1)                 tab
  raw                         m                       raw                     source | README as source or rendered
  -labels.star labels.tags labels.remark
  open                        ctrl+e                  open_outside            open in editor | open in another program
  -more                       greater_than_sign       more                    show more of a long text
  -enter                      enter                   open_here               open what is under the cursor
  -escape                     escape                  leave                   leave the search
tree
  open                        enter,l,right           open                    open
  close                       h,left                  close                   close
  -open-all                   ctrl+right              expand_all              open all
trials
  sort                        o                       sort_next               sort
  -reverse                    O                       reverse                 reverse
  group                       b                       group_next              group by
  filter                      f                       filter                  filter
  -clear-filter               F                       clear_filter            clear filter
  compare                     C                       compare                 compare
  plots                       p                       plots                   plots
  scale                       s                       scale                   rubric, judge
  -labels.star labels.tags -labels.remark
  export                      x                       export                  export
  back                        escape,T                leave                   back
trials/enter
  plot-open                   enter                   choose                  show these
  loss-open                   enter                   choose                  show these
trials/list
  open                        enter                   choose                  open
  mark                        space                   mark                    mark
trials/matrix
  -matrix-left/matrix-right   left,h/right,l          column(-1)/column(1)    previous agent/next agent
  matrix-open                 enter                   choose                  show these
went-wrong
  next-tab/previous-tab       right_square_bracket/left_square_bracket tab(±1)                 tab
  evaluator                   v                       evaluator               next evaluator
  group                       b                       group                   group by
  open-group/close-group      l,right/h,left          members(True)/members(False) members/All groups
  back                        escape,w                leave                   back
went-wrong/enter
  open                        enter                   choose                  open candidate
"""
# A section belongs to a class of the app. It is named after its group, which is the first part of an id, optionally
# followed by a part of its own. Each line has a name, keys, an action, a description, and after "|" a description for
# the palette, where no screen provides context. "-" hides the binding from the footer, and "!" gives it priority over
# the focused field. An action and its opposite share a line, and if they also share the description, they share their
# place in the footer. A line of ids includes bindings of other sections.


class Declared(NamedTuple):
    """A binding; ``opposite`` has the keys of the binding that shares its place in the footer."""

    id: str
    keys: str
    action: str
    title: str
    about: str
    opposite: str
    shown: bool
    first: bool


def _declared(group: str, line: str) -> list[Declared]:
    names, keys, action, titles = line.split(None, 3)
    title, _, about = titles.partition(" | ")
    flags = names[: len(names) - len(names.lstrip("!-"))]
    pair, titled = names.lstrip("!-").split("/"), title.split("/")
    actions = action.replace("±", "").split("/") + action.replace("±", "-").split("/")[-1:]
    made = []
    for at, (name, key) in enumerate(zip(pair, keys.split("/"), strict=True)):
        shown = not at and "-" not in flags
        opposite = keys.split("/")[1] if shown and len(pair) > len(titled) else ""
        here = titled[at] if len(titled) == len(pair) else title if shown else f"{('next', 'previous')[at]} {title}"
        made.append(Declared(f"{group}.{name}", key, actions[at], here, about, opposite, shown, "!" in flags))
    return made


def _read() -> dict[str, list[Declared]]:
    sections: dict[str, list[Declared]] = {}
    every: dict[str, Declared] = {}
    for line in _TABLE.strip().splitlines():
        if not line.startswith(" "):
            section = sections[line] = []
            group = line.partition("/")[0]
        elif "." in line.split()[0]:
            section += [every[one.lstrip("-")]._replace(shown=one[0] != "-") for one in line.split()]
        else:
            section += _declared(group, line)
            every |= {one.id: one for one in section}
    return sections | {one: [declared] for one, declared in every.items()}


SECTIONS = _read()
"""The bindings of each section, and each single binding by its id."""
KEYS = {name: ones[0].keys for name, ones in SECTIONS.items() if "." in name}
"""The keys of each binding by its id, in Textual's notation."""
