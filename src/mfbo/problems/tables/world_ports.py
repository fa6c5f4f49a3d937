"""Ports with ocean region and capacity, from the World Port Index (NGA Pub. 150), any release with these columns."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mfbo.errors import InvalidInputError
from mfbo.problems.tables.columns import needed_columns
from mfbo.problems.tables.counting import Tally
from mfbo.problems.tables.points import on_the_map
from mfbo.problems.tables.port_table import PortTable
from mfbo.problems.tables.provenance import Origin, call, described_files, file_names
from mfbo.problems.tables.rawfiles import PathsLike, Progress, sources

WORLD_PORT_INDEX = Origin(
    "World Port Index (Pub. 150), US National Geospatial-Intelligence Agency, https://msi.nga.mil/Publications/WPI",
    "work of the US government, public domain in the United States",
)

REGIONS = ("North Atlantic", "South Atlantic", "North Pacific", "South Pacific", "Indian")
_REGION_OF = {
    "north atlantic ocean": "North Atlantic",
    "great lakes": "North Atlantic",
    "arctic ocean": "North Atlantic",
    "south atlantic ocean": "South Atlantic",
    "north pacific ocean": "North Pacific",
    "south pacific ocean": "South Pacific",
    "indian ocean": "Indian",
}
COLUMNS: dict[str, tuple[str, ...]] = {
    "the port name": ("main_port_name",),
    "the country": ("country_code",),
    "the water body": ("world_water_body",),
    "the harbor size": ("harbor_size",),
    "the longitude": ("longitude",),
    "the latitude": ("latitude",),
}
# Pub. 150 ranks harbors by area, facilities and wharf space but gives no tonnage; a large one counts as two medium
# ones. The one figure it has to hold against this: heavy lifts (100+ tons) at 52 % of large and 31 % of medium ones.
CAPACITY = {"Large": 2.0, "Medium": 1.0}

_SHORT, _SIZE, _NAME = "incomplete row", "harbor of another size", "without a name"
_PLACE, _OCEAN, _TWICE = "coordinates off the map", "in no ocean we know", "listed twice"
_REASONS = (_SHORT, _SIZE, _NAME, _PLACE, _OCEAN, _TWICE)


@dataclass(frozen=True, order=True)
class _Port:
    region: int
    name: str
    country: str
    longitude: float
    latitude: float
    size: str


def build_ports(
    paths: PathsLike,
    *,
    capacity: Mapping[str, float] = CAPACITY,
    command: str | None = None,
    progress: Progress | None = None,
) -> PortTable:
    """Build the table of ports whose harbor size is in ``capacity`` (default: Large 2, Medium 1).

    The region is the ocean that ends the port's ``World Water Body`` ("Kara Sea; Arctic Ocean"): one of ``REGIONS``,
    the Great Lakes and the Arctic counting as North Atlantic. Ports are ordered by region, then by name; a name
    that occurs twice gets its country, and if need be its coordinates, in brackets.
    """
    tally = Tally(_REASONS)
    ports: set[_Port] = set()
    for source in sources(paths, progress):
        for rows, short in source.chunks(needed_columns(source, COLUMNS, "a World Port Index file")):
            tally.rows += len(rows) + short
            tally.skipped[_SHORT] += short
            for row in rows:
                port = _reason_or_port(row, capacity)
                if isinstance(port, _Port) and port not in ports:
                    ports.add(port)
                else:
                    tally.skipped[_TWICE if isinstance(port, _Port) else port] += 1
    if not ports:
        raise InvalidInputError(
            f"no port left of {tally.rows:,} rows in {file_names(paths)}; wanted harbor sizes: {', '.join(capacity)}"
        )
    table = _table(sorted(ports), capacity)
    details = {
        "source": WORLD_PORT_INDEX.source,
        "license": WORLD_PORT_INDEX.license,
        "files": described_files(paths),
        "period": {"release": "that of the file"},
        "filter": {"harbor_sizes": list(capacity), "capacity": dict(capacity), "region": "last World Water Body"},
        "counts": tally.as_details() | composition(table),
        "command": command or call("build_ports", paths, capacity=dict(capacity)),
    }
    return replace(table, details=details)


def composition(table: PortTable) -> dict[str, dict[str, int]]:
    """Return how many ports a table has of each size and in each region."""
    return {"by_size": dict(Counter(table.sizes)), "by_region": dict(Counter(table.regions))}


def _reason_or_port(row: tuple[Any, ...], capacity: Mapping[str, float]) -> "str | _Port":
    name, country, water, size, longitude, latitude = ("" if field is None else str(field).strip() for field in row)
    if size not in capacity:
        return _SIZE
    if not name:
        return _NAME
    point = on_the_map(longitude, latitude)
    if point is None:
        return _PLACE
    region = _REGION_OF.get(water.split(";")[-1].strip().lower())
    if region is None:
        return _OCEAN
    return _Port(REGIONS.index(region), name, country, round(point[0], 4), round(point[1], 4), size)


def _table(ports: list[_Port], capacity: Mapping[str, float]) -> PortTable:
    plain = Counter(port.name for port in ports)
    with_country = Counter((port.name, port.country) for port in ports)
    names = []
    for port in ports:
        marks = [] if plain[port.name] == 1 else [port.country]
        if with_country[port.name, port.country] > 1:
            marks.append(f"{port.latitude:g} {port.longitude:g}")
        names.append(f"{port.name} ({', '.join(marks)})" if marks else port.name)
    return PortTable(
        names=tuple(names),
        coordinates=np.array([[port.longitude, port.latitude] for port in ports]),
        regions=tuple(REGIONS[port.region] for port in ports),
        sizes=tuple(port.size for port in ports),
        capacity=np.array([capacity[port.size] for port in ports]),
    )
