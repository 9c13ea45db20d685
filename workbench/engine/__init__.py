"""The engine: another process that executes runs and is the only writer of the runs that it executes.

Ask for work through :mod:`workbench.engine.client`; :mod:`workbench.engine.plan` says what can be asked for. Everything
else here runs inside the engine process (``python -m workbench.engine``) and may import the heavy libraries.
"""
