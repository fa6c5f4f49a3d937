"""The tables that come with the package: loaded by name, offline."""

from importlib import resources

from mfbo.errors import InvalidInputError
from mfbo.problems.tables.demand_table import DemandTable
from mfbo.problems.tables.port_table import PortTable
from mfbo.problems.tables.table_reader import parse_demand, parse_ports
from mfbo.problems.tables.table_writer import Table
from mfbo.validation import known_name

DEMAND_TABLES = ("nyc-12x20", "nyc-15x26", "nyc-20x36", "bay-area-bike", "bay-area-week")
PORT_TABLES = ("ports", "ports-30")
EMBEDDED = DEMAND_TABLES + PORT_TABLES


def embedded(name: str) -> Table:
    """Return the embedded table ``name``: a ``DemandTable``, or a ``PortTable`` for ports and ports-30."""
    known_name(name, "embedded table", EMBEDDED)
    folder = resources.files("mfbo.problems").joinpath("data")
    text = folder.joinpath(f"{name}.csv").read_text(encoding="utf-8")
    sidecar = folder.joinpath(f"{name}.json").read_text(encoding="utf-8")
    parse = parse_ports if name in PORT_TABLES else parse_demand
    return parse(text, sidecar, f"embedded table {name}")


def embedded_demand(name: str) -> DemandTable:
    """Return an embedded table that holds demand."""
    table = embedded(name)
    if not isinstance(table, DemandTable):
        raise InvalidInputError(f"{name!r} is a table of ports; tables of demand are {', '.join(DEMAND_TABLES)}")
    return table


def embedded_ports(name: str) -> PortTable:
    """Return an embedded table of ports."""
    table = embedded(name)
    if not isinstance(table, PortTable):
        raise InvalidInputError(f"{name!r} is a table of demand; tables of ports are {', '.join(PORT_TABLES)}")
    return table
