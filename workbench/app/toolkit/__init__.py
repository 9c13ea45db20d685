"""Widgets and helpers that all modes share; nothing in here knows a mode.

- Frames: ``mode_screen`` (header, panes, footer), ``run_screen`` (a mode that follows a run), ``pane``, ``lifecycle``.
- Lists: ``virtual_view`` paints rows on demand, ``row_list`` adds a cursor, ``table`` adds declared ``columns``;
  ``typed_line`` narrows.
- Texts: ``document`` is plain data, ``text_pane`` shows it, ``literal`` keeps outside text from being read as markup.
- Dialogs: ``fields``, ``form``, ``ordering`` (a form that starts an order), ``filters``, ``export_dialog``.
- Work: ``latest`` runs work in threads; ``actions`` copies, edits and labels.
"""
