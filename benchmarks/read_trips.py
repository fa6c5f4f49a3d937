"""Times the reading of a taxi file of 2,000,000 rows against Python's csv module, which only counts its rows.

python benchmarks/read_trips.py
"""

import csv
import tempfile
import time
from pathlib import Path

from mfbo.problems.tables import build_taxi

HEADER = (
    "VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,passenger_count,trip_distance,pickup_longitude,"
    "pickup_latitude,RateCodeID,store_and_fwd_flag,dropoff_longitude,dropoff_latitude,payment_type,fare_amount,extra,"
    "mta_tax,tip_amount,tolls_amount,improvement_surcharge,total_amount\n"
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


def main() -> None:
    """Print both times and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "yellow.csv"
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


if __name__ == "__main__":
    main()
