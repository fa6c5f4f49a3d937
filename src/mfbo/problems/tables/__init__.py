"""Demand and port tables: read and written, built from official raw files, and the few that come with the package.

A table of your own city: ``read_demand(path)``. Raw trips: ``build_taxi`` (any box, grid, weekdays, hours, weeks) and
``build_bikes``. The World Port Index: ``build_ports`` and ``choose_ports``. A file of unknown kind: ``load_demand``.
The project's own tables: ``embedded(name)``; ``build_named(name, paths)`` makes them again from the raw files.
"""

from mfbo.problems.tables.bikes import build_bikes
from mfbo.problems.tables.counting import Method
from mfbo.problems.tables.days import hour_numbers, weekday_numbers
from mfbo.problems.tables.demand_table import DemandTable
from mfbo.problems.tables.embedded import EMBEDDED, embedded, embedded_demand, embedded_ports
from mfbo.problems.tables.grid import Box, parse_grid
from mfbo.problems.tables.port_table import PortTable, choose_ports
from mfbo.problems.tables.provenance import Origin
from mfbo.problems.tables.rawfiles import Progress
from mfbo.problems.tables.recipes import RECIPES, build_named
from mfbo.problems.tables.table_reader import read_demand, read_ports
from mfbo.problems.tables.table_writer import Table, sidecar_json, table_csv, write_table
from mfbo.problems.tables.taxi import MANHATTAN, TaxiFilter, build_taxi, build_taxi_grids, taxi_filter
from mfbo.problems.tables.trip_files import read_trips
from mfbo.problems.tables.trip_layouts import parse_columns
from mfbo.problems.tables.trip_table import Trips
from mfbo.problems.tables.user_files import FileKind, file_kind, load_demand
from mfbo.problems.tables.world_ports import REGIONS, build_ports

__all__ = [
    "EMBEDDED",
    "MANHATTAN",
    "RECIPES",
    "REGIONS",
    "Box",
    "DemandTable",
    "FileKind",
    "Method",
    "Origin",
    "PortTable",
    "Progress",
    "Table",
    "TaxiFilter",
    "Trips",
    "build_bikes",
    "build_named",
    "build_ports",
    "build_taxi",
    "build_taxi_grids",
    "choose_ports",
    "embedded",
    "embedded_demand",
    "embedded_ports",
    "file_kind",
    "hour_numbers",
    "load_demand",
    "parse_columns",
    "parse_grid",
    "read_demand",
    "read_ports",
    "read_trips",
    "sidecar_json",
    "table_csv",
    "taxi_filter",
    "weekday_numbers",
    "write_table",
]
