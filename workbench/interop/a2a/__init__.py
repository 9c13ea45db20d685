"""A2A in both protocol versions: a client for remote agents, and servers for agents and assessments.

``agent`` runs a remote agent through ``peer``, a conversation over ``wire``; ``card`` reads its agent card.
``served_agent`` and ``assessor`` are the servers. They listen on loopback only, unless a token is set that every request
must carry. The package ``a2a-sdk`` (extra ``a2a``) is imported only for a remote agent or a server.
"""
