"""The one reader of users' CSV files: what is missing is None, and every fault has its line."""

from contextlib import nullcontext

import pytest

from mfbo.csv_reader import Faults, at_least, parse_sheet
from mfbo.errors import FaultyFileError, MfboWarning
from mfbo.problems.tables import load_demand
from mfbo.sheets import read_population, read_stations


def sheet_of(text):
    return parse_sheet(text, "sheet.csv", Faults())


def faults_of(sheet):
    return [str(fault) for fault in sheet.faults.found]


def test_what_is_missing_is_none_and_never_a_number():
    sheet = sheet_of("name,a,b\nx,1,\ny,two,3\n,4")
    assert sheet.numbers("a") == [1.0, None, 4.0]
    assert sheet.numbers("b", gaps=True) == [None, 3.0, None]
    assert sheet.texts("name") == ["x", "y", None]
    assert sheet.positions("name", ["y"], "station") == [None, 0, None]
    assert sheet.numbers(None) == sheet.texts(None) == [None] * 3


def test_a_line_that_ends_early_is_said_once_and_only_if_what_it_lacks_is_needed():
    sheet = sheet_of("name,a,b\nx,1,2\ny\n")
    sheet.texts("name")
    sheet.numbers("a", gaps=True)
    assert faults_of(sheet) == []
    sheet.numbers("a")
    sheet.numbers("b")
    assert faults_of(sheet) == ["sheet.csv, line 3: 1 field, but the header has 3"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a;b\n1,250;2,5\n", [1.25]),
        ("lat;a\n52,520;1,250\n", [1.25]),  # 52,520 degrees are not thousands, so commas are decimal ones
        ("a;b\n1,250;7\n", [None]),
        ("a;b\n1.250;812,5\n", [None]),  # 1250 where commas are decimal ones, and never 1.25 in silence
        ("a;b\n1.25;812,5\n", [1.25]),
        ("a;b\n1.250;812\n", [1.25]),
        ('"a","b"\n"1,250","0,5"\n', [1.25]),
    ],
)
def test_a_comma_is_decimal_if_some_number_of_the_file_shows_it(text, wanted):
    assert sheet_of(text).numbers("a") == wanted
    assert sheet_of("lat;a\n52.520;812,5\n").numbers("lat") == [52.52]  # degrees are never thousands


def test_empty_columns_at_the_end_are_none_and_a_nameless_one_with_fields_is_a_fault():
    sheet = sheet_of("name;a;;\nx;1;;\ny;2\n;;;\n")
    assert sheet.columns == ("name", "a")
    assert sheet.numbers("a") == [1.0, 2.0]
    assert faults_of(sheet) == []
    assert faults_of(sheet_of("name;a;;\nx;1;7;\n")) == ["sheet.csv, line 1: the column number 3 has no name"]


def test_a_percentage_is_no_number_and_the_way_out_is_said():
    sheet = sheet_of("a\n85 %\n")
    assert sheet.numbers("a") == [None]
    assert faults_of(sheet)[0].endswith("'85 %' is not a number: write 0.85 for 85 %, or 85, every time alike")


def test_checks_say_what_is_wrong_and_leave_nothing():
    sheet = sheet_of("a\n-3\n5\n")
    assert sheet.numbers("a", at_least(0.0)) == [None, 5.0]
    assert faults_of(sheet) == ["sheet.csv, line 2, column 'a': -3 is below 0"]


def test_a_quote_that_is_never_closed_is_a_fault_of_the_line_that_opens_it():
    sheet = sheet_of('name,a\nx,1\n"y,2\nz,3\n')
    assert faults_of(sheet) == ["sheet.csv, line 3: not readable as CSV (a quote is never closed)"]
    assert faults_of(sheet_of('name,a\n"x",1\n"y"')) == []


def test_columns_are_found_with_blanks_or_underscores_as_they_stand():
    sheet = sheet_of("Total Docks,total_docks\n1,2\n")
    assert sheet.find("total docks") == "total docks"
    assert sheet.find("total_docks") == "total_docks"
    assert sheet_of("Total Docks\n1\n").find("total_docks") == "total docks"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["name", "station", "Place"])
def test_a_file_that_starts_a_study_is_also_taken_as_the_data_of_a_problem(tmp_path, encoding, mark, name):
    rows = [[name, "Lat", "lon", "docks", "remark", "demand"], ["Mühle", "52,5", "13,405", "7", "north gate", "3"]]
    rows.append(["=Hof", "52,25", "13,25", "9", "", "1"])
    path = tmp_path / "stations.csv"
    path.write_bytes("\n".join(mark.join(f'"{text}"' for text in row) for row in rows).encode(encoding))
    with pytest.warns(MfboWarning, match="is not UTF-8") if encoding in ("utf-16", "cp1252") else nullcontext():
        population, table = read_population(path, size=9, capacity="docks"), load_demand(path)
    assert table.names == population.actions == ("Mühle", "=Hof")
    assert table.demand.tolist() == [0.75, 0.25]
    assert table.coordinates.tolist() == population.features.tolist() == [[13.405, 52.5], [13.25, 52.25]]
    assert table.extras["docks"].tolist() == [7, 9]


def test_all_faults_of_a_table_come_together(tmp_path):
    path = tmp_path / "city.csv"
    path.write_text("name;latitude;demand\na;north;1\na;91;-1\n;40;x\n")
    with pytest.raises(FaultyFileError) as refusal:
        load_demand(path)
    assert len(refusal.value.lines) == 6


def test_docks_that_a_sheet_does_not_say_are_none(tmp_path):
    path = tmp_path / "stations.csv"
    path.write_text("name,docks\na,\nb,4\n")
    stations = read_stations(path, capacity="docks")
    assert stations.capacity == (None, 4.0)
    assert stations.features == {}
    assert read_population(path, size=9, capacity="docks").limits.most.tolist() == [9, 4]


def test_names_are_found_as_spreadsheets_write_them_again():
    names = ["Café Noir", "Main  St", "Main St", "Old  Town"]
    written = ["Cafe\u0301 noir", "Main St", "Main  St", "main\u00a0st", "Old\u00a0Town", "OLD town"]
    sheet = sheet_of("name\n" + "\n".join(written))
    assert sheet.positions("name", names, "station") == [0, 2, 1, None, 3, 3]
    assert faults_of(sheet) == [
        "sheet.csv, line 5, column 'name': station 'main\\xa0st' may be 'Main  St' or 'Main St'"
    ]
