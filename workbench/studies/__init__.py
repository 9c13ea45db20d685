"""Studies: a matrix of agents and models on cases, or of doc systems and evaluators on repositories, declared and read as one.

``declaration`` is what was asked for, ``reading`` gets what a session has of it, ``outcome`` computes its figures once,
``following`` does both, also again and again; ``comparing`` sets columns against one another. What draws at random is in
``chances``, which imports numpy: the app asks for it in a process of its own (``drawing``).
"""
