"""Agents of other people over A2A: their cards, and conversations with them in either version of the protocol.

The package ``a2a-sdk`` (extra ``a2a``) speaks the protocol; only ``peer`` and ``card`` import it, and only when an agent is
asked. Whose tools run, what is traced and how it is scored does not differ from an agent of this machine.
"""

import lazy_loader

# Nothing is imported here: a package that imports its own modules deadlocks with a thread that imports one of them directly.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "card": ["PeerCard"],
        "card_check": ["ShownCard", "shown_card"],
        "installed": ["check_installed", "is_installed"],
        "peer": ["Peer", "PeerAsker", "PeerLimits"],
    },
)
