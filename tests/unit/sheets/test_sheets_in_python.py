"""An operator's day in Python: the same sheets as on the command line."""

import pytest

from mfbo import create_study
from mfbo.errors import FaultyFileError, InvalidInputError
from mfbo.sheets import (
    Faults,
    export_study,
    read_agents,
    read_cells,
    read_past_days,
    read_placed,
    read_plan,
    read_population,
    write_plan,
)


@pytest.fixture
def study(tmp_path):
    (tmp_path / "stations.csv").write_text("name;x\nMain St;0\n=Harbor;1\n", encoding="utf-8")
    return create_study(read_population(tmp_path / "stations.csv", size=10), "random")


def test_what_is_written_is_read_again(study, tmp_path):
    plan = study.ask()
    write_plan(tmp_path / "plan.csv", study, plan)
    assert read_placed(tmp_path / "plan.csv", study.population).tolist() == plan.allocation.tolist()
    assert read_plan(tmp_path / "plan.csv", study.population).tolist() == plan.realized.tolist()
    (tmp_path / "day.csv").write_text("station,payoff,agents\n=Harbor,1.5,4\nMain St,,\n")
    seen = read_cells(tmp_path / "day.csv", study.population, plan.allocation)
    done = study.tell(plan, 2.0, cells=seen.payoffs, counts=seen.counts)
    assert done.feedback.cells[0, 1] == 1.5
    assert done.feedback.counts.tolist() == [[0, 4]]
    export_study(study, tmp_path / "all.csv")
    (day,) = read_past_days(tmp_path / "all.csv", study.population)
    assert (day.distribution.tolist(), day.payoff) == (done.played.tolist(), 2.0)
    with pytest.raises(InvalidInputError, match=r"not in '.txt'"):
        export_study(study, tmp_path / "all.txt")


def test_faults_of_several_files_are_reported_together_if_the_caller_collects_them(study, tmp_path):
    (tmp_path / "placed.csv").write_text("station,agents\nMain St,x\n=Harbor,1\n")
    (tmp_path / "trips.csv").write_text("station,payoff\nPier,1\n")
    with pytest.raises(FaultyFileError) as refusal:
        read_placed(tmp_path / "placed.csv", study.population)
    assert len(refusal.value.lines) == 1
    faults = Faults()
    read_placed(tmp_path / "placed.csv", study.population, faults)
    assert read_agents(tmp_path / "trips.csv", study.population, faults) == []
    with pytest.raises(FaultyFileError) as refusal:
        faults.report()
    assert [line.rpartition("/")[2][:10] for line in refusal.value.lines] == ["placed.csv", "trips.csv,"]
