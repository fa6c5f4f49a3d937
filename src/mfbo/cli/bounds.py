"""`mfbo bounds`: the theorem's quantities and the regret table."""

import math

from mfbo.acquisition import Theorem, regret_orders
from mfbo.cli.commands import Bounds
from mfbo.cli.output import print_json, print_table
from mfbo.errors import InvalidInputError
from mfbo.validation import positive, whole_number


def bounds(options: Bounds) -> None:
    """Print G, τ, log |Ξ|, β, its root, 𝓑 and the four regret orders."""
    record = _record(options)
    orders = regret_orders(_theorem(options), options.agents, options.rounds)
    if options.json:
        table = [{"algorithm": o.algorithm, "log10_printed": o.printed, "log10_corrected": o.corrected} for o in orders]
        print_json({**record, "regret_orders": table})
        return
    print_table("The theorem", ["quantity", "value"], [[key, value] for key, value in record.items()])
    print_table(
        "Regret orders, as powers of ten (√β_T · √(T γ_T), constants left out)",
        ["algorithm", "as printed", "corrected exponents"],
        [[o.algorithm, f"10^{o.printed:.1f}", f"10^{o.corrected:.1f}"] for o in orders],
    )


def _theorem(options: Bounds) -> Theorem:
    """Check the numbers, and return the theorem for them."""
    actions = whole_number(options.actions, "actions", least=2)
    contexts = whole_number(options.contexts, "contexts", least=1)
    whole_number(options.agents, "agents", least=1)
    whole_number(options.rounds, "rounds", least=3)
    a, b = positive(options.a, "a"), options.b
    if a * actions * contexts < 1:
        raise InvalidInputError(f"a · |A| · |C| must be at least 1, not {a * actions * contexts:g}: choose a larger a")
    theorem = Theorem(actions, contexts, a, positive(b, "b"))
    if theorem.cells * theorem.lipschitz < 1:
        raise InvalidInputError(f"b = {b:g} is too small: the corrected bound needs |A| |C| G of at least 1")
    return theorem


def _record(options: Bounds) -> dict[str, float]:
    """Return the theorem's quantities."""
    theorem = _theorem(options)
    actions, contexts, rounds, a, b = options.actions, options.contexts, options.rounds, options.a, options.b
    record = {
        "actions": actions,
        "contexts": contexts,
        "agents": options.agents,
        "rounds": rounds,
        "a": a,
        "b": b,
        "G": theorem.lipschitz,
        "tau_T": theorem.tau(rounds),
        "log_Xi_T": theorem.log_grid(rounds),
        "beta_1": theorem.beta(1),
        "beta_T": theorem.beta(rounds),
        "multiplier_T": theorem.multiplier(rounds),
        "population_beta_T": theorem.population_beta(rounds),
        "corrected_G": Theorem(actions, contexts, a, b, root=True).lipschitz,
        "B": theorem.discretization,
        "corrected_B": theorem.corrected_discretization,
        "log_T": math.log(rounds),
    }
    if not all(math.isfinite(value) for value in record.values()):
        raise InvalidInputError(f"a = {a:g} and b = {b:g} lead to numbers too large to print: choose smaller ones")
    return record
