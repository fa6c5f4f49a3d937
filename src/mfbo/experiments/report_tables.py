"""The numbers of a report: one function per table, from the results of a folder."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray
from mfbo.experiments.ceilings import REPEATS
from mfbo.experiments.information import regret_bounds
from mfbo.experiments.origins import Origin
from mfbo.experiments.paper_minutes import PAPER_MINUTES, PAPER_ROUNDS
from mfbo.experiments.results import Case, Group, Results
from mfbo.experiments.statistics import interval, paired, rounds_to, spread
from mfbo.experiments.sweeps import AXES, Sweep, sweeps
from mfbo.experiments.tables import Table, ranges, shown

REFERENCES = ("mf-gp-ucb", "default")
LEVELS = (0.9, 0.99)
LAST = 50  # rounds at the end, in which a method should play what it has learned
NEGLIGIBLE = 0.001  # of the gap: smaller differences between regret curves are none


def tables(results: Results) -> list[Table]:
    """Return all tables that the results can fill."""
    made = [
        finals(results.cases),
        summed_regret(results.cases),
        ceilings(results.cases),
        paired_tests(results.cases),
        rounds_needed(results.cases),
        run_times(results.cases),
        regret_bound(results.cases),
        *scaling(results.cases),
        *agents_claims(results.cases),
        failures(results),
        provenances(results),
    ]
    return [table for table in made if table.rows]


def finals(cases: Sequence[Case]) -> Table:
    """Return the best value after the last round, its interval, the regret and the share of the gap closed."""
    rows = []
    for case in cases:
        for group in case.groups:
            found = interval(group.finals)
            closed = case.gap_closed(group.finals)
            gap = None if closed is None else float(100 * closed.mean())
            regret = None if case.optimum is None else case.optimum - found.mean
            which = (case.label, group.name, group.allocation, len(group.records), _range(group.played))
            rows.append((*which, found.mean, found.low, found.high, case.optimum, regret, gap))
    run = ("problem", "strategy", "allocation", "seeds", "rounds")
    columns = (*run, "best value", "low", "high", "optimum", "regret", "% of gap")
    return Table(
        "final-values",
        "Best value found, mean over seeds with its 95 % confidence interval (Student's t)",
        columns,
        tuple(rows),
        "Regret is the optimum of the mean-field limit minus the best value; the gap runs from the uniform "
        "distribution to that optimum. Allocation: how distributions become whole agents; methods that place every "
        "agent themselves do not need it. Fewer rounds than planned: a time limit ended the run.",
    )


def summed_regret(cases: Sequence[Case]) -> Table:
    """Return the regret as the paper defines it, of all methods."""
    rows = []
    for case in cases:
        for group in case.groups:
            curves = gaps_lost(case, group)
            if curves is None or case.optimum is None:
                continue
            payoffs = interval((case.optimum - group.values).sum(axis=1))
            lost = interval(curves.sum(axis=1))
            first, last = (float(curves[:, part].mean()) for part in (slice(None, LAST), slice(-LAST, None)))
            run = (case.label, group.name, len(group.records), curves.shape[1])
            rows.append((*run, payoffs.mean, payoffs.half, lost.mean, lost.half, first, last))
    which = ("problem", "strategy", "seeds", "rounds")
    return Table(
        "regret",
        "Regret as the paper defines it: the optimum minus the payoff, summed over all rounds",
        (*which, "regret", "± 95 %", "in gaps", "± 95 % ", f"gaps per round, first {LAST}", f"last {LAST}"),
        tuple(rows),
        "Mean over seeds with its 95 % interval. A gap is the distance from the uniform distribution to the optimum, "
        "both in the mean-field limit: uniform plans lose about one gap a round, worse ones more. Best-so-far forgives "
        "a bad round, this sum does not.",
    )


def ceilings(cases: Sequence[Case]) -> Table:
    """Return what drawn agents can reach, where some strategy draws them."""
    rows = []
    for case in cases:
        ceiling = case.drawn_ceiling
        if ceiling is not None:
            rows.append((case.label, case.rounds, ceiling.one, ceiling.best, case.optimum))
    return Table(
        "drawn-ceilings",
        "What drawn agents can reach: the optimal distribution in every round, each agent's action drawn from it",
        ("problem", "rounds", "mean of one round", "mean of the best round", "optimum"),
        tuple(rows),
        f"Mean over {REPEATS} simulated runs. A strategy that draws its agents' actions cannot do better for long.",
    )


def paired_tests(cases: Sequence[Case]) -> Table:
    """Return every strategy against the references, by seed."""
    rows = []
    for case in cases:
        for name in REFERENCES:
            reference = case.group(name)
            for group in case.groups:
                earlier = group.strategy in REFERENCES[: REFERENCES.index(name)]
                if reference is None or group is reference or earlier:
                    continue
                rows.append(_paired_row(case, group, reference))
    columns = ("problem", "strategy", "against", "pairs", "mean difference", "p, paired t", "p, Wilcoxon")
    return Table(
        "paired-tests",
        "Differences of the best value on the same seeds",
        columns,
        tuple(row for row in rows if row[3]),
        "Two-sided, not corrected for the number of comparisons; a positive difference favors the strategy named "
        "first. With S seeds the Wilcoxon test cannot go below 2^(1−S).",
    )


def _paired_row(case: Case, group: Group, reference: Group) -> tuple[Any, ...]:
    common = sorted(set(group.seeds) & set(reference.seeds))
    test = paired(_finals(group, common), _finals(reference, common))
    return case.label, group.name, reference.name, test.pairs, test.difference, test.t_test, test.wilcoxon


def _finals(group: Group, seeds: Sequence[int]) -> FloatArray:
    return np.array([group.finals[group.seeds.index(seed)] for seed in seeds])


def rounds_needed(cases: Sequence[Case]) -> Table:
    """Return the rounds until 90 % and 99 % of the gap were closed."""
    rows = []
    for case in cases:
        for group in case.groups:
            gaps = [case.gap_closed(np.array([result.trace])) for result in group.results]
            if any(gap is None for gap in gaps):
                continue
            row: list[Any] = [case.label, group.name]
            for level in LEVELS:
                reached = [rounds_to(level, gap)[0] for gap in gaps if gap is not None]
                there = [number for number in reached if number is not None]
                complete = len(there) == len(reached)
                row += [float(np.mean(there)) if complete else None, f"{len(there)} of {len(reached)}"]
            rows.append(tuple(row))
    columns = ("problem", "strategy", "rounds to 90 %", "seeds there", "rounds to 99 %", "seeds there ")
    return Table(
        "rounds-needed",
        "Rounds until 90 % and 99 % of the gap from uniform to the optimum are closed",
        columns,
        tuple(rows),
        "Mean over seeds; a dash if some seed never got there within its rounds.",
    )


def run_times(cases: Sequence[Case]) -> Table:
    """Return seconds per run beside the paper's minutes."""
    rows = [_times_row(case, group) for case in cases for group in case.groups]
    ours = ("problem", "strategy", "seeds", "rounds", "seconds", "sd", "seconds per round", "minutes")
    columns = (*ours, "paper's minutes", "times faster", "limit, s", "runs ended by it")
    return Table(
        "run-times",
        f"Time per run, mean and standard deviation over seeds, beside the paper's minutes for {PAPER_ROUNDS} rounds",
        columns,
        tuple(rows),
        "Processor time of one thread each, so that other work on the machine does not count. 'Times faster' only if "
        "a run has the paper's number of rounds and ended by itself; the paper used a cluster of various processors. A "
        "run begins no further round after its limit.",
    )


def _times_row(case: Case, group: Group) -> tuple[Any, ...]:
    seconds = np.array([result.seconds for result in group.results])
    mean, per_round = float(seconds.mean()), float(np.mean(seconds / group.played))
    paper = PAPER_MINUTES.get((case.problem, group.strategy)) if case.is_the_papers else None
    alike = case.rounds == PAPER_ROUNDS and not group.limited
    minutes = None if paper is None else f"{paper[0]:g} ± {paper[1]:g}"
    faster = float(60 * paper[0] / mean) if paper is not None and alike else None
    limit = "" if not group.limited else f"{group.limited} of {len(group.records)}"
    which = (case.label, group.name, len(group.records), _range(group.played))
    return (*which, mean, spread(seconds), per_round, mean / 60, minutes, faster, group.time_limit, limit)


def regret_bound(cases: Sequence[Case]) -> Table:
    """Return the regret beside the theorem's bound."""
    rows = []
    for case in cases:
        for group in case.groups:
            curves = regret_curves(case, group)
            if curves is None:
                continue
            regret, bound = curves
            total = interval(regret[:, -1])
            ratio = float(bound[:, -1].mean() / total.mean) if total.mean > 0 else None
            rounds = regret.shape[1]
            which = (case.label, group.name, rounds)
            rows.append((*which, total.mean, total.half, total.mean / rounds, float(bound[:, -1].mean()), ratio))
    columns = ("problem", "strategy", "rounds", "regret in gaps", "± 95 %", "per round", "bound", "bound / regret")
    return Table(
        "regret-bound",
        "Regret against the theorem's bound",
        columns,
        tuple(rows),
        "The regret is in units of the gap from uniform to the optimum. The bound is eq. (15) of docs/theory.md, "
        "corrected, with a = b = 1, R = 0.01, the paper's kernel at its prior medians, and the information gain of the "
        "plans really played; it is in the kernel's own unit, which is set beside the gap as if they were equal. It is "
        "proven for MF-GP-UCB with the multiplier √β, which explores too long to be run; here it is a yardstick.",
    )


def regret_curves(case: Case, group: Group) -> tuple[FloatArray, FloatArray] | None:
    """Return the cumulative regret after each round and the theorem's bound, (S, T) each.

    The regret is in units of the gap, the bound in the kernel's own.
    """
    lost = gaps_lost(case, group)
    if lost is None or case.problem_data is None:
        return None
    population = case.problem_data.population
    return np.cumsum(lost, axis=1), regret_bounds(population, group.gains)


def gaps_lost(case: Case, group: Group) -> FloatArray | None:
    """Return the regret of each round in units of the gap, (S, T)."""
    closed = case.gap_closed(group.values)
    return None if closed is None else np.asarray(1.0 - closed)


def scaling(cases: Sequence[Case]) -> list[Table]:
    """Return time per round and regret along M, |A| and T, wherever cases differ in just one of them."""
    found = []
    for swept in sweeps(cases):
        runs = [(case, group) for case in swept.cases for group in case.groups]
        runs.sort(key=lambda pair: pair[1].name)  # the cases are in the order of the axis already
        which = ("strategy", "allocation", "M", "|A|", "T", "problem", "seeds")
        found.append(
            Table(
                f"scaling-{swept.name}",
                f"Time and regret against {AXES[swept.axis]}",
                (*which, "strategy's seconds per round", "± 95 %", "regret", "low", "high"),
                tuple(_scaling_row(case, group) for case, group in runs),
                "Regret: optimum of the mean-field limit minus the best value, mean over seeds with its 95 % interval. "
                "Seconds are those in the strategy alone.",
            )
        )
    return found


def agents_claims(cases: Sequence[Case]) -> list[Table]:
    """Return, for each sweep along M, how much slower and how different each M is from the largest one."""
    return [_agents_claim(swept) for swept in sweeps(cases) if swept.axis == "agents"]


def _agents_claim(swept: Sweep) -> Table:
    rows = []
    for name in dict.fromkeys(group.name for case in swept.cases for group in case.groups):
        runs = [(case, group) for case in swept.cases for group in case.groups if group.name == name]
        fastest = min(float(round_seconds(group).mean()) for _, group in runs)
        largest = runs[-1]
        for case, group in runs:
            speed = float(round_seconds(group).mean()) / fastest
            short = None if case.reachable is None else case.reachable - float(group.finals.mean())
            rows.append((name, case.agents, speed, case.reachable, short, _rounds_unlike((case, group), largest)))
    run = ("strategy", "M", "time per round / fastest M")
    return Table(
        f"scaling-{swept.name}-claim",
        f"Do cost and regret depend on the number of agents? ({swept.cases[0].problem})",
        (*run, "reachable", "short of it by", "rounds unlike the strategy's largest M"),
        tuple(rows),
        "Reachable: the best value known for M whole agents, below the optimum of the mean-field limit if M is small. "
        "Unlike: the 95 % intervals over seeds of the distance to it do not overlap in that round, and the means "
        f"differ by more than {100 * NEGLIGIBLE:g} % of the gap from uniform to the optimum. The first plans are "
        "uniform, which few whole agents cannot be.",
    )


def _rounds_unlike(one: tuple[Case, Group], other: tuple[Case, Group]) -> str | None:
    """Return the rounds in which the regret curves differ, as ranges; None for single seeds."""
    start, optimum = one[0].start, one[0].optimum
    if min(len(group.records) for _, group in (one, other)) < 2 or start is None or optimum is None:
        return None
    rounds = min(*one[1].played, *other[1].played)
    bands = [
        [interval((case.reachable or 0.0) - column) for column in group.traces[:, :rounds].T]
        for case, group in (one, other)
    ]
    least = NEGLIGIBLE * (optimum - start)
    apart = [abs(a.mean - b.mean) > max((a.half or 0.0) + (b.half or 0.0), least) for a, b in zip(*bands, strict=True)]
    return ranges([number for number, unlike in enumerate(apart, start=1) if unlike])


def round_seconds(group: Group) -> FloatArray:
    """Return the strategy's seconds per round of each run, (S,)."""
    return np.array([result.ask_seconds / result.rounds_played for result in group.results])


def _scaling_row(case: Case, group: Group) -> tuple[Any, ...]:
    speed = interval(round_seconds(group))
    lost = None if case.optimum is None else interval(case.optimum - group.finals)
    regret = (None, None, None) if lost is None else (lost.mean, lost.low, lost.high)
    run = (group.name, group.allocation, case.agents, case.actions, case.rounds, case.problem, len(group.records))
    return (*run, speed.mean, speed.half, *regret)


def failures(results: Results) -> Table:
    """Return the runs that failed, with their error."""
    rows = tuple((record.label, record.error.type, record.error.in_one_line) for record in results.failed)
    return Table("failed", "Runs that failed", ("run", "error", "message"), rows)


def provenances(results: Results) -> Table:
    """Return which versions and machines the results come from; more than one row means a mixture."""
    counts = Counter(_origin_row(record.origin) for record in results.records)
    columns = ("mfbo", "commit", "Python", "packages", "processor", "threads", "runs")
    return Table("provenance", "Where the results come from", columns, tuple((*row, n) for row, n in counts.items()))


def _origin_row(origin: Origin) -> tuple[str, ...]:
    packages = ", ".join(f"{name} {version}" for name, version in origin.packages.items())
    threads = "; ".join([f"limit {origin.threads.limit}", *sorted(origin.threads.libraries)])
    commit = origin.commit or "not from a checkout"
    return origin.mfbo, commit, origin.python, packages, f"{origin.cpu}, {origin.cpus} processors", threads


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return shown(low) if low == high else f"{shown(low)}–{shown(high)}"
