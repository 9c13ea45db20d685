"""The last line of every mode: the next keys, as many as fit."""

from __future__ import annotations

from textual import events
from textual.app import RenderResult
from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

_SOME, _ROOMY = 100, 160  # columns from which on the modes keep their place, as figures and by name


class KeyBar(Widget):
    """Shows the bindings that can be used now (``show=True``), nearest to the focus first; a click on a key, or on a mode at the right, presses it.

    ``? help`` and ``^p all commands`` always keep their place at the end.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyBar { dock: bottom; height: 1; background: $panel; color: $text-muted; padding: 0 1; }
    """

    keys: reactive[tuple[tuple[str, str, str], ...]] = reactive(())

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)

    def _bindings_changed(self, screen: Screen[object]) -> None:
        keys = (
            (self.app.get_key_display(active.binding), active.binding.description, active.binding.key)
            for active in screen.active_bindings.values()
            if active.binding.show and active.enabled
        )
        # What a list is there for stands before what can be done with any list.
        self.keys = tuple(sorted(keys, key=lambda one: one[2] != "enter"))

    def _pieces(self) -> list[tuple[str, str, str]]:
        last = {binding.description: binding for binding in self._always()}
        tail = [(self.app.get_key_display(item), name, item.key) for name, item in last.items()]
        seen: set[str] = set(last)
        pieces: list[tuple[str, str, str]] = []
        room = self.size.width - 2 - sum(len(key) + len(name) + 3 for key, name, _ in tail) - self._room_of_modes()
        for key, name, pressed in self.keys:
            size = len(key) + len(name) + 3
            # A long one that has no room leaves it to those that come after.
            if name in seen or size > room:
                continue
            room -= size
            seen.add(name)
            pieces.append((key, name, pressed))
        return pieces + tail

    def _room_of_modes(self) -> int:
        if self.size.width < _SOME:
            return 0
        named = sum(len(key) + len(name) + 3 for key, name, _ in self._modes())
        return named if self.size.width >= _ROOMY else len("1-4 modes")

    def _always(self) -> list[Binding]:
        return [
            binding
            for _, binding in self.app._bindings
            if binding.id in {"app.help", "app.palette"} and "f1" not in binding.key
        ]

    def _mode_bindings(self) -> list[Binding]:
        return [binding for _, binding in self.app._bindings if binding.action.startswith("mode(")]

    def _modes(self) -> list[tuple[str, str, bool]]:
        modes = self._mode_bindings()
        return [
            (self.app.get_key_display(binding), binding.description, f"'{self.app.current_mode}'" in binding.action)
            for binding in modes
        ]

    def render(self) -> RenderResult:
        parts: list[Content | str | tuple[str, str]] = []
        for key, name, _ in self._pieces():
            parts += [(key, "bold $accent"), f" {name}  "]
        left = Content.assemble(*parts)
        modes: list[tuple[str, str]] = []
        for key, name, current in self._modes():
            modes += [
                (f" {key} ", "bold $accent"),
                (name, "bold underline $foreground" if current else "$text-muted"),
                (" ", ""),
            ]
        right = Content.assemble(*modes)
        for shown in (
            right,
            Content.assemble((f"{modes[0][0].strip()}-{len(modes) // 3}", "bold $accent"), (" modes", "")),
        ):
            gap = self.size.width - left.cell_length - shown.cell_length
            if gap >= 0:
                return Content.assemble(left, " " * gap, shown)
        return left

    def on_click(self, event: events.Click) -> None:
        x = 0
        for key, name, pressed in self._pieces():
            x += len(key) + len(name) + 3
            if event.get_content_offset(self) is not None and event.x - 1 < x:
                self.app.simulate_key(pressed)
                return
        wide = [len(key) + 2 + len(name) + 1 for key, name, _ in self._modes()]
        # The modes end at the right edge; where they had no room by name they are not there.
        left = self.size.width - sum(wide)
        if x <= left:
            for size, binding in zip(wide, self._mode_bindings(), strict=True):
                if left <= event.x - 1 < left + size:
                    self.app.simulate_key(binding.key)
                    return
                left += size
