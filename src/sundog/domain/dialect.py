"""The dialect of a text file: how its bytes are text, its lines records, and its records cells. Declared, never guessed.

It is a Data Package table dialect (https://datapackage.org/standard/table-dialect/) with `encoding`, and with what the
standard lacks: `multiline` (a quoted cell may hold line ends, so that records are parsed and not lines), and `decimalChar`,
`groupChar` and `bareNumber` as defaults of all number fields.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sundog.errors import UserError

ENCODINGS = {
    "utf-8": ("utf8", "utf-8-sig", "ascii", "us-ascii"),
    "latin-1": ("latin1", "iso-8859-1", "iso8859-1"),
    "iso-8859-15": ("latin-9", "latin9"),
    "windows-1250": ("cp1250",),
    "windows-1251": ("cp1251",),
    "windows-1252": ("cp1252", "ansi"),
    "utf-16": ("utf16",),
    "utf-16le": ("utf-16-le",),
    "utf-16be": ("utf-16-be",),
}
"""The encodings that can be declared, and their other names."""
LINE_ENDS = ("\n", "\r\n")


class DialectModel(BaseModel):
    """The `dialect` of a schema document."""

    model_config = ConfigDict(allow_inf_nan=False, extra="forbid")
    delimiter: str | None = None
    quote_char: str | None = Field(default='"', alias="quoteChar")
    double_quote: bool = Field(default=True, alias="doubleQuote")
    escape_char: str | None = Field(default=None, alias="escapeChar")
    line_terminator: str = Field(default="\n", alias="lineTerminator")
    header: bool = True
    encoding: str = "utf-8"
    multiline: bool = False
    decimal_char: str = Field(default=".", alias="decimalChar")
    group_char: str | None = Field(default=None, alias="groupChar")
    bare_number: bool = Field(default=True, alias="bareNumber")


@dataclass(frozen=True)
class Dialect:
    """How a text file is read; `delimiter` None means the file's ending says it.

    `names` are the columns of a file without a header line: the schema's fields, in order.
    """

    delimiter: str | None = None
    quote: str | None = '"'
    double_quote: bool = True
    escape: str | None = None
    header: bool = True
    encoding: str = "utf-8"
    multiline: bool = False
    names: tuple[str, ...] = ()

    @staticmethod
    def of(given: Mapping[str, Any] | None) -> "Dialect":
        """A dialect from its document."""
        try:
            return read_dialect(DialectModel.model_validate(given or {}))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise UserError(f"dialect, {place}: {first['msg']}. `sundog help schema` says what is allowed.") from None


STANDARD = Dialect()
"""Commas (tabs for .tsv), double quotes, UTF-8, one header line, every line one record."""


def read_dialect(model: DialectModel, names: tuple[str, ...] = ()) -> Dialect:
    """The dialect that a checked document declares."""
    delimiter = "\t" if model.delimiter == "\\t" else model.delimiter
    quote, escape = model.quote_char or None, model.escape_char or None
    if delimiter is not None:
        _one_character("delimiter", delimiter)
    for key, mark in (("quoteChar", quote), ("escapeChar", escape)):
        if mark is not None:
            _one_character(key, mark, ascii_only=True)
    if delimiter is not None and delimiter in (quote, escape):
        raise UserError(f"dialect, delimiter: {delimiter!r} is also the quote or escape character; they must differ.")
    if model.line_terminator not in LINE_ENDS:
        raise UserError(
            f"dialect, lineTerminator: found {model.line_terminator!r}; lines end with a line feed, or a carriage return "
            "and a line feed: convert the file."
        )
    if model.multiline and quote is None:
        raise UserError("dialect, multiline: a record spans lines only inside quotes; declare a quoteChar.")
    return Dialect(
        delimiter=delimiter,
        quote=quote,
        double_quote=model.double_quote or escape == quote,
        escape=None if escape == quote else escape,
        header=model.header,
        encoding=_encoding(model.encoding),
        multiline=model.multiline,
        names=() if model.header else names,
    )


def _one_character(key: str, mark: str, *, ascii_only: bool = False) -> None:
    if len(mark) != 1 or mark in "\r\n\0\ufeff\ufffd" or (ascii_only and not mark.isascii()):
        kind = "one ASCII character" if ascii_only else "one character"
        raise UserError(f"dialect, {key}: found {mark!r}; it must be {kind}, and no line end.")


def _encoding(name: str) -> str:
    wanted = name.strip().lower().replace("_", "-")
    for encoding, others in ENCODINGS.items():
        if wanted == encoding or wanted in others:
            return encoding
    raise UserError(f"dialect, encoding: found {name!r}; allowed are {', '.join(ENCODINGS)}.")
