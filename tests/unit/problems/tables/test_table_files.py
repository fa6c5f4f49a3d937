"""Table files: exact round trips, equal bytes, and a refusal that names line and column for every fault."""

import string
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbo.errors import InvalidInputError
from mfbo.problems.tables import DemandTable, PortTable, read_demand, read_ports, sidecar_json, table_csv, write_table
from mfbo.problems.tables.table_reader import parse_demand

NUMBERS = st.floats(min_value=-1e6, max_value=1e6)
NAMES = st.text(string.ascii_letters + ' ,"éß-', min_size=1).map(str.strip).filter(bool)


def test_a_plain_file_of_a_user_becomes_a_table(write):
    path = write(
        "city.csv", ["Name, Lat ,lon,height,demand", "Main St,38.2,-85.7,10,3", "", '"Oak, 5th",38.3,-85.8,12,1']
    )
    table = read_demand(path)
    assert table.names == ("Main St", "Oak, 5th")
    assert table.feature_names == ("latitude", "longitude", "height")
    assert table.features.tolist() == [[38.2, -85.7, 10], [38.3, -85.8, 12]]
    assert table.demand.tolist() == [0.75, 0.25]
    assert table.coordinates.tolist() == [[-85.7, 38.2], [-85.8, 38.3]]
    assert dict(table.details) == {}
    assert len(table) == 2


def test_x_and_y_or_no_coordinates_at_all(write):
    assert read_demand(write("a.csv", ["name,x,y,demand", "a,1,2,1"])).coordinates.tolist() == [[1, 2]]
    bare = read_demand(write("b.csv", ["name,demand", "a,1", "b,1"]))
    assert bare.coordinates is None
    assert bare.features.shape == (2, 0)


def test_pickups_rows_and_docks_are_no_features(write):
    table = read_demand(write("a.csv", ["name,x,y,row,docks,pickups,demand", "a,1,2,0,15,7,1"]))
    assert table.feature_names == ("x", "y")
    assert {name: values.tolist() for name, values in table.extras.items()} == {
        "row": [0],
        "docks": [15],
        "pickups": [7],
    }


@given(st.dictionaries(NAMES, st.tuples(NUMBERS, NUMBERS, st.floats(1e-6, 1e6), st.integers(0, 10**9)), min_size=1))
def test_a_written_table_reads_back_equal_to_the_bit(places):
    x, y, demand, pickups = (np.array(column) for column in zip(*places.values(), strict=True))
    features = np.column_stack([x, y])
    table = DemandTable(tuple(places), ("x", "y"), features, demand, {"pickups": pickups}, {"b": 1, "a": [None, "é"]})
    again = parse_demand(table_csv(table), sidecar_json(table), "again")
    assert again.names == table.names
    assert np.array_equal(again.features, table.features)
    assert np.array_equal(again.demand, table.demand)
    assert again.extras["pickups"].tolist() == table.extras["pickups"].tolist()
    assert table_csv(again) == table_csv(table)
    assert sidecar_json(again) == sidecar_json(table)


def test_two_writings_give_the_same_bytes_and_ports_read_back(tmp_path):
    table = PortTable(("A", "B"), np.array([[1.5, -2], [-0.0, 4]]), ("N", "S"), ("Large", "Medium"), np.array([2, 1.0]))
    first = [path.read_bytes() for path in write_table(table, tmp_path / "one.csv")]
    again = read_ports(tmp_path / "one.csv")
    assert [path.read_bytes() for path in write_table(again, tmp_path / "two.csv")] == first
    assert first[0] == b"name,longitude,latitude,region,size,capacity\nA,1.5,-2,N,Large,2\nB,0,4,S,Medium,1\n"
    assert again.region_names == ("N", "S")


GOOD = ["name,latitude,longitude,pickups,demand", "a,40,-74,3,0.5", "b,41,-73,4,0.5"]


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (0, "name,latitude,longitude,pickups", "fields, but the header has 4|'demand' is missing"),
        (0, "where,latitude,longitude,pickups,demand", "'name' is missing; the file has where, latitude"),
        (0, "name,latitude,latitude,pickups,demand", "'latitude' .number 3"),
        (0, "name,lat,latitude,pickups,demand", "'latitude' .number 3"),
        (0, "name;latitude;longitude;pickups;demand", "line 2: 1 field, but the header has 5"),
        (1, "a,north,-74,3,0.5", "line 2, column 'latitude': 'north' is not a number"),
        (2, "b,91,-73,4,0.5", "line 3, column 'latitude': 91 is not between -90 and 90"),
        (2, "b,41,-200,4,0.5", "line 3, column 'longitude'"),
        (2, "b,41,-73,4.5,0.5", "line 3, column 'pickups': 4.5 is not a whole number"),
        (2, "b,41,-73,4,-0.5", "line 3, column 'demand': -0.5 is below 0"),
        (2, "b,41,-73,4,nan", "line 3, column 'demand': 'nan' is not finite"),
        (2, "b,41,-73,4,", "line 3, column 'demand': is empty"),
        (2, "b,41,-73,0.5", "line 3: 4 fields, but the header has 5"),
        (2, "a,41,-73,4,0.5", "line 3, column 'name': 'a' is already on line 2"),
        (2, ",41,-73,4,0.5", "line 3, column 'name': is empty"),
        (2, '"b,41,-73,4,0.5', "not readable as CSV"),
    ],
)
def test_every_fault_names_its_line_and_column(write, line, text, message):
    lines = [*GOOD]
    lines[line] = text
    path = write("city.csv", lines)
    with pytest.raises(InvalidInputError, match=message) as refusal:
        read_demand(path)
    assert "city.csv" in str(refusal.value)


def test_empty_tables_and_tables_without_demand_are_refused(write):
    for lines, message in [
        ([], "is empty"),
        (GOOD[:1], "no rows"),
        (["name,demand", "a,0", "b,0"], "all 2 are 0"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            read_demand(write("city.csv", lines))


def test_files_that_cannot_be_read_or_written_are_refused(tmp_path, write):
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_demand(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)))
    with pytest.raises(InvalidInputError, match="is not text in UTF-8"):
        read_demand(tmp_path / "bytes.csv")
    table = read_demand(write("city.csv", GOOD))
    with pytest.raises(InvalidInputError, match=r"\.csv file"):
        write_table(table, tmp_path / "city.txt")
    with pytest.raises(InvalidInputError, match="cannot be written"):
        write_table(table, tmp_path / "no" / "city.csv")


@pytest.mark.parametrize("sidecar", ["{", "[1]"])
def test_a_damaged_sidecar_is_refused(write, sidecar):
    path = write("city.csv", GOOD)
    write("city.json", [sidecar])
    with pytest.raises(InvalidInputError, match="sidecar"):
        read_demand(path)


def test_port_tables_are_checked_too(write):
    header = "name,longitude,latitude,region,size,capacity"
    for line, message in [("a,1,2,N,Large,0", "not above 0"), ("a,1,2,,Large,1", "'region': is empty")]:
        with pytest.raises(InvalidInputError, match=message):
            read_ports(write("ports.csv", [header, line]))
    with pytest.raises(InvalidInputError, match="'capacity' is missing"):
        read_ports(write("ports.csv", ["name,longitude,latitude,region,size", "a,1,2,N,Large"]))


def test_tables_are_checked_at_birth_and_cannot_be_changed():
    table = DemandTable(("a", "b"), (), np.zeros((2, 0)), [1, 3], details={"source": "me"})
    assert table.demand.tolist() == [0.25, 0.75]
    assert isinstance(table.details, MappingProxyType)
    with pytest.raises(ValueError, match="read-only"):
        table.demand[0] = 1
    faults = [
        ({"demand": [-1, 2]}, "'a' has -1"),
        ({"demand": [0, 0]}, "0 at all 2 places"),
        ({"demand": [1, np.inf]}, "finite"),
        ({"demand": [1e308, 1e308]}, "infinity"),
        ({"names": ("a", "a")}, "twice"),
        ({"feature_names": ("x",)}, "shape"),
        ({"extras": {"row": [0.5, 1]}}, "whole numbers"),
        ({"extras": {"demand": [1, 1]}}, "'demand' is there twice"),
        ({"details": {"when": object()}}, "JSON"),
    ]
    good = {"names": ("a", "b"), "feature_names": (), "features": np.zeros((2, 0)), "demand": [1, 3]}
    for change, message in faults:
        with pytest.raises(InvalidInputError, match=message):
            DemandTable(**{**good, **change})


def test_port_tables_are_checked_at_birth():
    good = {"names": ("a",), "coordinates": [[1, 2]], "regions": ("N",), "sizes": ("Large",), "capacity": [1]}
    for change in ({"regions": ()}, {"sizes": (" ",)}, {"capacity": [0]}, {"coordinates": [1, 2]}):
        with pytest.raises(InvalidInputError):
            PortTable(**{**good, **change})
