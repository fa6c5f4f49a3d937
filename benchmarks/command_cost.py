"""CPU time of the operator's commands, this tree against another one, in one run.

python benchmarks/command_cost.py ../other-checkout/src
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

OURS = Path(__file__).resolve().parents[1] / "src"
STATIONS = "name,x,y\nHarbor,0,0\nMarket,1,0\nCampus,0,1\n"
COMMANDS = {
    "list": ["list"],
    "ask, first plan": ["ask", "new"],
    "ask, open plan again": ["ask", "open"],
    "ask, by the model": ["ask", "told"],
}


def run(source: Path, folder: Path, *arguments: str) -> float:
    """Run `mfbo study …` from a tree and return the CPU seconds of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(  # noqa: S603
        [sys.executable, "-m", "mfbo", "study", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def prepared(source: Path) -> Path:
    """Return a folder with three studies: a new one, one with an open plan, one with five told rounds."""
    folder = Path(tempfile.mkdtemp())
    (folder / "stations.csv").write_text(STATIONS, encoding="utf-8")
    for name in ("new", "open", "told"):
        run(source, folder, "create", name, "--actions", "stations.csv", "--agents", "30")
    run(source, folder, "ask", "open")
    for number in range(5):
        run(source, folder, "ask", "told")
        run(source, folder, "tell", "told", "--plan", str(number), "--payoff", str(number * 0.7 % 1))
    return folder


def main() -> None:
    """Time every command on a fresh copy of the same studies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="The src folder of the tree to compare with.")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    seconds: dict[tuple[str, Path], list[float]] = {}
    for _ in range(options.repeats):
        for source in (options.other.resolve(), OURS):
            folder = prepared(source)
            for label, command in COMMANDS.items():
                seconds.setdefault((label, source), []).append(run(source, folder, *command))
    print(f"{'CPU seconds, median':24} {'other':>8} {'this':>8} {'ratio':>8}")
    for label in COMMANDS:
        other, ours = (statistics.median(seconds[label, source]) for source in (options.other.resolve(), OURS))
        print(f"{label:24} {other:8.2f} {ours:8.2f} {ours / other:8.2f}")


if __name__ == "__main__":
    main()
