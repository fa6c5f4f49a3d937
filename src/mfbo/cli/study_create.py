"""`mfbo study create`: from lists of stations and types of agents to an empty study."""

from shlex import quote
from typing import Any

from mfbo.catalogue import base_name, follows_a_rule
from mfbo.cli.confirming import confirm_misfit
from mfbo.cli.options import parse_agents
from mfbo.cli.output import counted, print_json, say
from mfbo.cli.study_aims import chosen_aim, earning_line, read_risk_option
from mfbo.cli.study_commands import Create
from mfbo.errors import InvalidInputError
from mfbo.own_parts import is_import_path
from mfbo.population import Population
from mfbo.sheets import read_placed, read_population
from mfbo.study import Study, create_study
from mfbo.study.settings import PAYOFF_UNITS
from mfbo.validation import known_name, positive
from mfbo.written_situations import declaration_of_text


def create(options: Create) -> None:
    """Read all files first; nothing is made if one of them has a fault."""
    if is_import_path(options.strategy):
        raise InvalidInputError(
            f"--strategy {options.strategy}: a stored study is not allowed to name what is imported; let your package "
            'register the strategy as an entry point of the group "mfbo.strategies", and give that name'
        )
    population, placed = _population(options)
    if options.placed is not None:
        placed = read_placed(options.placed, population)
    start = _start(options, population)
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
        payoff_is=known_name(options.payoff_is, "payoff-is", PAYOFF_UNITS),
        situations=declaration_of_text(options.situations),
    )
    _say(study, options)


def _start(options: Create, population: Population) -> Any:
    """Return the plan to begin with: the user's own, or that of a rule; None if nobody said any."""
    if options.start is not None and options.start_from is not None:
        raise InvalidInputError("--start and --start-from both say what to begin with: leave one of them out")
    if options.start_from is None:
        if options.rule is not None:
            raise InvalidInputError("--rule makes a plan of past trips: give them with --start-from")
        return None if options.start is None else read_placed(options.start, population)
    from mfbo.cli.study_feeds import forecast

    strategy = base_name(options.strategy)
    rule = options.rule or (strategy if follows_a_rule(strategy) else "deficit")
    if follows_a_rule(strategy) and rule != strategy:
        raise InvalidInputError(f"strategy {strategy!r} follows its own rule: leave out --rule {rule}")
    return forecast(options.start_from, population, rule, silent=options.quiet or options.json)


def _population(options: Create) -> tuple[Population, Any]:
    """Return who is placed, from the user's lists or from a feed, which says where they are too."""
    size = parse_agents(options.agents)
    number = size if isinstance(size, int) else None
    if options.gbfs is not None:
        return _of_feed(options, number)
    if options.actions is None or size is None:
        raise InvalidInputError("give the stations and their agents: --actions FILE --agents N, or --gbfs FEED")
    population = read_population(
        options.actions,
        options.contexts,
        number,
        features=options.features,
        capacity=options.capacity,
        move_budget=options.move_budget,
        name_column=options.name_column,
    )
    return population, None


def _of_feed(options: Create, size: int | None) -> tuple[Population, Any]:
    from mfbo.cli.study_feeds import feed_population

    for flag in ("actions", "contexts", "features", "capacity"):
        if getattr(options, flag) is not None:
            raise InvalidInputError(f"--{flag} and --gbfs both say what the stations are: leave one of them out")
    return feed_population(str(options.gbfs), size, options.move_budget)


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
        agents = "shares of all agents" if size is None else counted(size, "agent")
        places = counted(actions, "station") + f" x {contexts} contexts" * (contexts > 1)
        say(f"study {options.name!r}: {agents}, {places}, kept in {address}")
        if study.history.aim == "earn":
            placed, started = options.placed is not None, study.history.planned
            say(earning_line(study.history.risk, started=started, placed=placed))
        say(f"next: mfbo study ask {quote(options.name)}")
