"""What stands in the place of the matrix: why there is none, and the ways to begin a study where that is why."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container

from workbench.app.study.begin_list import BeginList
from workbench.app.study.ways import beginnings
from workbench.app.toolkit.texts import Static

OPENING = "Opening…"
NO_SESSION = "No session is open: press {app.sessions} and choose one."
NO_STUDY = (
    "This session has no study: a matrix of agents on cases, or of doc systems on repositories.\n"
    "Enter begins one here; in a terminal `workbench study agents` does."
)


class NothingHere(Container):
    """A sentence, over the list of ways to begin where there is no study."""

    def compose(self) -> ComposeResult:
        """Compose both."""
        yield Static("", id="study-state", classes="state")
        begin = BeginList(id="study-begin")
        begin.add_class("-off")
        yield begin

    @property
    def begins(self) -> bool:
        """Whether the ways to begin are offered."""
        return self.display and not self.query_one(BeginList).has_class("-off")

    def on_mount(self) -> None:
        """Read which studies come with the program, once something is on the screen."""
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
