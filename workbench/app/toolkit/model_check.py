"""Whether what is typed as a model can be asked: checked in the dialog, so that nothing that was typed is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.settings import Settings


def model_problem(model: str, role: str, settings: Settings) -> str:
    """Return why a model cannot be asked, "" where it can; costs some milliseconds.

    Args:
        model: A LiteLLM name, ``local`` or ``replay:SESSION``.
        role: What it is for, as used in messages: ``the agent``.
        settings: The settings in force.
    """
    from workbench.errors import WorkbenchError
    from workbench.models.names import check_model

    try:
        if model.startswith("replay:"):
            from workbench.engine.session_names import resolve_session

            resolve_session(model.removeprefix("replay:"))
        else:
            check_model(model, role, base_url=settings.base_url, local_model_path=settings.local_model_path)
    except WorkbenchError as error:
        return str(error)
    return ""
