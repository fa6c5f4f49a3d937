"""Tables of the documents that are put together from several results say what the results say."""

import csv
import re
from pathlib import Path

import pytest

from mfbo.experiments import ResultStore

ROOT = Path(__file__).parents[2]
PROBLEMS = ("swarm", "arena", "bay-area-bike")
ROUNDS, SEEDS = 100, (0, 1, 2)


def best_of_the_first_rounds():
    """The paper suite's runs on the same seeds, cut: strategy and problem to the mean of the best values."""
    found = {}
    for record in ResultStore(ROOT / "benchmarks" / "results" / "paper").records():
        run = record.identity
        if run.problem in PROBLEMS and run.seed in SEEDS and run.context_allocation == "quota":
            found.setdefault((run.strategy, run.problem), []).append(max(record.result.values[:ROUNDS]))
    return {key: sum(values) / len(SEEDS) for key, values in found.items()}


def published_competitors():
    path = ROOT / "docs" / "results" / "opponents" / "final-values.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return {(row["strategy"], row["problem"]): float(row["best value"]) for row in csv.DictReader(file)}


@pytest.mark.slow
def test_the_papers_methods_and_the_published_competitors_stand_in_one_table():
    papers, competitors = best_of_the_first_rounds(), published_competitors()
    for key in papers.keys() & competitors.keys():
        assert papers[key] == pytest.approx(competitors[key], abs=1e-12), f"{key}: the two suites do not compare"
    expected = {**papers, **competitors}
    text = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    section = text.split("## The published competitors")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(.+?)` \| (\S+) \| (\S+) \| (\S+) \|$", section, flags=re.MULTILINE)
    assert {strategy for strategy, *_ in rows} == {strategy for strategy, _ in expected}
    for strategy, *values in rows:
        for problem, value in zip(PROBLEMS, values, strict=True):
            assert value == f"{expected[strategy, problem]:.4f}".replace("-", "−"), f"{strategy} on {problem}"
