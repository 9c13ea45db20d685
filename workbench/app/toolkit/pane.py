"""The frame around a widget: a title, a short name where panes are tabs, and results that threads bring."""

from __future__ import annotations

from textual.containers import Vertical

from workbench.app.toolkit.latest import Latest, sentence_of
from workbench.app.toolkit.lifecycle import Lasting
from workbench.app.toolkit.literal import set_title


class Pane(Vertical, Lasting):
    """A frame; ``short`` is its name where panes are tabs."""

    short = ""

    def titled(self, title: str, subtitle: str = "") -> None:
        """Set the title and subtitle in the frame, taken literally."""
        set_title(self, title, subtitle)

    def on_latest_reported(self, message: Latest.Reported) -> None:
        """Show what a thread found so far."""
        self.on_latest_finished(message)

    def on_latest_finished(self, message: Latest.Finished) -> None:
        """Bring a result of a thread to this pane's own code, and a failure to the person."""
        message.stop()
        error = message.loader.settle(message)
        if error is not None:
            self.notify(sentence_of(error), title=self.short, severity="error", timeout=10)
