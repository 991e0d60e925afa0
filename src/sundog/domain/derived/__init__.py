"""Derived fields: computed exactly from other columns of the same row, never measured, in a small language that is parsed.

    expression  = compared { ("and" | "or") compared }
    compared    = sum [ ("=" | "!=" | "<" | "<=" | ">" | ">=") sum | "is" ["not"] "missing" ]
    sum         = product { ("+" | "-") product }
    product     = single { ("*" | "/") single }
    single      = NUMBER | 'text' | true | false | COLUMN | FUNCTION "(" [ expression { "," expression } ] ")"
                | "(" expression ")" | "-" single | "not" single

Every expression has a type (number, text, truth, date, moment, duration), checked when the schema is read. It is total: a
missing value makes the result missing (except in `if`, `first` and `is missing`), a division by zero too, and nothing that a
row holds can raise an error. Numbers are fractions, so nothing is rounded before the field's own decimals.
"""

from sundog.domain.derived.fields import Derived, read_derived

__all__ = ["Derived", "read_derived"]
