"""Times a stored study of 2,000 rounds, opened and asked as `mfbo ask` does, against Optuna's with as many trials.

    python benchmarks/stored_rounds.py

Both are SQLite files with 35 shares a round, opened anew with the libraries loaded; then the next plan is asked for.
Optuna's sampler is its default (TPE), ours the default strategy. One BLAS thread for both; the least of three times.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import numpy as np
import optuna

from mfbo import Feedback, Plan, create_study, load_study
from mfbo.arrays import one_blas_thread
from mfbo.catalogue import make_problem
from mfbo.records import Lease, Round
from mfbo.storage import codec, open_storage

ROUNDS = 2000
REPEATS = 3
PROBLEM = make_problem("bay-area-bike")
STATIONS = len(PROBLEM.population.actions)
SHARES = np.random.default_rng(0).dirichlet(np.ones(STATIONS), size=(ROUNDS, 1))


def store_ours(address: str) -> None:
    """Write a study of made-up plans, as 2,000 days would leave it."""
    create_study(PROBLEM.population, storage=address, name="long")
    storage = open_storage(address)
    rng = np.random.default_rng(0)
    for number, shares in enumerate(SHARES):
        asked = Round(Plan(number, shares, rng.multinomial(300, shares[0])[None, :]))
        done = asked.done(Feedback(PROBLEM.value(asked.plan)), asked.plan.realized, number)
        storage.append("long", "asked", number, codec.to_text(codec.plan_record(asked.plan, {}, Lease())), 0.0)
        storage.append("long", "told", number, codec.to_text(codec.result_record(done)), 0.0)
    storage.close()


def store_peer(address: str) -> None:
    """Write the same shares and payoffs as Optuna's trials."""
    space: dict[str, optuna.distributions.BaseDistribution] = {
        f"share {station}": optuna.distributions.FloatDistribution(0.0, 1.0) for station in range(STATIONS)
    }
    optuna.create_study(storage=address, study_name="long", direction="maximize").add_trials(
        [
            optuna.trial.create_trial(
                params=dict(zip(space, shares[0].tolist(), strict=True)),
                distributions=space,
                value=PROBLEM.value(Plan(number, shares)),
            )
            for number, shares in enumerate(SHARES)
        ]
    )


def ask_ours(address: str) -> None:
    """Open the study and ask for the next plan."""
    study = load_study("long", address)
    study.ask(worker=uuid4().hex)  # the same worker would be given its open plan again


def ask_peer(address: str) -> None:
    """Open the study and ask for the next shares."""
    trial = optuna.load_study(study_name="long", storage=address).ask()
    for station in range(STATIONS):
        trial.suggest_float(f"share {station}", 0.0, 1.0)


def least_seconds(action: Callable[[str], None], address: str) -> float:
    """Return the least wall time of a few calls."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        action(address)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print both times and their ratio."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, one_blas_thread():
        ours, peer = (f"sqlite:///{Path(folder) / name}" for name in ("ours.db", "peer.db"))
        store_ours(ours)
        store_peer(peer)
        ours_seconds, peer_seconds = least_seconds(ask_ours, ours), least_seconds(ask_peer, peer)
    print(
        f"{ROUNDS:,} rounds of {STATIONS} shares, opened and asked: ours {ours_seconds:.2f} s, "
        f"Optuna {peer_seconds:.2f} s, ratio {peer_seconds / ours_seconds:.1f}"
    )


if __name__ == "__main__":
    main()
