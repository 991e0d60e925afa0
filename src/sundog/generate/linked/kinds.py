"""The kinds of tables that a child table is searched for: one column, two of a row, one with what is given, two of siblings."""

MARGIN, WITHIN, GIVEN, SIBLINGS = 0, 1, 2, 3
