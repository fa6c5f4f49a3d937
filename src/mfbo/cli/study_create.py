"""`mfbo study create`: from lists of stations and types of agents to an empty study."""

from pathlib import Path
from shlex import quote
from typing import Any

from mfbo.cli.options import parse_agents
from mfbo.cli.output import print_json
from mfbo.cli.sheets import Faults
from mfbo.cli.study_sheets import read_placement, read_population
from mfbo.study import create_study
from mfbo.validation import positive


def create(
    name: str,
    actions: Path,
    contexts: Path | None,
    agents: str,
    features: str | None,
    capacity: str | None,
    move_budget: int | None,
    placed: Path | None,
    strategy: str,
    noise: float | None,
    lease_hours: float,
    seed: int,
    storage: str,
    *,
    quiet: bool,
    json: bool,
) -> None:
    """Read all files first; nothing is made if one of them has a fault."""
    size = parse_agents(agents)
    population = read_population(
        actions,
        contexts,
        size if isinstance(size, int) else None,
        features=features,
        capacity=capacity,
        move_budget=move_budget,
    )
    current: Any = None
    if placed is not None:
        faults = Faults()
        current = read_placement(placed, population, faults)
        faults.report()
    study = create_study(
        population,
        strategy,
        seed=seed,
        noise=noise,
        storage=storage,
        name=name,
        lease_seconds=3600.0 * positive(lease_hours, "lease-hours"),
        placed=current,
    )
    stored = study.storage
    address = storage if stored is None else stored.address
    if json:
        shape = {"actions": population.shape[1], "contexts": population.shape[0], "agents": population.size or "inf"}
        print_json({"study": name, "storage": address, **shape, "strategy": study.strategy.name, "seed": seed})
    elif not quiet:
        places = f"{population.shape[1]} stations" + f" x {population.shape[0]} contexts" * (population.shape[0] > 1)
        print(f"study {name!r}: {population.size or 'shares of all'} agents, {places}, kept in {address}")
        print(f"next: mfbo study ask {quote(name)}")
