"""The engine: a separate process that executes runs and is the only writer of those runs.

Work is requested through :mod:`workbench.orders`; :mod:`workbench.plans.plan` defines its arguments. Modules of this
package run in the engine process (``python -m workbench.engine``) and may import heavy libraries.
"""
