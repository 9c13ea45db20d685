"""A2A in both protocol versions: a client for remote agents, and servers for agents and assessments.

``agent`` runs a remote agent through ``peer``, which conducts a conversation over ``wire``; ``card`` reads its agent
card. ``served_agent`` and ``assessor`` are the servers. They listen only on loopback unless a token is set, which every
request must then carry. The package ``a2a-sdk`` (extra ``a2a``) is imported only for a remote agent or a server.
"""
