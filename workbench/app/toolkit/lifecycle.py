"""The base of all screens, dialogs and panes: nothing that was deferred reaches a node that is gone or not there yet.

Textual runs ``call_after_refresh`` callbacks in whichever screen is shown by then, lets coroutines of a screen go on until all its
widgets are gone, and lets ``dismiss`` take away whatever screen is uppermost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.await_complete import AwaitComplete
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widget import Widget


def is_gone(node: object) -> bool:
    return isinstance(node, DOMNode) and (node._pruning or not node.is_attached)


class WidgetRemoved(NoMatches):
    """A node is asked for a widget after it was removed, by something that began before."""


class RemovalSafe(MessagePump):
    """Handles messages; what one of them asks of a removed screen ends the handling of this message, not the app."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except WidgetRemoved:
            return


class SafeWidget(RemovalSafe, Widget):
    """A widget whose deferred calls and coroutines end with it.

    It is the last base of a class: Textual takes styles from the first one alone.
    """

    if not TYPE_CHECKING:  # the types of Textual's own

        def query_one(self, *args, **kwargs):
            try:
                return super().query_one(*args, **kwargs)
            except NoMatches as error:
                if is_gone(self):
                    raise WidgetRemoved(str(error)) from None
                raise

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
        def unless_gone() -> Any:
            return None if is_gone(self) else callback(*args, **kwargs)

        return super().call_after_refresh(unless_gone)

    def _on_prune(self) -> None:
        # Textual does so when all widgets below are gone: too late for a coroutine that goes on meanwhile.
        self.workers.cancel_node(self)


class BaseScreen(Screen[ScreenResultType], SafeWidget):
    """A screen that ends once, and only itself."""

    @property
    def takes_keys(self) -> bool:
        """Whether keys have something to act on; those that come earlier wait (see :meth:`OpeningApp.on_event`)."""
        return self.is_mounted

    def on_screen_resume(self) -> None:
        self.keys_can_come()

    def keys_can_come(self) -> None:
        deliver = getattr(self.app, "deliver_keys", None)
        if deliver is not None:
            self.app.call_later(deliver)

    def _on_prune(self) -> None:
        # Textual keeps here what anyone deferred while this screen was shown, and forgets it with the screen.
        callbacks, self._callbacks = self._callbacks, []
        for callback, sender in callbacks:
            sender.call_next(callback)

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """End this screen, unless that was done already or another one stands over it."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


class Dialog(ModalScreen[ScreenResultType], BaseScreen[ScreenResultType]):
    """A screen over another one, a frame (``#frame``) that ends with an answer."""

    DEFAULT_CSS = """
    Dialog { align: center middle; }
    Dialog #frame {
        max-width: 96%; height: auto; max-height: 96%; background: $surface; border: round $primary;
        border-title-color: $foreground; border-title-style: bold;
    }
    Dialog Input { border: none; height: 1; padding: 0 1; background: $panel; width: 1fr; }
    Dialog Input:focus { background: $primary-muted; border: none; }
    Dialog #note { height: auto; color: $text-muted; }
    Dialog #buttons { height: 1; align-horizontal: right; }
    Dialog Button { margin-left: 2; min-width: 12; }
    Dialog #buttons Button:focus { text-style: bold; background: $primary; color: $block-cursor-foreground; }
    """
