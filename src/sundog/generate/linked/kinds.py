"""The kinds of tables that a child table is searched for.

One column, two of a row, one with what is given, two of siblings, the difference of one between siblings with another of both.
"""

MARGIN, WITHIN, GIVEN, SIBLINGS, DIFFERENCES = 0, 1, 2, 3, 4
