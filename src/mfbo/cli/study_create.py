"""`mfbo study create`: from lists of stations and types of agents to an empty study."""

from pathlib import Path
from shlex import quote
from typing import Any

from mfbo.cli.confirming import confirm_misfit
from mfbo.cli.options import parse_agents
from mfbo.cli.output import print_json, say
from mfbo.cli.sheets import Faults
from mfbo.cli.study_aims import chosen_aim, earning_line, read_own_plan, read_risk_option
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
    name_column: str | None,
    aim: str | None,
    start: Path | None,
    risk: str | None,
    yes: bool,
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
        name_column=name_column,
    )
    current: Any = None
    if placed is not None:
        faults = Faults()
        current = read_placement(placed, population, faults)
        faults.report()
    began = None if start is None else read_own_plan(start, population)
    known_start = current is not None or began is not None
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
        aim=chosen_aim(aim, knows_start=known_start and strategy.split("(")[0] == "default"),
        start=began,
        risk=read_risk_option(risk),
    )
    stored = study.storage
    address = storage if stored is None else stored.address
    if json:
        shape = {"actions": population.shape[1], "contexts": population.shape[0], "agents": population.size or "inf"}
        print_json(
            {
                "study": name,
                "storage": address,
                **shape,
                "strategy": study.strategy.name,
                "seed": seed,
                "aim": study.history.aim,
            }
        )
    elif not quiet:
        places = f"{population.shape[1]} stations" + f" x {population.shape[0]} contexts" * (population.shape[0] > 1)
        say(f"study {name!r}: {population.size or 'shares of all'} agents, {places}, kept in {address}")
        if study.history.aim == "earn":
            say(earning_line(study.history.risk, started=start is not None, placed=current is not None))
        say(f"next: mfbo study ask {quote(name)}")
