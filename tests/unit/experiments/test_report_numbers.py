"""The report's numbers against results made by hand."""

import csv
import io
import math

import numpy as np
import pytest

from mfbo.catalogue import make_problem
from mfbo.experiments import report_tables as report
from mfbo.experiments.ceilings import drawn_ceiling
from mfbo.experiments.information import information_gain, regret_bounds
from mfbo.experiments.paper_minutes import PAPER_MINUTES
from mfbo.experiments.results import Results, cases_of
from mfbo.experiments.run_records import FailedRun, RunError
from mfbo.experiments.statistics import interval, paired, rounds_to
from mfbo.experiments.store import StoredSuite
from mfbo.experiments.sweeps import sweeps
from mfbo.experiments.tables import Table, ranges, shown
from mfbo.simplex import uniform


def rows_of(table):
    return list(csv.DictReader(io.StringIO(table.to_csv())))


def test_interval_is_students():
    found = interval(np.array([1.0, 2.0, 3.0]))
    assert found.mean == 2.0
    assert found.half == pytest.approx(4.302652729911275 / math.sqrt(3))
    assert interval(np.array([5.0])).half is None


def test_paired_tests_compare_by_seed():
    reference = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    test = paired(reference + np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), reference)
    assert test.difference == pytest.approx(0.35)
    assert test.wilcoxon == pytest.approx(2 ** (1 - 6))
    assert test.t_test < 0.01
    assert paired(reference, reference).t_test == 1.0
    assert paired(reference * (1 + 1e-15), reference).t_test == 1.0  # rounding is no difference
    assert paired(reference + 0.1, reference).t_test is None  # the same on every seed: no spread to test by
    assert paired(reference[:1], reference[:1]).t_test is None


def test_equal_seeds_count_half_for_each_side():
    """By hand: of 0, 1, 2, 3 the ranks 1 (split), 2, 3, 4; 2 of the 8 signs are as extreme."""
    assert paired(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4)).wilcoxon == pytest.approx(0.25)


def test_rounds_to_a_level_count_from_one():
    gap = np.array([[0.1, 0.9, 0.95], [0.0, 0.1, 0.2]])
    assert rounds_to(0.9, gap) == [2, None]


def test_final_values_and_pairs(made_record):
    records = [made_record([1.0, 10.0 + seed], "default", seed) for seed in range(3)]
    records += [made_record([2.0, 6.0], "mf-gp-ucb", seed) for seed in range(2)]
    cases = cases_of(records)
    ours, theirs = rows_of(report.finals(cases))
    assert (ours["strategy"], theirs["strategy"]) == ("default", "mf-gp-ucb")
    assert float(ours["best value"]) == pytest.approx(11.0)
    assert float(ours["regret"]) == pytest.approx(7.0)
    (pair,) = rows_of(report.paired_tests(cases))
    assert (pair["strategy"], pair["against"], pair["pairs"]) == ("default", "mf-gp-ucb", "2")
    assert float(pair["mean difference"]) == pytest.approx(4.5)


def test_whole_numbers_are_written_as_ranges():
    assert ranges([]) == "none"
    assert ranges([1, 2, 3, 7, 9, 10]) == "1–3, 7, 9–10"


def test_strategies_keep_their_own_allocation_in_one_case(made_record):
    mixed = [made_record([1.0], "default"), made_record([2.0], "mf-gp-ucb", allocation="sampled")]
    (case,) = cases_of(mixed)
    assert case.label == "swarm"
    assert [row["allocation"] for row in rows_of(report.finals([case]))] == ["quota", "sampled"]


def test_a_strategy_run_with_both_allocations_makes_two_groups_that_are_compared(made_record):
    both = [made_record([1.0], "mf-gp-ucb", seed) for seed in range(3)]
    both += [made_record([2.0 + seed], "mf-gp-ucb", seed, allocation="sampled") for seed in range(3)]
    cases = cases_of([*both, *(made_record([0.0], "random", seed) for seed in range(3))])
    assert [group.name for group in cases[0].groups] == ["mf-gp-ucb (quota)", "mf-gp-ucb (sampled)", "random"]
    compared = [(row["strategy"], row["against"]) for row in rows_of(report.paired_tests(cases))]
    assert compared == [("mf-gp-ucb (sampled)", "mf-gp-ucb (quota)"), ("random", "mf-gp-ucb (quota)")]


def test_the_same_number_of_agents_is_one_case_however_it_was_asked_for(made_record):
    (case,) = cases_of([made_record([1.0], seed=0), made_record([1.0], seed=1, agents=50)])
    assert len(case.groups[0].records) == 2


def test_what_is_not_as_usual_is_said_in_the_label(made_record):
    (case,) = cases_of([made_record([1.0], agents=3, feedback="agents:2", noise=0.5)])
    assert case.label == "swarm, M = 3, feedback agents:2, noise 0.5"


def test_runs_of_one_strategy_are_one_group_whatever_their_time_limits(made_record):
    records = [made_record([1.0], "mf-gp-ucb", seed, time_limit=500.0 if seed > 1 else None) for seed in range(4)]
    records += [made_record([0.0, 0.0], "random", seed, rounds=1) for seed in range(4)]
    (case,) = cases_of(records)
    assert [len(group.records) for group in case.groups] == [4, 4]
    assert [row["pairs"] for row in rows_of(report.paired_tests([case]))] == ["4"]


def test_only_cases_alike_but_for_one_number_form_a_sweep(made_record):
    records = [
        made_record([1.0, 2.0], agents=50),
        made_record([1.0, 2.0], agents=500, noise=0.5),
        made_record([1.0, 2.0], agents=5000, context_allocation="sampled"),
    ]
    assert sweeps(cases_of(records)) == []


def test_two_sweeps_along_one_axis_are_both_shown(made_record):
    records = [made_record([1.0], agents=agents, noise=noise) for agents in (5, 50, 500) for noise in (0.0, 0.5)]
    assert [swept.name for swept in sweeps(cases_of(records))] == ["agents-1", "agents-2"]


def test_the_paper_s_minutes_stand_beside_its_own_problems_only(made_record):
    (row,) = rows_of(report.run_times(cases_of([made_record([1.0] * 250, "mf-gp-ucb", agents=3)])))
    assert (row["paper's minutes"], row["times faster"]) == ("", "")


def test_rounds_needed_are_measured_from_uniform_to_the_optimum(made_record):
    swarm = make_problem("swarm")
    start = swarm.mean_field_value(uniform(1, 30))
    level = start + 0.9 * (18.0 - start)
    cases = cases_of([made_record([start, level + 1e-6, 18.0]), made_record([start, start, level + 1e-6], seed=1)])
    (row,) = rows_of(report.rounds_needed(cases))
    assert float(row["rounds to 90 %"]) == 2.5
    assert row["rounds to 99 %"] == ""
    assert row["seeds there "] == "1 of 2"


def test_a_run_ended_by_its_limit_is_said_and_not_called_faster(made_record):
    records = [
        made_record([1.0] * 250, "mf-gp-ucb", seconds=84.0),
        made_record([1.0, 2.0], "turbo", rounds=250, time_limit=600.0),
    ]
    table = {row["strategy"]: row for row in rows_of(report.run_times(cases_of(records)))}
    assert float(table["mf-gp-ucb"]["times faster"]) == pytest.approx(10.0)
    assert table["mf-gp-ucb"]["paper's minutes"] == "14 ± 1"
    assert table["turbo"]["times faster"] == ""
    assert table["turbo"]["runs ended by it"] == "1 of 1"
    assert table["turbo"]["rounds"] == "2"


def test_the_papers_minutes_are_the_papers():
    assert PAPER_MINUTES["maritime", "annealing"] == (9.3, 3.4)
    assert PAPER_MINUTES["nyc-20x36", "turbo"] == (4206.0, 596.0)
    assert PAPER_MINUTES["bay-area-bike", "mf-gp-ucb"] == (14.0, 2.0)


def test_regret_is_summed_over_all_rounds_in_payoffs_and_in_gaps(made_record):
    """Two uniform rounds cost two gaps; a bad round after a good one is not forgiven."""
    start, optimum = make_problem("swarm").mean_field_value(uniform(1, 30)), 18.0
    cases = cases_of([made_record([start, optimum, start], seed=seed) for seed in range(2)])
    (row,) = rows_of(report.summed_regret(cases))
    assert float(row["in gaps"]) == pytest.approx(2.0)
    assert float(row["regret"]) == pytest.approx(2 * (optimum - start))
    assert float(row["last 50"]) == pytest.approx(2 / 3)
    (bounded,) = rows_of(report.regret_bound(cases))
    assert float(bounded["regret in gaps"]) == pytest.approx(2.0)
    assert float(bounded["bound"]) > 100


def test_drawn_agents_have_a_ceiling_only_where_some_strategy_draws_them(made_record):
    placed, drawn = made_record([1.0], "default"), made_record([2.0], "mf-gp-ucb", allocation="sampled")
    assert not report.ceilings(cases_of([placed])).rows
    (row,) = rows_of(report.ceilings(cases_of([placed, drawn])))
    assert float(row["mean of one round"]) == pytest.approx(17.9, abs=0.1)


def test_the_ceilings_of_the_papers_two_synthetic_problems():
    """50 agents draw from the optimal distribution 250 times: single rounds, and the best of them."""
    swarm = drawn_ceiling(make_problem("swarm"), 250, "quota")
    assert (swarm.one, swarm.best) == (pytest.approx(17.916, abs=0.004), pytest.approx(18.011, abs=0.001))
    arena = drawn_ceiling(make_problem("arena"), 250, "sampled")
    assert (arena.one, arena.best) == (pytest.approx(0.897, abs=0.004), pytest.approx(1.017, abs=0.005))
    assert drawn_ceiling(make_problem("swarm").with_size(None), 250, "quota") is None


def test_information_gain_grows_and_repeating_a_plan_teaches_less():
    population = make_problem("arena").population
    rng = np.random.default_rng(0)
    plans = [rng.dirichlet(np.full(30, 0.1), size=2) for _ in range(6)]
    varied, repeated = information_gain(population, plans), information_gain(population, [plans[0]] * 6)
    assert (np.diff(varied) > 0).all()
    assert repeated[0] == pytest.approx(varied[0])
    assert repeated[-1] < varied[-1]
    assert (np.diff(regret_bounds(population, varied[None])) > 0).all()


def test_cases_that_differ_in_one_number_form_a_sweep(made_record):
    records = [made_record([1.0, 2.0], agents=agents) for agents in (50, 500, 5000)]
    cases = cases_of(records)
    assert [case.label for case in cases] == ["swarm, M = 50", "swarm, M = 500", "swarm, M = 5,000"]
    assert [swept.axis for swept in sweeps(cases)] == ["agents"]
    (table,) = report.scaling(cases)
    assert [row["M"] for row in rows_of(table)] == ["50", "500", "5000"]


def test_failures_and_missing_runs_are_counted(made_record):
    done = made_record([1.0, 2.0])
    failed = FailedRun(made_record([1.0], seed=1).identity, done.origin, 1.0, RunError("Bad", "too\nbad", ""))
    suite = StoredSuite("hash", "mine", "", "", (), {done.key: "a", failed.key: "b", "third": "c"})
    results = Results(suite, (done, failed), cases_of([done]), (failed,))
    assert results.missing == 1
    (row,) = rows_of(report.failures(results))
    assert row["message"] == "too bad"
    assert "failed" in [table.name for table in report.tables(results)]


def test_tables_escape_what_they_show():
    table = Table("t", "A <title>", ("a|b", "n"), (("<script>|", 1234), ("x", None)))
    assert "<script>" not in table.to_html()
    assert "| a\\|b | n |" in table.to_markdown()
    assert "&lt;script&gt;\\|" in table.to_markdown()
    assert "1,234" in table.to_markdown()
    assert shown(0.000012345) == "1.234e-5"
    assert shown(True) == "yes"


def test_regret_curves_are_compared_by_what_whole_agents_can_reach(made_record):
    jitter = {0: 0.0, 1: 1e-6}
    records = [
        made_record([0.0, best - away + jitter[seed], best], agents=agents, seed=seed)
        for agents, best, away in ((50, 17.0, 1.0), (500, 17.9, 1.0), (5000, 17.99, 3.0))
        for seed in (0, 1)
    ]
    cases = cases_of(records)
    assert cases[0].reachable == pytest.approx(18.01176199651916)  # the rounded optimum; nobody played as well
    (claim,) = report.agents_claims(cases)
    assert [row[2] for row in claim.rows] == pytest.approx([1.0, 1.0, 1.0])
    assert claim.rows[-1][-1] == "none"
    assert claim.rows[0][-1] == "2–3"
