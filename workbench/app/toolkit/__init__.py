"""Widgets and helpers that all modes share; nothing in this package depends on a particular mode.

- Frames: ``mode_screen`` (header, panes, footer), ``run_screen`` (a mode that shows a run), ``pane``, ``lifecycle``.
- Lists: ``virtual_view`` paints rows on demand, ``row_list`` adds a cursor, ``table`` adds declared ``columns``, and
  ``typed_line`` narrows a list.
- Texts: ``document`` is plain data, ``text_pane`` shows it, and ``literal`` prevents untrusted text from being
  parsed as markup.
- Dialogs: ``fields``, ``form``, ``order_form`` (a form that starts an order), ``filters``, ``export_dialog``.
- Work: ``workers`` runs jobs in threads; ``actions`` copies, edits and labels items.
"""
