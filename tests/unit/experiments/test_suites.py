"""Suites: what a suite is, how it is read, and what is refused."""

import pytest

from mfbo.errors import InvalidInputError, MfboError
from mfbo.experiments import BUILT_IN, Batch, Suite, find_suite, read_suite, suite_toml

TEXT = """
summary = "two problems"
[[runs]]
problems = ["swarm", "arena"]
strategies = ["default", "random"]
seeds = 3
rounds = 12
agents = [50, "inf"]
"""


def written(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_gives_all_combinations_once(tmp_path):
    suite = read_suite(written(tmp_path, TEXT))
    assert suite.name == "mine"
    assert len(suite.runs) == 2 * 2 * 3 * 2
    assert len({run.key for run in suite.runs}) == len(suite.runs)
    assert [run.settings.seed for run in suite.runs] == sorted(run.settings.seed for run in suite.runs)


def test_the_hash_counts_runs_and_not_words(tmp_path):
    suite = read_suite(written(tmp_path, TEXT))
    reworded = read_suite(written(tmp_path, TEXT.replace("two problems", "a pair")))
    longer = read_suite(written(tmp_path, TEXT.replace("rounds = 12", "rounds = 13")))
    assert suite.hash == reworded.hash != longer.hash


def test_overlapping_batches_give_each_run_once():
    batch = Batch(("swarm",), ("random",), (0, 1), (5,))
    assert len(Suite("twice", (batch, Batch(("swarm",), ("random",), (1, 2), (5,)))).runs) == 3


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_suite_printed_and_read_again_is_the_same_suite(name, tmp_path):
    suite = BUILT_IN[name]
    assert read_suite(written(tmp_path, suite_toml(suite))).hash == suite.hash


def test_settings_of_strategies_are_part_of_the_suite(tmp_path):
    text = TEXT.replace('"random"', '"mf-gp-ucb(multiplier = 2.0, kernel=joint)"')
    suite = read_suite(written(tmp_path, text))
    name = "mf-gp-ucb(kernel=joint,multiplier=2)"
    assert {run.settings.strategy for run in suite.runs} == {"default", name}
    assert len(suite.selected(strategies=[name])) == len(suite.runs) / 2
    with pytest.raises(InvalidInputError, match="without repetition"):
        read_suite(written(tmp_path, TEXT.replace('"random"', '"default(trust=3)", "default(trust=3.0)"')))


def test_the_paper_suite_is_the_papers():
    suite = find_suite("paper")
    assert {run.settings.rounds for run in suite.runs} == {250}
    assert {run.settings.seed for run in suite.runs} == set(range(10))
    assert len({run.settings.problem for run in suite.runs}) == 7
    assert {run.time_limit for run in suite.runs} == {None}
    assert sum(run.settings.strategy == "turbo" for run in suite.runs) == 70
    drawn = {run.settings.problem for run in suite.runs if run.settings.context_allocation == "sampled"}
    assert drawn == {"arena", "maritime"}


def test_quick_has_no_turbo_above_300_agents_and_no_time_limit_that_would_make_values_depend_on_the_machine():
    suite = find_suite("quick")
    turbo = {run.settings.problem for run in suite.runs if run.settings.strategy == "turbo"}
    assert turbo == {"swarm", "arena", "bay-area-bike"}
    assert {run.time_limit for run in suite.runs} == {None}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("rounds = 12", "round = 12"), "'round'"),
        (("rounds = 12", ""), "rounds"),
        (("rounds = 12", "rounds = 0"), "0"),
        (("rounds = 12", "rounds = 12\nspeed = 3"), "'speed'"),
        (('"arena"]', '"arean"]'), "'arena'"),
        (('"default", "random"', '"defualt"'), "'default'"),
        (('["swarm", "arena"]', "[]"), "problems is empty"),
        (('["swarm", "arena"]', '["swarm", "swarm"]'), "repetition"),
        (('["swarm", "arena"]', "[[1], [2]]"), "[1]"),
        (("seeds = 3", "seeds = 0"), "0"),
        (("seeds = 3", "seeds = [-1]"), "-1"),
        (("seeds = 3", "seeds = true"), "True"),
        (("rounds = 12", "rounds = 12\ntime_limit = 0"), "time limit"),
        (("rounds = 12", 'rounds = 12\nallocation = "dice"'), "'dice'"),
        (("rounds = 12", 'rounds = 12\ncontext_allocation = "dice"'), "'dice'"),
        (("rounds = 12", 'rounds = 12\ncontexts = "sampled"'), "context_allocation"),
        (("rounds = 12", 'rounds = 12\nfeedback = "gossip"'), "'gossip'"),
        (("rounds = 12", "rounds = 12\nnoise = -1"), "-1"),
        (("[[runs]]", "[runs]"), "[[runs]]"),
        (("[[runs]]", "[[run]]"), "'run'"),
        (('summary = "two problems"', "summary = 3"), "3"),
        (('summary = "two problems"', "summary ="), "TOML"),
        (("rounds = 12", 'rounds = 12\ndata = "some.csv"'), "takes no data file"),
        (('["swarm", "arena"]', '["louvelo"]\ndata = "missing.csv"'), "missing.csv"),
        (('["swarm", "arena"]', '["louvelo"]\ndata = "a\\u0000b"'), "data file"),
        (("rounds = 12", f"rounds = {'9' * 5000}"), "TOML"),
        (("rounds = 12", f"rounds = {'[' * 3000}"), "TOML"),
        (("rounds = 12", f'rounds = 12\nfeedback = "agents:{"1" * 5000}"'), "feedback must be"),
        (("seeds = 3", "seeds = 100000"), "split it"),
        (('summary = "two problems"', 'name = "../../evil"'), "'../../evil'"),
    ],
)
def test_what_cannot_be_run_is_refused_with_its_name(tmp_path, change, named):
    assert change[0] in TEXT
    with pytest.raises(MfboError) as caught:
        assert read_suite(written(tmp_path, TEXT.replace(*change))).runs
    assert named in str(caught.value)


def test_no_runs_and_no_file_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="no runs"):
        read_suite(written(tmp_path, 'summary = "nothing"'))
    with pytest.raises(InvalidInputError, match=r"nosuch\.toml"):
        find_suite(str(tmp_path / "nosuch.toml"))
    with pytest.raises(MfboError, match=r"did you mean 'quick'.*toml"):
        find_suite("qick")


def test_a_filter_chooses_runs_without_changing_them():
    suite = Suite("both", (Batch(("swarm", "arena"), ("default", "random"), (0,), (5,)),))
    chosen = suite.selected(problems=("arena",), strategies=("random",))
    assert [run.label for run in chosen] == ["arena-random-T5-seed0"]
    assert chosen[0] in suite.runs
    with pytest.raises(MfboError, match="'mf-gp-ucb'"):
        suite.selected(strategies=("mf-gp-ucb",))
    with pytest.raises(MfboError, match="'swarm'"):
        suite.selected(problems=("swram",))


def test_names_are_checked_against_the_catalogue_only_when_chosen():
    suite = Suite("future", (Batch(("swarm",), ("random", "teleportation"), (0,), (5,)),))
    assert len(suite.selected(strategies=("random",))) == 1
    with pytest.raises(MfboError, match="'teleportation'"):
        suite.selected()


def test_a_data_file_counts_by_its_content(tmp_path):
    text = TEXT.replace('["swarm", "arena"]', '["louvelo"]') + 'data = "stations.csv"\n'
    (tmp_path / "stations.csv").write_text("name,demand,x,y\na,1,0,0\nb,2,1,1\n")
    first = read_suite(written(tmp_path, text)).hash
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "stations.csv").write_bytes((tmp_path / "stations.csv").read_bytes())
    assert read_suite(written(tmp_path / "elsewhere", text)).hash == first
    (tmp_path / "stations.csv").write_text("name,demand,x,y\na,1,0,0\nb,3,1,1\n")
    assert read_suite(written(tmp_path, text)).hash != first
