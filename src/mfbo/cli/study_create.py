"""`mfbo study create`: from lists of stations and types of agents to an empty study."""

from pathlib import Path
from shlex import quote
from typing import Any

from mfbo.cli.confirming import confirm_misfit
from mfbo.cli.options import parse_agents
from mfbo.cli.output import print_json, say
from mfbo.cli.sheets import Faults
from mfbo.cli.study_feeds import feed_population
from mfbo.cli.study_sheets import read_placement, read_population
from mfbo.errors import InvalidInputError
from mfbo.population import Population
from mfbo.study import create_study
from mfbo.validation import positive


def create(
    name: str,
    actions: Path | None,
    contexts: Path | None,
    agents: str | None,
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
    name_column: str | None,
    gbfs: str | None,
    yes: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Read all files first; nothing is made if one of them has a fault."""
    current: Any = None
    if gbfs is None:
        population = _listed(actions, contexts, agents, features, capacity, move_budget, name_column)
    else:
        _refuse_sheets({"--actions": actions, "--contexts": contexts, "--features": features, "--capacity": capacity})
        size = parse_agents(agents)
        population, current = feed_population(gbfs, size if isinstance(size, int) else None, move_budget)
    if placed is not None:
        faults = Faults()
        current = read_placement(placed, population, faults)
        faults.report()
    wrong = "" if current is None else population.misfit(population.read_placed(current))
    study = create_study(
        population,
        strategy,
        seed=seed,
        noise=noise,
        storage=storage,
        name=name,
        lease_seconds=3600.0 * positive(lease_hours, "lease-hours"),
        placed=current,
        allow_misfit=confirm_misfit(wrong, yes=yes),
    )
    stored = study.storage
    address = storage if stored is None else stored.address
    if json:
        shape = {"actions": population.shape[1], "contexts": population.shape[0], "agents": population.size or "inf"}
        print_json({"study": name, "storage": address, **shape, "strategy": study.strategy.name, "seed": seed})
    elif not quiet:
        places = f"{population.shape[1]} stations" + f" x {population.shape[0]} contexts" * (population.shape[0] > 1)
        say(f"study {name!r}: {population.size or 'shares of all'} agents, {places}, kept in {address}")
        say(f"next: mfbo study ask {quote(name)}")


def _listed(
    actions: Path | None,
    contexts: Path | None,
    agents: str | None,
    features: str | None,
    capacity: str | None,
    move_budget: int | None,
    name_column: str | None,
) -> Population:
    """Return the population of the user's lists."""
    if actions is None or agents is None:
        raise InvalidInputError("give the stations and their agents: --actions FILE --agents N, or --gbfs FEED")
    size = parse_agents(agents)
    return read_population(
        actions,
        contexts,
        size if isinstance(size, int) else None,
        features=features,
        capacity=capacity,
        move_budget=move_budget,
        name_column=name_column,
    )


def _refuse_sheets(given: dict[str, Any]) -> None:
    wrong = [flag for flag, value in given.items() if value is not None]
    if wrong:
        raise InvalidInputError(f"{wrong[0]} and --gbfs both say what the stations are: leave one of them out")
