"""A2A in both protocol versions: a client for remote agents, and servers for agents and assessments.

``agent`` runs a remote agent through ``peer``, which conducts a conversation over ``wire``; ``card`` reads its agent
card. ``served_agent`` and ``assessor`` are the servers. Without a token, they listen only on loopback; with a token,
every request must carry it. The package ``a2a-sdk`` (extra ``a2a``) is imported only for a remote agent or a server.
"""
