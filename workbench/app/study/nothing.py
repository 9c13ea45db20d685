"""What stands in the place of the matrix: why there is none, and the ways to begin a study where that is why."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container

from workbench.app.keys import bindings
from workbench.app.toolkit.columns import Column
from workbench.app.toolkit.fields import Offer
from workbench.app.toolkit.table import Table
from workbench.app.toolkit.texts import Static
from workbench.studies.declaration import PAPER

NEW, FILE = "new study", "study.toml"
"""What is chosen where it is no study that comes with the program."""


def beginnings() -> tuple[Offer, ...]:
    from workbench.studies.study_files import packaged_studies, study_named

    packaged = [study_named(name) for name in packaged_studies()]
    told = {PAPER: "The paper's published tables, read-only: its report"}
    return (
        Offer(NEW, "Choose cases and agents, or sources and doc systems"),
        *(Offer(one.name, told.get(one.kind, one.title.partition(":")[0])) for one in packaged),
        Offer(FILE, "One that a file declares"),
    )


_COLUMNS: tuple[Column[Offer], ...] = (
    Column(title="", cell=lambda way: (way.name, "group"), width=14, text=True),
    Column(title="", cell=lambda way: way.about, width=20, widest=200, text=True),
)


class BeginList(Table[Offer]):
    """A row for each way to begin."""

    LEAD = 1
    BINDINGS = bindings("study.begin")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(_COLUMNS, key=lambda way: way.name, id=id)


OPENING = "Opening…"
NO_SESSION = "No session is open: press {app.sessions} and choose one."
NO_STUDY = (
    "This session has no study: a matrix of agents on cases, or of doc systems on repositories.\n"
    "Enter begins one here; in a terminal `workbench study agents` does."
)


class NothingHere(Container):
    """A sentence, over the list of ways to begin where there is no study."""

    def compose(self) -> ComposeResult:
        yield Static("", id="study-state", classes="state")
        begin = BeginList(id="study-begin")
        begin.add_class("-off")
        yield begin

    @property
    def begins(self) -> bool:
        return self.display and not self.query_one(BeginList).has_class("-off")

    def on_mount(self) -> None:
        self.call_after_refresh(lambda: self.query_one(BeginList).put(beginnings()))

    def say(self, sentence: str, *, failed: bool = False) -> None:
        """Show a sentence, "" to give the place to the matrix."""
        begins = sentence in (NO_STUDY, NO_SESSION)
        state = self.query_one("#study-state", Static)
        state.update(sentence)
        state.set_class(failed, "-failed")
        state.set_class(begins, "-short")
        self.query_one(BeginList).set_class(not begins, "-off")
        self.set_class(not sentence, "-off")
