"""`mfbo study create`: from lists of stations and types of agents to an empty study."""

from shlex import quote

from mfbo.cli.confirming import confirm_misfit
from mfbo.cli.options import parse_agents
from mfbo.cli.output import print_json, say
from mfbo.cli.study_aims import chosen_aim, earning_line, read_risk_option
from mfbo.cli.study_commands import Create
from mfbo.sheets import read_placed, read_population
from mfbo.study import Study, create_study
from mfbo.validation import positive


def create(options: Create) -> None:
    """Read all files first; nothing is made if one of them has a fault."""
    size = parse_agents(options.agents)
    population = read_population(
        options.actions,
        options.contexts,
        size if isinstance(size, int) else None,
        features=options.features,
        capacity=options.capacity,
        move_budget=options.move_budget,
        name_column=options.name_column,
    )
    placed = None if options.placed is None else read_placed(options.placed, population)
    start = None if options.start is None else read_placed(options.start, population)
    knows_start = (placed is not None or start is not None) and options.strategy.split("(")[0] == "default"
    wrong = "" if placed is None else population.misfit(population.read_placed(placed))
    study = create_study(
        population,
        options.strategy,
        seed=options.seed,
        noise=options.noise,
        storage=options.storage,
        name=options.name,
        lease_seconds=3600.0 * positive(options.lease_hours, "lease-hours"),
        placed=placed,
        allow_misfit=confirm_misfit(wrong, yes=options.yes),
        aim=chosen_aim(options.aim, knows_start=knows_start),
        start=start,
        risk=read_risk_option(options.risk),
    )
    _say(study, options)


def _say(study: Study, options: Create) -> None:
    contexts, actions = study.population.shape
    size = study.population.size
    address = options.storage if study.storage is None else study.storage.address
    if options.json:
        print_json(
            {
                "study": options.name,
                "storage": address,
                "actions": actions,
                "contexts": contexts,
                "agents": size or "inf",
                "strategy": study.strategy.name,
                "seed": options.seed,
                "aim": study.history.aim,
            }
        )
    elif not options.quiet:
        places = f"{actions} stations" + f" x {contexts} contexts" * (contexts > 1)
        say(f"study {options.name!r}: {size or 'shares of all'} agents, {places}, kept in {address}")
        if study.history.aim == "earn":
            placed, started = options.placed is not None, options.start is not None
            say(earning_line(study.history.risk, started=started, placed=placed))
        say(f"next: mfbo study ask {quote(options.name)}")
