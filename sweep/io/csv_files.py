"""Reading CSV files: the header after comments, and the rows, each of which has a cell for each column."""

from __future__ import annotations

import codecs
import errno
import mmap
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from tribosweep.sweep.io.errors import shorten
from tribosweep.sweep.io.files import MEBIBYTE, require_regular
from tribosweep.sweep.io.foreign import UnreadableError, guarded

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv

LONGEST_LINE = MEBIBYTE // 2  # bytes of the header or of a comment; a line of cells must fit into a block
BLOCK = MEBIBYTE
MOST_COMMENTS = 100_000
MOST_COLUMNS = 10_000
QUOTED = rb'"[^"]*+(?:""[^"]*+)*+"(?=[,\r\n]|\Z)'
# cells of which those in quotes are whole; elsewhere than at the start of a cell a quote is a character as any other
CELLS = re.compile(rb'(?:%s|(?!"))[^"]*+(?:(?:(?<=[,\r\n])%s|(?<=[^,\r\n])")[^"]*+)*+' % (QUOTED, QUOTED))
# cells in quotes, and ends of lines with the blank lines after them
LINES = re.compile(rb"(?:(?<=[,\r\n])|\A)%s|(?:\r\n|\r|\n)((?:\r\n|\r|\n)*+)" % QUOTED)


class Columns(NamedTuple):
    """An open file of columns.

    Attributes:
        names: the headers. pieces: the rows, piece by piece.
        metadata: name -> metadata of the column; a CSV file has none.
    """

    names: list[str]
    pieces: Iterator[pa.Table]
    metadata: Mapping[str, Mapping[bytes, bytes]] = MappingProxyType({})

    def said(self, key: str) -> dict[str, str]:
        """What the metadata of the columns say under a key, such as "unit", without those that say nothing."""
        found = {name: about.get(key.encode(), b"").decode("utf-8", "replace") for name, about in self.metadata.items()}
        return {name: text for name, text in found.items() if text}

    @property
    def units(self) -> dict[str, str]:
        """The units in the metadata `unit` or `units` of the columns, as the files of a run have them; 1 is none."""
        return {name: unit for name, unit in (self.said("units") | self.said("unit")).items() if unit != "1"}


def read_csv(path: Path) -> Columns:
    """The columns of a CSV file. Cells are text, so that a wrong one can be reported with its row; empty cells are null.

    Lines before the header that begin with # are skipped, and so are blank lines before it and at the end. In a file of one column every
    other blank line is an empty cell.

    Raises:
        OSError: it is no regular file, its header or comments are too long, a row has another number of cells than the header, or a line
            between rows of several cells is blank. UnreadableError: it is no CSV file.
    """
    import pyarrow as pa
    from pyarrow import csv

    start = find_header(path)
    end = check_lines(path, start)
    if start >= path.stat().st_size:
        raise UnreadableError("it is empty: its first line names its columns")
    uneven: list[csv.InvalidRow] = []

    def keep(row: csv.InvalidRow) -> str:
        uneven.append(row)
        return "error"

    reading, parsing = csv.ReadOptions(block_size=BLOCK), csv.ParseOptions(ignore_empty_lines=False, invalid_row_handler=keep)

    def opened(names: Sequence[str]) -> csv.CSVStreamingReader:
        kinds = {name: pa.string() for name in names}
        convert = csv.ConvertOptions(column_types=kinds, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=True)
        return csv.open_csv(pa.OSFile(str(path)).get_stream(start, end - start), reading, parsing, convert)

    @contextmanager
    def guarded_rows() -> Iterator[None]:
        try:
            with guarded():
                yield
        except UnreadableError:
            if uneven:
                raise uneven_row(path, start, uneven[0]) from None
            raise

    def pieces() -> Iterator[pa.Table]:
        with guarded_rows():
            reader = opened(names)
        with reader:
            while True:
                with guarded_rows():
                    batch = next(iter(reader), None)
                if batch is None:
                    return
                yield pa.Table.from_batches([batch])

    with guarded_rows(), opened([]) as header:
        names = list(header.schema.names)
    return Columns(names, pieces())


def find_header(path: Path) -> int:
    """The position of the first byte of the header of a CSV file; OSError if it or the lines before it are too long."""
    require_regular(path)
    with path.open("rb") as file:
        for remarks in range(MOST_COMMENTS + 1):
            line = file.readline(LONGEST_LINE + 1)
            if len(line) > LONGEST_LINE:
                raise OSError(errno.EFBIG, f"line {remarks + 1} has more than {LONGEST_LINE:,} bytes", str(path))
            text = line.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
            if not line or (text and not text.startswith(b"#")):
                if line.count(b",") >= MOST_COLUMNS:
                    message = f"its header names {line.count(b',') + 1:,} columns: at most {MOST_COLUMNS:,} are read"
                    raise OSError(errno.EFBIG, message, str(path))
                return file.tell() - len(text)
    raise OSError(errno.EFBIG, f"has more than {MOST_COMMENTS:,} lines of comments before its header", str(path))


def check_lines(path: Path, start: int) -> int:
    """The position after the last line of a CSV file that is not blank.

    Args:
        path: the file. start: position of its header.

    Raises:
        OSError: it is no UTF-8 text (Arrow would print a traceback of an uneven row), a cell goes on after its closing quote, or
            has none (Arrow would read "1"5 as 15), or a line between rows of several cells is blank (Arrow would read it as a row of empty
            cells).
    """
    if path.stat().st_size <= start:
        return start
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:

        def wrong(place: int, message: str) -> OSError:
            return OSError(errno.EILSEQ, f"line {line_of(data, place)}: {message}", str(path))

        if (place := no_text(data, start)) >= 0:
            raise wrong(place, "is no UTF-8 text: save the file as UTF-8")
        if data.find(b'"', start) >= 0:
            cells = CELLS.match(data, start)
            end = start if cells is None else cells.end()
            if end < len(data):
                raise wrong(end, "a cell in quotes must end with a quote, before the next comma")
        end = len(data)
        while end > start and data[end - 1] in b"\r\n":
            end -= 1
        header = data.find(b"\n", start, end)
        several = b"," in data[start : header if header >= 0 else min(end, start + LONGEST_LINE)]
        if several and any(data.find(two, start, end) >= 0 for two in (b"\n\n", b"\n\r", b"\r\r")):
            blank = next((found for found in LINES.finditer(data, start, end) if found[1]), None)
            if blank is not None:
                raise wrong(blank.start(1), "is blank; a row has a cell for each column, which may be empty: leave the line out")
        last = data[end : end + 2]
        return end + (2 if last == b"\r\n" else len(last[:1]))


def no_text(data: Any, start: int) -> int:
    """The first position from `start` on of bytes that are no UTF-8 text; -1 if there is none."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for place in range(start, len(data), BLOCK):
        before = len(decoder.getstate()[0])
        try:
            decoder.decode(data[place : place + BLOCK], final=place + BLOCK >= len(data))
        except UnicodeDecodeError as error:
            return place - before + error.start
    return -1


def line_of(data: Any, place: int) -> int:
    """The number of the line, from 1 on, in which a position of a file is."""
    before = data[:place]
    return int(before.count(b"\n") or before.count(b"\r")) + 1


def uneven_row(path: Path, start: int, row: csv.InvalidRow) -> OSError:
    """The error of a row that has more or fewer cells than the header at `start`."""
    more = row.actual_columns > row.expected_columns
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place = data.find(b"\n" + row.text.encode(errors="surrogateescape"), start)
        line = f"line {line_of(data, place + 1)}: " if place >= 0 else ""
    comma = "; numbers have a decimal point, not a comma" if more and re.search(r"\d,\d", row.text) else ""
    separator = "; columns are separated by commas" if ";" in row.text or "\t" in row.text else ""
    message = f"{line}{shorten(row.text)} has {row.actual_columns:,} cells, and the header {row.expected_columns:,}{separator}{comma}"
    return OSError(errno.EILSEQ, message, str(path))
