"""The engine: a separate process that executes runs and is the only writer of the runs that it executes.

Request work through :mod:`workbench.orders.client`; :mod:`workbench.plans.plan` defines what can be requested. Everything
else here runs inside the engine process (``python -m workbench.engine``) and may import heavy libraries.
"""
