"""The quantities of the regret theorem, corrected; logarithms where numbers overflow: eqs. (13) to (16)."""

import math
from dataclasses import dataclass

ZETA_SLOPE = 0.9375482543158437  # −ζ′(2) = Σ log t / t²


@dataclass(frozen=True)
class Theorem:
    """The theorem's constants for A actions, C contexts and the constants a, b of the smoothness assumption.

    root: use the corrected Lipschitz bound (T1) instead of the printed one.
    """

    actions: int
    contexts: int
    a: float = 1.0
    b: float = 1.0
    root: bool = False

    @property
    def cells(self) -> int:
        """Number of cells, d = A C."""
        return self.actions * self.contexts

    @property
    def lipschitz(self) -> float:
        """G, the bound on the expected Lipschitz constant, eq. (14)."""
        inner = math.log(self.a * self.cells)
        if self.root:
            return math.sqrt(self.b) * (math.sqrt(inner) + math.sqrt(math.pi) / 2)
        return self.b * (inner + math.sqrt(math.pi) / 2)

    def tau(self, t: int) -> float:
        """Points per coordinate of the discretization in round t, eq. (14)."""
        return self.cells * t * t * self.lipschitz

    def log_grid(self, t: int) -> float:
        """Log |Ξ_t|; the number itself overflows."""
        return self.cells * math.log(self.tau(t))

    def beta(self, t: int) -> float:
        """β_t of the paper's acquisition, eq. (13)."""
        return 2 * (math.log(self.cells) + self.log_grid(t) + 2 * math.log(t) - 0.5 * math.log(2 * math.pi))

    def population_beta(self, t: int) -> float:
        """β_t of the population UCB: no union over the cells."""
        return 2 * (self.log_grid(t) + 2 * math.log(t) - 0.5 * math.log(2 * math.pi))

    def multiplier(self, t: int) -> float:
        """√β_t, the multiplier of the posterior standard deviation (E4)."""
        return math.sqrt(self.beta(t))

    @property
    def discretization(self) -> float:
        """The printed 𝓑."""
        return math.sqrt(2 * self.actions**3 * self.contexts) * min(1 / self.lipschitz, self.cells)

    @property
    def corrected_discretization(self) -> float:
        """𝓑 corrected (T8), eq. (15); needs G ≥ 1/d."""
        tail = 2 * ZETA_SLOPE + math.pi**2 / 6 * math.sqrt(math.log(self.cells * self.lipschitz))
        return math.sqrt(2 * self.actions**3 * self.contexts) / self.lipschitz * tail

    def bound(self, rounds: int, gain: float, prior_variance: float, noise: float) -> float:
        """Return the bound on the expected regret after ``rounds`` for an information gain, eq. (15).

        prior_variance: k0; noise: standard deviation R of one payoff.
        """
        constant = 2 * prior_variance / math.log1p(prior_variance / noise**2)
        statistical = self.multiplier(rounds) * math.sqrt(rounds * constant * gain)
        scaled = math.sqrt(prior_variance) * (math.pi**2 / 6 + self.corrected_discretization)
        return math.pi**2 / 6 + scaled + statistical


@dataclass(frozen=True)
class RegretOrder:
    """One row of the regret table: log10 of the order of the regret, as printed and with the corrected exponents."""

    algorithm: str
    printed: float
    corrected: float


def regret_orders(
    theorem: Theorem, agents: int, rounds: int, action_features: int = 1, context_features: int = 1
) -> tuple[RegretOrder, ...]:
    """Return the four rows of the regret table as log10 of √β_T · √(T γ_T), eq. (16)."""
    iota = math.log(math.log(rounds))
    d_a, d_c = action_features, context_features
    actions, contexts = theorem.actions, theorem.contexts
    outer = math.log(theorem.multiplier(rounds))

    def order(log_gain: float) -> float:
        return (outer + 0.5 * (math.log(rounds) + log_gain)) / math.log(10)

    def additive(extra: int) -> float:
        return _log_sum(math.log(contexts) + actions * iota, (d_c + extra) * iota, (d_a + extra) * iota)

    return (
        RegretOrder("GP-UCB", order((agents * d_a + d_c) * iota), order((agents * d_a + d_c + 1) * iota)),
        RegretOrder(
            "Add-GP-UCB",
            order(math.log(agents) + (d_a + d_c) * iota),
            order(math.log(agents) + (d_a + d_c + 1) * iota),
        ),
        RegretOrder(
            "MF-GP-UCB",
            order((d_a + d_c + theorem.cells) * iota),
            order((d_a + d_c + contexts * (actions - 1) + 1) * iota),
        ),
        RegretOrder("MF-GP-UCB (additive)", order(additive(0)), order(additive(1))),
    )


def _log_sum(*logs: float) -> float:
    top = max(logs)
    return top + math.log(sum(math.exp(log - top) for log in logs))
