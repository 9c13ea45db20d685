"""The tiny repository and the sandboxes of ``tests/sandbox``, for the traps that only a real sandbox can show."""

from __future__ import annotations

from sandbox.conftest import box, bubblewrap, shared_box, tiny_workspace, workspace

__all__ = ["box", "bubblewrap", "shared_box", "tiny_workspace", "workspace"]
