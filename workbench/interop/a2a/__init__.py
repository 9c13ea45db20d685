"""A2A, in either version of the protocol: agents of other people, and ours for them.

``agent`` is an agent of other people as a run sees it, over ``peer``, a conversation; its ``card`` says what it is.
``served_agent`` and ``assessor`` listen for others: on loopback only, unless a token is given that every request must
carry. The package ``a2a-sdk`` (extra ``a2a``) is imported only when an agent is asked or served.
"""
