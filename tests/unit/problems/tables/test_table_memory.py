"""Two million taxi rows: read in memory that does not grow with the file."""

import subprocess
import sys

import pytest

HEADER = (
    "VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,passenger_count,trip_distance,pickup_longitude,"
    "pickup_latitude,RateCodeID,store_and_fwd_flag,dropoff_longitude,dropoff_latitude,payment_type,fare_amount,extra,"
    "mta_tax,tip_amount,tolls_amount,improvement_surcharge,total_amount\n"
)
MEASURE = """
import resource, sys
from mfbo.problems.tables import build_taxi
table = build_taxi(sys.argv[1])
print(table.details["counts"]["rows"], len(table), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
def test_two_million_rows_in_500_mb(tmp_path):
    pytest.importorskip("resource", reason="peak memory is measured on Unix only")
    path = tmp_path / "yellow.csv"
    rows = [
        f"2,2015-01-{day:02} {hour:02}:{hour}:39,2015-01-15 19:23:42,1,1.59,{-74 + day / 1000:.15f},"
        f"{40.72 + hour / 1000:.15f},1,N,-73.974784851074219,40.750617980957031,1,12,1,0.5,3.25,0,0.3,17.05\n"
        for day in range(1, 26)
        for hour in range(10, 20)
    ]
    with path.open("w") as file:
        file.write(HEADER)
        for _ in range(2_000_000 // len(rows)):
            file.writelines(rows)
    run = subprocess.run([sys.executable, "-c", MEASURE, path], capture_output=True, text=True, check=True)
    count, cells, megabytes = (int(number) for number in run.stdout.split())
    assert count == 2_000_000
    assert cells == 10
    assert megabytes < 500
