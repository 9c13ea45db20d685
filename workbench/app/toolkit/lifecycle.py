"""Base classes of screens, dialogs and panes that prevent deferred calls from reaching a removed widget.

Textual runs ``call_after_refresh`` callbacks on whichever screen is active by then, keeps a screen's coroutines
running until all its widgets are removed, and lets ``dismiss`` remove whichever screen is on top.
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
    """A removed widget was queried, by a call that started before its removal."""


class RemovalSafe(MessagePump):
    """Aborts the handling of a message that queries a removed screen, instead of crashing the app."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except WidgetRemoved:
            return


class SafeWidget(RemovalSafe, Widget):
    """A widget that cancels its deferred calls and coroutines when it is removed.

    It must be the last base class: Textual takes default styles from the first base class only.
    """

    if not TYPE_CHECKING:  # preserves Textual's type hints

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
        # Textual cancels workers only after all children are removed, which is too late for a running coroutine.
        self.workers.cancel_node(self)


class BaseScreen(Screen[ScreenResultType], SafeWidget):
    """A screen that can dismiss only itself, and only once."""

    @property
    def takes_keys(self) -> bool:
        """Whether the screen can handle keys; until then they are queued (see :meth:`OpeningApp.on_event`)."""
        return self.is_mounted

    def on_screen_resume(self) -> None:
        self.keys_can_come()

    def keys_can_come(self) -> None:
        deliver = getattr(self.app, "deliver_keys", None)
        if deliver is not None:
            self.app.call_later(deliver)

    def _on_prune(self) -> None:
        # While this screen is active, Textual queues all deferred callbacks here, and drops them with the screen.
        callbacks, self._callbacks = self._callbacks, []
        for callback, sender in callbacks:
            sender.call_next(callback)

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Dismiss this screen, unless it was already dismissed or another screen is on top."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


class Dialog(ModalScreen[ScreenResultType], BaseScreen[ScreenResultType]):
    """A modal screen with a frame (``#frame``) that dismisses with an answer."""

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
