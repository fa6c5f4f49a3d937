"""Which column of a trip file holds what: the published layouts, recognized by the names of their columns.

Names are compared without case, spaces, underscores and other signs, so "Start Station ID", "start_station_id" and
"start station id" are one. Of several names for one purpose the first that a file has is taken.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mfbo.errors import InvalidInputError
from mfbo.problems.tables.columns import Source
from mfbo.validation import known_name

# fmt: off
NAMES: dict[str, tuple[str, ...]] = {
    "start": (
        "starttime",  # Citi Bike to 2021-01, Divvy, Bay Wheels
        "startedat",  # all of Lyft's since 2020
        "startdate",  # Capital Bikeshare, Bay Area, LouVelo
        "01rentaldetailslocalstarttime",  # Divvy, second quarter of 2019
        "tpeppickupdatetime",  # yellow taxis
        "lpeppickupdatetime",  # green taxis
        "pickupdatetime",
    ),
    "station": (
        "startterminal", "startstationid", "startstationnumber", "fromstationid", "03rentalstartstationid",
        "pulocationid", "startstation",
    ),
    "name": ("startstationname", "fromstationname", "03rentalstartstationname", "startstation"),
    "longitude": ("startlongitude", "startlng", "startlon", "startstationlongitude"),
    "latitude": ("startlatitude", "startlat", "startstationlatitude"),
    "end": (
        "stoptime", "endtime", "endedat", "enddate", "01rentaldetailslocalendtime", "tpepdropoffdatetime",
        "lpepdropoffdatetime", "dropoffdatetime",
    ),
    "to": (
        "endterminal", "endstationid", "endstationnumber", "tostationid", "02rentalendstationid", "dolocationid",
        "endstation",
    ),
    "to_name": ("endstationname", "tostationname", "02rentalendstationname", "endstation"),
    "to_longitude": ("endlongitude", "endlng", "endlon", "endstationlongitude"),
    "to_latitude": ("endlatitude", "endlat", "endstationlatitude"),
    "trip": ("rideid", "tripid", "01rentaldetailsrentalid", "objectid"),
    "bike": ("bikeid", "bikenumber", "bike", "bikebarcode", "01rentaldetailsbikeid"),
}
# fmt: on
_ZONES = "pulocationid"
_TAXI_POINTS = ("pickuplongitude", "pickuplatitude")


@dataclass(frozen=True)
class Layout:
    """The columns of one source by purpose; zones: whether its stations are New York's taxi zones."""

    columns: Mapping[str, str]
    zones: bool = False

    @property
    def marked(self) -> bool:
        """Whether a trip can be told from another by the number of the ride or the bike."""
        return "trip" in self.columns or "bike" in self.columns


def folded(name: str) -> str:
    """Return a column's name without case and signs."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def layout_of(source: Source, columns: Mapping[str, str] | None = None) -> Layout:
    """Return the layout of a source; ``columns`` (purpose → name) goes before what is recognized."""
    present = {folded(name): name for name in reversed(source.columns)}
    found = {purpose: present[name] for purpose, names in NAMES.items() if (name := _first(names, present))}
    for purpose, name in (columns or {}).items():
        known_name(purpose, "purpose of a column", list(NAMES))
        if folded(name) not in present:
            raise InvalidInputError(f"{source.label} has no column {name!r} for {purpose}; {_shown(source)}")
        found[purpose] = present[folded(name)]
    if "station" not in found and "name" in found:
        found["station"] = found["name"]
    _check(source, found, present)
    if "to" not in found and "to_name" in found:
        found["to"] = found["to_name"]
    for purpose in ("name", "to_name"):  # one column for both is the number of the station, not its name
        if purpose in found and found[purpose] == found.get("station" if purpose == "name" else "to"):
            del found[purpose]
    return Layout(found, zones=folded(found["station"]) == _ZONES)


def _check(source: Source, found: Mapping[str, str], present: Mapping[str, str]) -> None:
    missing = [what for what in ("start", "station") if what not in found]
    if not missing:
        return
    if all(name in present for name in _TAXI_POINTS):
        raise InvalidInputError(
            f"{source.label} is not a bike trip file: it holds taxi trips with coordinates, which are counted on a "
            "grid: mfbo data build nyc …"
        )
    said = " and ".join({"start": "the start time", "station": "the start station"}[what] for what in missing)
    raise InvalidInputError(
        f"{source.label} is not a bike trip file: no column for {said}; {_shown(source)}; name them with "
        "columns, such as start=…,station=…,end=…,to=…"
    )


def parse_columns(text: str) -> dict[str, str]:
    """Read 'start=Begin,station=Dock,end=Finish,to=Target' into purpose → column name."""
    chosen: dict[str, str] = {}
    for part in text.split(","):
        purpose, equals, name = (piece.strip() for piece in part.partition("="))
        if not (purpose and equals and name):
            raise InvalidInputError(f"{part!r} is not a column; write start=…,station=…,end=…,to=…")
        known_name(purpose, "purpose of a column", list(NAMES))
        if purpose in chosen:
            raise InvalidInputError(f"the column for {purpose} is given twice: {chosen[purpose]!r} and {name!r}")
        chosen[purpose] = name
    return chosen


def _first(names: tuple[str, ...], present: Mapping[str, str]) -> str | None:
    return next((name for name in names if name in present), None)


def _shown(source: Source) -> str:
    names = (" ".join(name[:40].split()) for name in source.columns[:12])
    return f"it starts with the columns {', '.join(names)}"
