"""The one reader of CSV files that users hand in; all faults of a file are found before any is reported.

Columns in any order, found by name; in UTF-8, UTF-16 or a Windows code page; commas, semicolons or tabs between fields;
decimal commas where they cannot be thousands; names that were written with an apostrophe, so that no spreadsheet takes
them for formulas, without it. What is missing is None. Raw trip files of many gigabytes are streamed by
`problems/tables/rawfiles.py` instead.
"""

from mfbo.csv_reader.faults import Faults, collected
from mfbo.csv_reader.numbers import has_decimal_comma, parsed_number
from mfbo.csv_reader.parsing import SheetSource, SheetText, parse_sheet, read_sheet
from mfbo.csv_reader.sheet import Check, Sheet, above, at_least, plain_name, whole, within_degrees

__all__ = [
    "Check",
    "Faults",
    "Sheet",
    "SheetSource",
    "SheetText",
    "above",
    "at_least",
    "collected",
    "has_decimal_comma",
    "parse_sheet",
    "parsed_number",
    "plain_name",
    "read_sheet",
    "whole",
    "within_degrees",
]
