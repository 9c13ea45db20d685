"""Plans: the arguments of each kind of order, declared once and stored with its runs."""
