"""Times the reading of 2,000,000 trips: taxis on a grid against Python's csv module, and bikes into a record.

python benchmarks/read_trips.py [--bikes-only]
"""

import argparse
import csv
import tempfile
import time
from pathlib import Path

from mfbo.problems.tables import build_bikes, build_taxi, read_trips

HEADER = (
    "VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,passenger_count,trip_distance,pickup_longitude,"
    "pickup_latitude,RateCodeID,store_and_fwd_flag,dropoff_longitude,dropoff_latitude,payment_type,fare_amount,extra,"
    "mta_tax,tip_amount,tolls_amount,improvement_surcharge,total_amount\n"
)
BIKES = (
    "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,end_station_id,"
    "start_lat,start_lng,end_lat,end_lng,member_casual\n"
)
ROWS = 2_000_000


def write_trips(path: Path) -> None:
    """Write a file as the city published them in 2015."""
    rows = [
        f"2,2015-01-{day:02} {hour:02}:{hour}:39,2015-01-15 19:23:42,1,1.59,{-74 + day / 1000:.15f},"
        f"{40.72 + hour / 1000:.15f},1,N,-73.974784851074219,40.750617980957031,1,12,1,0.5,3.25,0,0.3,17.05\n"
        for day in range(1, 26)
        for hour in range(10, 20)
    ]
    with path.open("w") as file:
        file.write(HEADER)
        for _ in range(ROWS // len(rows)):
            file.writelines(rows)


def write_bike_trips(path: Path, rows: int = ROWS) -> None:
    """Write a file as bike-share systems have published them since 2020; every ride has its own id."""
    with path.open("w") as file:
        file.write(BIKES)
        for k in range(rows):
            day, hour, minute, second = 1 + k * 28 // rows, k // 7 % 24, k // 3 % 60, k % 60
            here, there = k % 97, (k * 31 + 7) % 97
            moment = f"2022-02-{day:02} {hour:02}:{minute:02}"
            file.write(
                f"{k:016X},classic_bike,{moment}:{second:02},{moment}:59,Station {here},JC{here:03},Station {there},"
                f"JC{there:03},{40.7 + here / 1000:.6f},-74.05,{40.7 + there / 1000:.6f},-74.05,member\n"
            )


def time_taxis(folder: Path) -> None:
    """Print our time, that of the csv module, and their ratio."""
    path = folder / "yellow.csv"
    write_trips(path)
    start = time.perf_counter()
    build_taxi(path)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    with path.open(newline="") as file:
        count = sum(1 for _ in csv.DictReader(file))
    peer = time.perf_counter() - start
    print(
        f"{count:,} rows: table built in {ours:.1f} s, rows only read by csv.DictReader in {peer:.1f} s, "
        f"ratio {peer / ours:.1f}"
    )


def time_bikes(folder: Path) -> None:
    """Print how long bike trips take to be read into a record and into a demand table, and the memory at the peak."""
    path = folder / "bikes.csv"
    write_bike_trips(path)
    start, busy = time.perf_counter(), time.process_time()
    table = build_bikes(path, weekdays="mon-sun", weeks=None)
    print(f"{ROWS:,} bike trips, {len(table)} stations: table in {time.perf_counter() - start:.1f} s", end=" ")
    print(f"({time.process_time() - busy:.1f} s of the processor), peak memory {_peak_megabytes()} MB")
    start, busy = time.perf_counter(), time.process_time()
    trips = read_trips(path)
    print(f"{len(trips):,} bike trips: record in {time.perf_counter() - start:.1f} s", end=" ")
    print(f"({time.process_time() - busy:.1f} s of the processor), peak memory {_peak_megabytes()} MB")


def _peak_megabytes() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    """Print all times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bikes-only", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not options.bikes_only:
            time_taxis(Path(folder))
        time_bikes(Path(folder))


if __name__ == "__main__":
    main()
