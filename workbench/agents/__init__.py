"""The agents under test, their tools and their wire protocol.

An agent is a class with ``async document(context) -> Submission``. It is either an entry of
:data:`workbench.agents.names.AGENTS` or a class in another package, named by its dotted path ``package.module:Class``
(docs/extending/agent.md).
"""

import lazy_loader

# Nothing is imported eagerly: a package that imports its own modules can deadlock with a thread that imports one of
# them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "names": ["AGENTS", "Agent", "AgentInfo", "agent_info", "make_agent"],
        "protocol": ["Submission"],
    },
)
