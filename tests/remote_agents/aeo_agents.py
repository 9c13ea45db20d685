"""AEO-Bench's two agents, made again from what they parse and what they answer; rules stand in for their models."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from remote_agents.rogue import Rogue, message, result

HEAD = re.compile(r"Tool call result for '(\w+)':\s*")


def tagged(call: dict[str, Any]) -> str:
    return f"<json>{json.dumps(call)}</json>"


def call(name: str, **kwargs: Any) -> dict[str, Any]:
    return {"name": name, "kwargs": kwargs}


@dataclass
class SecondAgent:
    """Walks all directories, then reads sources, then hands in; it cuts tool results at two words of the original's closing."""

    project: str = ""
    directories: list[str] = field(default_factory=list)
    explored: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)

    def hear(self, text: str) -> str:
        head = HEAD.search(text)
        if head is None:
            named = re.search(r"PROJECT:\s*(.+)", text, re.I)
            self.project = named[1].strip() if named else "Unknown Project"
        else:
            given = text[head.end() :].partition("\n\nContinue exploring")[0].strip()
            path = self.last["kwargs"]["path"]
            if head[1] == "read_file":
                self.contents[path] = given
            else:
                self._listed(path, given)
        self.last = self._next()
        return tagged(self.last)

    def _listed(self, path: str, given: str) -> None:
        self.explored.append(path)
        try:
            names = json.loads(given)
        except ValueError:
            names = [line.strip() for line in given.split("\n") if line.strip()]
        for name in names:
            full = name if path == "." else f"{path}/{name}"
            if name.endswith("/") or ("." not in name and not name.startswith("_")):
                self.directories.append(full.rstrip("/"))
            else:
                self.files.append(full)

    def _next(self) -> dict[str, Any]:
        for path in (".", *self.directories):
            if path not in self.explored:
                return call("list_directory", path=path)
        for path in [one for one in self.files if one.endswith(".py")][:5]:
            if path not in self.contents:
                return call("read_file", path=path)
        readme = "\n\n".join([f"# {self.project}", *(f"## {path}" for path in self.contents)])
        return call("respond", readme=readme, metadata={"@type": "SoftwareSourceCode", "name": self.project})


@dataclass
class FirstAgent:
    """Lists, reads, hands in; what its model wrote goes out as it is, so its calls come in any ``dress``."""

    dress: Callable[[dict[str, Any]], str] = tagged
    turn: int = 0

    def hear(self, text: str) -> str:
        self.turn += 1
        readme = '# Demo\n\n```json\n{"name": "read_file"}\n```\n'
        return self.dress(
            [call("list_directory", path="."), call("read_file", path="demo.py"), call("respond", readme=readme)][
                min(self.turn, 3) - 1
            ]
        )


def answering(agent: FirstAgent | SecondAgent) -> Callable[..., Any]:
    """Return what a loopback server does with a message for the agent."""

    async def answer(rogue: Rogue, request: dict[str, Any], send: Callable[[bytes], Any]) -> None:
        asked = request["params"]["message"]
        await send(result(request, message(agent.hear(asked["parts"][0]["text"]), asked["contextId"])))

    return answer
