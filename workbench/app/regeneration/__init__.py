"""The Regeneration mode: what documentation is worth, task by task and sample by sample.

The model (``wording``, ``loading``, ``lines``, ``evaluators``, ``figures``, ``funnel``, ``filters``,
``sample_content``, ``failures``, ``search``) are plain functions over a session, for worker threads; pass@k comes from
:mod:`workbench.regeneration.passk`. The presenter (``following``, ``finding``, ``actions``) decides what is read, shown and
done, through small interfaces. ``screen`` and the rest are widgets.
"""
