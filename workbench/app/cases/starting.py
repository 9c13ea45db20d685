"""Ask for a run of an agent in one dialog and start it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.app.host import Host


async def ask_and_run(host: Host, cases: list[tuple[str, str]]) -> None:
    """Show the dialog and start what was chosen; call it from a worker.

    Args:
        host: The app.
        cases: Key and name of each case.
    """
    from workbench.app import runs
    from workbench.app.cases.run_dialog import RunChoice, RunDialog
    from workbench.engine.plan import DocumentPlan
    from workbench.models.defaults import available_models, default_model

    settings = host.settings
    model = settings.agent_model or default_model("agent", base_url=settings.base_url)
    judge = settings.judge or default_model("judge", base_url=settings.base_url)
    judge = "offline" if judge.startswith("local") and not settings.judge else judge
    title = cases[0][1] if len(cases) == 1 else f"{len(cases)} cases"
    choice: RunChoice | None = await host.push_screen_wait(
        RunDialog(
            title,
            model,
            judge,
            available_models(),
            host.settings.agent,
            runs.default_session(host.session_path if host.reader is not None else None),
            runs.known_sessions(),
        )
    )
    if choice is None:
        return
    plan = DocumentPlan(
        tuple(key for key, _ in cases),
        agent=choice.agent,
        model=choice.model,
        judge=choice.judge,
        repeats=choice.repeats,
        spend_limit=settings.spend_limit,
        max_steps=settings.max_steps,
    )
    name = cases[0][1] if len(cases) == 1 else f"{len(cases)}-cases"
    host.start_run(plan, name, runs.session_named(choice.session, name))
