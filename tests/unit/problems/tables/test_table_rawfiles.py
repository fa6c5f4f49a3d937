"""Raw files: every container and every damage to it, and a progress bar that ends where it should."""

import gzip
import sys
import zipfile

import pytest

from mfbo.errors import InvalidInputError, MissingExtraError
from mfbo.problems.tables import rawfiles
from mfbo.problems.tables.columns import needed_columns, rows_of
from mfbo.problems.tables.rawfiles import sources

LINES = ["\ufeff Name , Pickup Time,x", "a,1,2", "", "b,3,4", "c"]


def _all(path, progress=None):
    return [row for source in sources(path, progress) for row in rows_of(source, ["x", "name"])]


def _zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_plain_gzip_and_zip_give_the_same_rows(write, tmp_path):
    text = "\n".join(LINES)
    archive = _zip(tmp_path / "t.zip", {"__MACOSX/._t.csv": "junk", "readme.md": "x", "T.CSV": text})
    misnamed = tmp_path / "t.dat"
    misnamed.write_bytes(gzip.compress(text.encode()))
    windows = tmp_path / "w.csv"
    windows.write_bytes(text.replace("\n", "\r\n").encode())
    for path in (write("t.csv", LINES), write("t.csv.gz", LINES), archive, misnamed, windows):
        assert _all(path) == [("2", "a"), ("4", "b")], path


def test_quotes_anywhere_are_read_as_csv(write, monkeypatch):
    monkeypatch.setattr(rawfiles, "CHUNK_ROWS", 2)
    lines = ["x,other,name", "1,,a", "2,,b", "3,,c", '"4","p, q", "d, ""e"""', "", "5,,f", "6"]
    path = write("t.csv", lines)
    assert _all(path) == [("1", "a"), ("2", "b"), ("3", "c"), ("4", 'd, "e"'), ("5", "f")]
    shorts = [short for source in sources(path) for _, short in source.chunks(["x", "name"])]
    assert sum(shorts) == 1


def test_column_names_are_compared_without_spaces_and_case(write):
    (source,) = sources(write("t.csv", LINES))
    assert source.columns == ("name", "pickup_time", "x")


def test_short_rows_are_counted_and_blank_ones_are_nothing(write):
    for source in sources(write("t.csv", LINES)):
        assert [short for _, short in source.chunks(["x", "name"])] == [1]


def test_several_members_and_several_files_are_read_in_order(write, tmp_path):
    archive = _zip(tmp_path / "t.zip", {"1.csv": "x,name\n1,a\n", "2.csv": "name,x\nb,2\n"})
    assert _all([archive, write("t.csv", ["x,name", "3,c"])]) == [("1", "a"), ("2", "b"), ("3", "c")]


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_progress_rises_to_the_size_of_all_files(write, monkeypatch, name):
    monkeypatch.setattr(rawfiles, "CHUNK_ROWS", 1000)
    paths = [
        write(f"{number}{name}", ["x,name", *(f"{row},{row * 7919}" for row in range(30_000))]) for number in (1, 2)
    ]
    seen = []
    _all(paths, lambda done, total: seen.append((done, total)))
    total = sum(path.stat().st_size for path in paths)
    assert {each for _, each in seen} == {total}
    done = [each for each, _ in seen]
    assert done == sorted(set(done))
    assert done[-1] == total
    assert len(done) > 4


def _truncated(path):
    path.write_bytes(path.read_bytes()[:-20])
    return path


def test_damaged_containers_are_refused_by_name(write, tmp_path):
    many = ["x,name", *(f"{row},{row * 7919}" for row in range(5_000))]
    flipped = write("crc.csv.gz", many)
    content = bytearray(flipped.read_bytes())
    content[-6] ^= 0xFF
    flipped.write_bytes(content)
    archive = _truncated(_zip(tmp_path / "cut.zip", {"a.csv": "\n".join(many)}))
    for path in (_truncated(write("cut.csv.gz", many)), flipped, archive):
        with pytest.raises(InvalidInputError, match=rf"{path.name}.*truncated or damaged.*download it again"):
            _all(path)


def test_a_damaged_member_of_an_archive_is_refused(tmp_path):
    path = _zip(tmp_path / "t.zip", {"a.csv": "x,name\n" + "1,a\n" * 5000})
    content = bytearray(path.read_bytes())
    content[45] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"t\.zip.*a\.csv is truncated or damaged"):
        _all(path)


def test_an_archive_with_a_password_is_refused(tmp_path):
    path = _zip(tmp_path / "t.zip", {"a.csv": "x,name\n1,a\n"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag of encryption in the list of members
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"a\.csv is locked with a password; unpack it first"):
        _all(path)


def test_what_is_no_table_is_refused(write, tmp_path):
    quote = write("quote.csv", ["x,name", '1,"a', *("1,b" for _ in range(60_000))])
    for path, message in [
        (write("empty.csv.gz", []), "is empty"),
        (write("blank.csv", ["", " , "]), "is empty"),
        (write("page.csv", ["<!DOCTYPE html>", "<html>"]), "web page"),
        (quote, "not a readable CSV"),
        (_zip(tmp_path / "book.xlsx", {"xl/workbook.xml": "<x/>"}), "holds no .csv file but xl/workbook.xml"),
        (_zip(tmp_path / "none.zip", {}), "holds no .csv file but nothing"),
    ]:
        with pytest.raises(InvalidInputError, match=message) as refusal:
            _all(path)
        assert path.name in str(refusal.value)


def test_missing_empty_and_repeated_files_are_refused(write, tmp_path):
    path = write("t.csv", LINES)
    (tmp_path / "zero.csv").touch()
    for paths, message in [
        ([], "no raw file"),
        (tmp_path / "none.csv", "does not exist"),
        (tmp_path, "is a folder"),
        ([path, tmp_path / "zero.csv"], "zero.csv is empty"),
        ([path, tmp_path / "." / "t.csv"], "given twice"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            _all(paths)


def test_a_missing_column_is_named_with_the_columns_there_are(write):
    (source,) = sources(write("t.csv", LINES))
    with pytest.raises(
        InvalidInputError, match=r"not a good file: no column for the y \(y or why\).*name, pickup_time, x"
    ):
        needed_columns(source, {"the x": ("x",), "the y": ("y", "why")}, "a good file")


@pytest.mark.filterwarnings("ignore::mfbo.errors.MfboWarning")
def test_binary_junk_is_no_crash(tmp_path):
    path = tmp_path / "junk.csv"
    path.write_bytes(bytes(range(256)) * 2000)
    for source in sources(path):
        with pytest.raises(InvalidInputError, match=r"junk.csv is not a table"):
            needed_columns(source, {"the x": ("x",)}, "a table")


def test_parquet_gives_text_times_and_numbers(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    times = arrow.array([0, None, 3_600_000_000], arrow.timestamp("us"))
    table = arrow.table({"X": [1.5, None, 2.5], "Name": times, "other": [1, 2, 3]})
    parquet.write_table(table, tmp_path / "t.parquet")
    seen = []
    rows = _all(tmp_path / "t.parquet", lambda done, total: seen.append((done, total)))
    assert [(x, name[:16]) for x, name in rows] == [(1.5, "1970-01-01 00:00"), (None, ""), (2.5, "1970-01-01 01:00")]
    assert seen[-1][0] == seen[-1][1] == (tmp_path / "t.parquet").stat().st_size


def test_damaged_parquet_is_refused(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "pages.parquet"
    parquet.write_table(arrow.table({"x": list(range(9000)), "name": ["a"] * 9000}), path, compression="gzip")
    content = bytearray(path.read_bytes())
    content[4:2000] = b"\xff" * 1996  # the pages of the first column; the footer is whole
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match="truncated or damaged"):
        _all(path)
    (tmp_path / "t.parquet").write_bytes(b"PAR1" + b"x" * 100)
    with pytest.raises(InvalidInputError, match="truncated or damaged"):
        _all(tmp_path / "t.parquet")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1" + b"x" * 100)
    with pytest.raises(MissingExtraError, match=r'pip install "mfbo\[data\]"'):
        _all(tmp_path / "t.parquet")
