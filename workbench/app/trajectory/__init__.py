"""The Trajectory mode: one trial, step by step.

The model (``loading``, ``step_content``, ``outcome``, ``comparison``, ``scores``, ``search``, ``markdown``) are plain functions
over a session, for worker threads. The presenter (``finding``, ``actions``) decides what is shown and done, through small
interfaces. ``screen`` and the rest are widgets.
"""
