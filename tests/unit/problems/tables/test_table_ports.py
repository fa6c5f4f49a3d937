"""Port tables: any release of the World Port Index, the five regions, names, and the seeded choice."""

import numpy as np
import pytest

from mfbo.errors import InvalidInputError
from mfbo.problems.tables import REGIONS, PortTable, build_ports, choose_ports, table_csv

COLUMNS = (
    "World Port Index Number",
    "Main Port Name",
    "Country Code",
    "World Water Body",
    "Harbor Size",
    "Latitude",
    "Longitude",
)
PORTS = [
    ("1", "Murmansk", "Russia", "Barents Sea; Arctic Ocean", "Large", "68.983333", "33.05"),
    ("2", "Duluth", "United States", "Lake Superior; Great Lakes", "Medium", "46.75", "-92.1"),
    ("3", "Santos", "Brazil", "South Atlantic Ocean", "Large", "-23.95", "-46.3"),
    ("4", "Kobe", "Japan", "Inland Sea; North Pacific Ocean", "Medium", "34.68", "135.2"),
    ("5", "Sydney", "Australia", "Tasman Sea; South Pacific Ocean", "Large", "-33.866667", "151.2"),
    ("6", "Mumbai", "India", "Arabian Sea; Indian Ocean", "Large", "18.95", "72.85"),
]


def _lines(ports, columns=COLUMNS):
    return [",".join(columns), *(",".join(f'"{cell}"' for cell in port) for port in ports)]


def _skipped(table):
    return {reason: count for reason, count in table.details["counts"]["skipped"].items() if count}


def test_regions_sizes_and_capacity(write):
    table = build_ports(write("wpi.csv", _lines(PORTS)))
    assert dict(zip(table.names, table.regions, strict=True)) == {
        "Duluth": "North Atlantic",
        "Murmansk": "North Atlantic",
        "Santos": "South Atlantic",
        "Kobe": "North Pacific",
        "Sydney": "South Pacific",
        "Mumbai": "Indian",
    }
    assert table.region_names == REGIONS
    assert table.capacity.tolist() == [1, 2, 2, 1, 2, 2]
    assert table.coordinates[1].tolist() == [33.05, 68.9833]
    assert table.details["counts"]["by_size"] == {"Medium": 2, "Large": 4}


def test_any_release_gives_the_same_table(write):
    plain = build_ports(write("wpi.csv", _lines(PORTS)))
    with_oid = [(str(number), *port[::-1]) for number, port in enumerate(reversed(PORTS))]
    lines = _lines(with_oid, ("OID_", *COLUMNS[::-1]))
    lines[0] = "\ufeff" + lines[0]
    assert table_csv(build_ports(write("other.csv.gz", lines))) == table_csv(plain)


def test_what_is_left_out_is_counted(write):
    more = [
        ("7", "Small One", "X", "Indian Ocean", "Small", "1", "2"),
        ("8", "Blank", "X", "Indian Ocean", " ", "1", "2"),
        ("9", " ", "X", "Indian Ocean", "Large", "1", "2"),
        ("10", "Nowhere", "X", "Indian Ocean", "Large", " ", " "),
        ("11", "Inland", "X", "Caspian Sea", "Large", "1", "2"),
        ("12", "No Water", "X", " ", "Large", "1", "2"),
        PORTS[0],
    ]
    table = build_ports(write("wpi.csv", [*_lines([*PORTS, *more]), "13,cut"]))
    assert len(table) == len(PORTS)
    assert _skipped(table) == {
        "incomplete row": 1,
        "harbor of another size": 2,
        "without a name": 1,
        "coordinates off the map": 1,
        "in no ocean we know": 2,
        "listed twice": 1,
    }


def test_a_name_that_occurs_twice_gets_its_country_or_its_place(write):
    ports = [
        ("1", "Portland", "United States", "North Atlantic Ocean", "Large", "43.666667", "-70.25"),
        ("2", "Portland", "United States", "North Pacific Ocean", "Large", "45.516667", "-122.666667"),
        ("3", "Sydney", "Canada", "North Atlantic Ocean", "Medium", "46.15", "-60.2"),
        PORTS[4],
    ]
    assert build_ports(write("wpi.csv", _lines(ports))).names == (
        "Portland (United States, 43.6667 -70.25)",
        "Sydney (Canada)",
        "Portland (United States, 45.5167 -122.667)",
        "Sydney (Australia)",
    )


def test_other_sizes_can_be_asked_for(write):
    path = write("wpi.csv", _lines([*PORTS, ("7", "Tiny", "X", "Indian Ocean", "Small", "1", "2")]))
    table = build_ports(path, capacity={"Small": 0.5})
    assert table.names == ("Tiny",)
    assert table.capacity.tolist() == [0.5]
    with pytest.raises(InvalidInputError, match=r"no port left of 7 rows in wpi.csv; wanted harbor sizes: Huge"):
        build_ports(path, capacity={"Huge": 1})


def test_a_file_that_is_no_port_index_is_refused(write):
    with pytest.raises(InvalidInputError, match="not a World Port Index file: no column for the water body"):
        build_ports(write("wpi.csv", _lines([port[:3] + port[4:] for port in PORTS], COLUMNS[:3] + COLUMNS[4:])))


def _ports(sizes):
    regions = [region for region, size in sizes.items() for _ in range(size)]
    names = tuple(f"port {number}" for number in range(len(regions)))
    coordinates = np.column_stack([np.arange(len(names)), np.zeros(len(names))])
    return PortTable(names, coordinates, tuple(regions), ("Large",) * len(names), np.arange(1.0, len(names) + 1))


def test_the_choice_has_some_in_each_region_and_depends_on_the_seed_alone():
    table = _ports({"N": 200, "S": 2, "E": 5, "W": 9})
    for seed in range(30):
        chosen = choose_ports(table, 12, np.random.default_rng(seed))
        assert len(chosen) == 12
        assert all(chosen.regions.count(region) >= 2 for region in "NSEW")
        again = choose_ports(table, 12, np.random.default_rng(seed))
        assert chosen.names == again.names
        rows = [table.names.index(name) for name in chosen.names]
        assert rows == sorted(rows)
        assert chosen.capacity.tolist() == table.capacity[rows].tolist()
        assert chosen.coordinates.tolist() == table.coordinates[rows].tolist()
    assert len({choose_ports(table, 12, np.random.default_rng(seed)).names for seed in range(30)}) > 25


def test_impossible_choices_are_refused():
    table = _ports({"N": 5, "S": 1})
    with pytest.raises(InvalidInputError, match="'S' has only 1 ports, not 2"):
        choose_ports(table, 4, np.random.default_rng(0))
    for count in (1, 7):
        with pytest.raises(InvalidInputError, match=r"count must be between 2 .1 in each of 2 regions. and 6"):
            choose_ports(table, count, np.random.default_rng(0), least=1)
