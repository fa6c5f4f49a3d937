"""The port table: ports with coordinates, ocean region, harbor size and capacity, and a seeded choice of a few."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, read_only
from mfbo.errors import InvalidInputError
from mfbo.problems.tables.demand_table import checked_details
from mfbo.validation import number_array, unique_names, whole_number


@dataclass(frozen=True, eq=False)
class _CheckedPorts:
    """The fields of a port table once they have been checked."""

    names: tuple[str, ...]
    coordinates: FloatArray
    regions: tuple[str, ...]
    sizes: tuple[str, ...]
    capacity: FloatArray
    details: Mapping[str, Any]


class PortTable(_CheckedPorts):
    """Ports of the world: A ports in C regions.

    names: (A,) unique; coordinates: (A, 2), longitude and latitude in degrees; regions: (A,), the region of each
    port; sizes: (A,), the harbor size of each; capacity: (A,), above 0, in any unit (problems scale it to sum to 1).
    """

    def __init__(
        self,
        names: Sequence[str],
        coordinates: Any,
        regions: Sequence[str],
        sizes: Sequence[str],
        capacity: Any,
        details: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Check it all."""
        ports = unique_names(names, "names")
        places = number_array(coordinates, "coordinates", (len(ports), 2))
        room = number_array(capacity, "capacity", (len(ports),))
        if (room <= 0).any():
            port = int(np.argmin(room))
            raise InvalidInputError(
                f"capacity must be above 0, but {ports[port]!r} has {room[port]:.6g}; leave the port out"
            )
        super().__init__(
            names=ports,
            coordinates=read_only(places),
            regions=_texts(regions, "regions", ports),
            sizes=_texts(sizes, "sizes", ports),
            capacity=read_only(room),
            details=checked_details(details),
        )

    def __len__(self) -> int:
        """Return A, the number of ports."""
        return len(self.names)

    @property
    def region_names(self) -> tuple[str, ...]:
        """The C regions, in order of first appearance."""
        return tuple(dict.fromkeys(self.regions))


def _texts(values: Sequence[str], what: str, names: tuple[str, ...]) -> tuple[str, ...]:
    texts = tuple(str(value).strip() for value in values)
    if len(texts) != len(names):
        raise InvalidInputError(f"{what} must name one for each of the {len(names)} ports, not {len(texts)}")
    if "" in texts:
        raise InvalidInputError(f"{what}: the port {names[texts.index('')]!r} has none")
    return texts


def choose_ports(table: PortTable, count: int, rng: np.random.Generator, *, least: int = 2) -> PortTable:
    """Choose ``count`` ports at random, at least ``least`` in each region; they keep the order of the table.

    Every port draws one uniform number; the ``least`` lowest of each region are in, then the lowest of the others.
    """
    whole_number(least, "least", 0)
    regions = table.region_names
    if not least * len(regions) <= whole_number(count, "count", 1) <= len(table):
        raise InvalidInputError(
            f"count must be between {least * len(regions)} ({least} in each of {len(regions)} regions) and "
            f"{len(table)} (all ports), not {count}"
        )
    draws = rng.random(len(table))
    order = np.argsort(draws, kind="stable").tolist()
    chosen: set[int] = set()
    for region in regions:
        members = [port for port in order if table.regions[port] == region]
        if len(members) < least:
            raise InvalidInputError(f"the region {region!r} has only {len(members)} ports, not {least}")
        chosen.update(members[:least])
    chosen.update([port for port in order if port not in chosen][: count - len(chosen)])
    ports = sorted(chosen)
    return PortTable(
        names=tuple(table.names[port] for port in ports),
        coordinates=table.coordinates[ports],
        regions=tuple(table.regions[port] for port in ports),
        sizes=tuple(table.sizes[port] for port in ports),
        capacity=table.capacity[ports],
        details=table.details,
    )
