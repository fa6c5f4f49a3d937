"""`mfbo study …` with situations: declared, said, imported, exported, and refused in one line."""

import csv
import json

import pytest
from typer.testing import CliRunner

import mfbo
from mfbo.cli.app import app
from mfbo.errors import InvalidInputError, MfboError
from mfbo.written_situations import declaration_of_text


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stations.csv").write_text("name,x,y\na,0,0\nb,0,1\nc,1,1\n", encoding="utf-8")
    runner = CliRunner()

    def command(*words, refused=False):
        result = runner.invoke(app, ["study", *map(str, words)])
        if refused:
            assert isinstance(result.exception, MfboError), result.output
            return str(result.exception)
        assert result.exit_code == 0, result.output
        return result.output

    command(
        "create", "city", "--actions", "stations.csv", "--agents", 12,
        "--situations", "day=weekday|weekend,rain=number,date=time,requests=number:after",
    )  # fmt: skip
    return command


def test_a_day_is_said_when_asking_and_telling(run, tmp_path):
    run("ask", "city", "--situation", "day=weekend,rain=0.3,date=2026-05-03")
    run("tell", "city", "--plan", 0, "--payoff", 2.5, "--situation", "requests=812")
    study = mfbo.load_study("city", f"sqlite:///{tmp_path / 'mfbo.db'}")
    assert study.rounds[0].situation == {"day": "weekend", "rain": 0.3, "date": 20_576.0, "requests": 812.0}
    recommended = json.loads(run("recommend", "city", "--situation", "day=weekday", "--json"))
    assert sum(row["agents"] for row in recommended["rows"]) == 12


def test_an_export_with_situations_is_imported_again(run, tmp_path):
    run("ask", "city", "--situation", "day=holiday,rain=0.3", "--new-category")
    run("tell", "city", "--plan", 0, "--payoff", 2.5, "--situation", "date=2026-05-03")
    run("export", "city", "--out", "rounds.csv")
    with (tmp_path / "rounds.csv").open(encoding="utf-8") as lines:
        first = next(csv.DictReader(lines))
    assert (first["situation_day"], first["situation_date"], first["situation_requests"]) == (
        "holiday",
        "2026-05-03",
        "",
    )
    run(
        "create", "other", "--actions", "stations.csv", "--agents", 12,
        "--situations", "day=weekday|weekend,rain=number,date=time",
    )  # fmt: skip
    run("import", "other", "rounds.csv", refused=True)
    run("import", "other", "rounds.csv", "--new-category")
    study = mfbo.load_study("other", f"sqlite:///{tmp_path / 'mfbo.db'}")
    assert study.rounds[0].situation == {"day": "holiday", "rain": 0.3, "date": 20_576.0}


def test_a_sheet_of_ones_own_may_call_its_columns_by_their_names(run, tmp_path):
    rows = [("day", "station", "agents", "payoff", "rain")]
    rows += [
        (label, station, 4, payoff, rain)
        for label, payoff, rain in (("mo", 1, 0.2), ("tu", 2, ""))
        for station in "abc"
    ]
    (tmp_path / "past.csv").write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n", encoding="utf-8")
    run("import", "city", "past.csv")
    study = mfbo.load_study("city", f"sqlite:///{tmp_path / 'mfbo.db'}")
    assert [done.situation for done in study.rounds] == [{"rain": 0.2}, {}]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("weekend", "must look like"), ("day=monday", "must be one of"), ("rain=much", "rain"), ("requests=3", "after")],
)
def test_what_cannot_be_read_is_refused(run, text, reason):
    assert reason in run("ask", "city", "--situation", text, refused=True)


def test_declarations_are_read():
    assert declaration_of_text("day=a|b:after") == {"day": {"kind": ["a", "b"], "known": "after"}}
    with pytest.raises(InvalidInputError, match="twice"):
        declaration_of_text("rain=number,rain=time")


WEEK = "date,day,rain\n2026-05-04,weekday,0.1\n2026-05-05,weekday,\n2026-05-09,weekend,0.7\n"


def test_a_week_is_planned_at_once(run, tmp_path):
    (tmp_path / "week.csv").write_text(WEEK, encoding="utf-8")
    found = json.loads(run("ask", "city", "--situations", "week.csv", "--out", "plans", "--json"))
    assert [day["plan"] for day in found["plans"]] == [0, 1, 2]
    assert found["plans"][1]["situation"] == {"day": "weekday", "date": "2026-05-05"}
    assert [path.name for path in sorted((tmp_path / "plans").iterdir())] == ["plan-0.csv", "plan-1.csv", "plan-2.csv"]
    study = mfbo.load_study("city", f"sqlite:///{tmp_path / 'mfbo.db'}")
    assert [asked.situation.get("rain") for asked in study.history.open] == [0.1, None, 0.7]
    first, second = found["plans"][0]["rows"], found["plans"][1]["rows"]
    assert [late["change"] for late in second] == [
        late["agents"] - early["agents"] for early, late in zip(first, second, strict=True)
    ]


def test_a_week_asked_again_gives_the_same_plans_but_for_what_changed(run, tmp_path):
    (tmp_path / "week.csv").write_text(WEEK, encoding="utf-8")
    run("ask", "city", "--situations", "week.csv")
    run("tell", "city", "--plan", 0, "--payoff", 2.5)
    (tmp_path / "week.csv").write_text(WEEK.replace("0.7", "0.2"), encoding="utf-8")
    said = run("ask", "city", "--situations", "week.csv", "--out", "week-plans.csv")
    assert "plan 2 is abandoned: it was made for another situation" in said
    assert "plan 0 was told: its day is left out" in said
    assert json.loads(run("ask", "city", "--situations", "week.csv", "--json"))["told"] == [0]
    with (tmp_path / "week-plans.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert list(dict.fromkeys(row["plan"] for row in rows)) == ["1", "3"]
    assert rows[-1]["situation_rain"] == "0.2"
    placed = mfbo.load_study("city", f"sqlite:///{tmp_path / 'mfbo.db'}").placed[0]
    assert [int(row["agents"]) - int(row["change"]) for row in rows[:3]] == placed.tolist()


def test_days_of_a_week_keep_their_plans_when_rows_go_and_come(run, tmp_path):
    (tmp_path / "week.csv").write_text(WEEK, encoding="utf-8")
    run("ask", "city", "--situations", "week.csv")
    header, _, *later = WEEK.splitlines()
    rows = [header, *later, "2026-05-10,weekend,0.3", "2026-05-11,weekday,"]
    (tmp_path / "next.csv").write_text("\n".join(rows), encoding="utf-8")
    found = json.loads(run("ask", "city", "--situations", "next.csv", "--json"))
    assert ([day["plan"] for day in found["plans"]], found["abandoned"]) == ([1, 2, 3, 4], [])
    (tmp_path / "next.csv").write_text("\n".join([*rows[:4], rows[4] + "0.9"]), encoding="utf-8")
    found = json.loads(run("ask", "city", "--situations", "next.csv", "--json"))
    assert [day["plan"] for day in found["plans"]] == [1, 2, 3, 5]
    assert found["abandoned"] == ["plan 4 is abandoned: it was made for another situation"]
    run("tell", "city", "--plan", 0, "--payoff", 2.5)
    (tmp_path / "first.csv").write_text("\n".join(WEEK.splitlines()[:2]), encoding="utf-8")
    assert "were told already" in run("ask", "city", "--situations", "first.csv", refused=True)


def test_a_week_as_a_spreadsheet_saves_it(run, tmp_path):
    week = "date;day;rain;\r\n04.05.2026;weekday;0,1;\r\n5.5.2026;weekday;;\r\n"
    (tmp_path / "week.csv").write_text(week, encoding="utf-8-sig")
    found = json.loads(run("ask", "city", "--situations", "week.csv", "--json"))
    assert [day["situation"] for day in found["plans"]] == [
        {"day": "weekday", "rain": "0.1", "date": "2026-05-04"},
        {"day": "weekday", "date": "2026-05-05"},
    ]
    (tmp_path / "week.csv").write_text(week.replace(";;", ";1.250;"), encoding="utf-8-sig")
    assert "must be a number, not '1.250'" in run("ask", "city", "--situations", "week.csv", refused=True)


@pytest.mark.parametrize(
    ("sheet", "reason"),
    [
        ("date,snow\n2026-05-04,1\n", "is not a situation of this study"),
        ("day\nmonday\nweekday\nsunday\n", "line 4, column 'day'"),
        ("day,requests\nweekday,800\n", "after"),
        ("snow\n1\n", "no column is called like"),
        ("day,rain\n", "no rows"),
    ],
)
def test_a_week_that_cannot_be_read_is_refused(run, tmp_path, sheet, reason):
    (tmp_path / "week.csv").write_text(sheet, encoding="utf-8")
    assert reason in run("ask", "city", "--situations", "week.csv", refused=True)
    assert not mfbo.load_study("city", f"sqlite:///{tmp_path / 'mfbo.db'}").rounds


def test_a_week_says_nothing_of_one_day(run, tmp_path):
    (tmp_path / "week.csv").write_text(WEEK, encoding="utf-8")
    assert "--size for one" in run("ask", "city", "--situations", "week.csv", "--size", 9, refused=True)
    run(
        "create", "careful", "--actions", "stations.csv", "--agents", 12, "--move-budget", 3, "--situations", "r=number"
    )
    assert "day by day" in run("ask", "careful", "--situations", "week.csv", refused=True)


def test_a_study_with_situations_is_shown_and_drawn_with_levels_taken_out(run, tmp_path):
    rows = [("round", "station", "agents", "payoff", "day", "rain", "date")]
    for number in range(10):
        rain, day = number % 5 / 4, "weekend" if number % 3 == 0 else "weekday"
        rows += [
            (number, name, 4 + number % 3 * (name == "a"), -10 * rain, day, rain, f"2026-05-{number + 1:02d}")
            for name in "abc"
        ]
    (tmp_path / "past.csv").write_text("\n".join(",".join(map(str, row)) for row in rows) + "\n", encoding="utf-8")
    run("import", "city", "past.csv")
    shown = json.loads(run("show", "city", "--json"))
    assert shown["best"]["of"] == "expected payoff"
    assert shown["rounds"][-1]["situation"] == "day=weekend, rain=1, date=2026-05-10"
    told = [row["payoff"] for row in shown["rounds"]]
    alike = [row["on a usual day"] for row in shown["rounds"]]
    assert max(alike) - min(alike) < 0.2 * (max(told) - min(told))
    said = next(check for check in shown["health"] if check["name"] == "situations")["message"]
    assert "% of the variance" in said
    assert "requests" in said
    pictures = json.loads(run("plot", "city", "--json"))["pictures"]
    assert [path for path in pictures if path.endswith("city-situations.png")]
    assert all((tmp_path / path).stat().st_size > 1000 for path in pictures)


def test_days_called_by_their_date_say_the_date_and_the_kind_of_day(run, tmp_path):
    rows = ["date,station,agents,payoff,day"]
    rows += [f"2026-05-0{number},{name},4,{number},weekday" for number in (4, 5) for name in "abc"]
    (tmp_path / "past.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    run("import", "city", "past.csv")
    study = mfbo.load_study("city", f"sqlite:///{tmp_path / 'mfbo.db'}")
    assert [done.situation for done in study.rounds] == [
        {"day": "weekday", "date": 20_577.0},
        {"day": "weekday", "date": 20_578.0},
    ]


def test_a_wrong_weekday_is_mended_and_the_log_says_dates(run, tmp_path):
    run("ask", "city", "--situation", "day=weekday,date=2026-05-09")
    run("tell", "city", "--plan", 0, "--payoff", 2)
    run("amend", "city", "--plan", 0, "--situation", "day=weekend", "--by", "Ada")
    study = mfbo.load_study("city", f"sqlite:///{tmp_path / 'mfbo.db'}")
    assert study.rounds[0].situation == {"day": "weekend", "date": 20_582.0}
    assert "day weekday, date 2026-05-09" in run("log", "city")
