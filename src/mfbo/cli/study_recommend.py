"""`mfbo study recommend`: the plan to keep, the moves that lead to it, and how many rounds they take."""

from shlex import quote

from mfbo.cli.output import STANDARD_OUTPUT, check_out, counted, print_json, print_table, say, write_out
from mfbo.cli.study_commands import Recommend
from mfbo.errors import InvalidInputError
from mfbo.sheets import plan_rows, rows_csv
from mfbo.study import load_study
from mfbo.written_situations import situation_of_text


def recommend(options: Recommend) -> None:
    """Write or print it; nothing is asked."""
    name, out = options.name, options.out
    if options.json and out == STANDARD_OUTPUT:
        raise InvalidInputError("--json and --out - both write to standard output: leave one of them out")
    if out is not None:
        check_out(out)
    study = load_study(name, options.storage)
    plan = study.recommend(situation_of_text(options.situation, study.history.situations))
    moves, rounds = study.moves(plan), study.rounds_to(plan)
    rows = plan_rows(plan, study.population, moves)
    if out is not None:
        write_out(out, rows_csv(rows).encode())
    if out == STANDARD_OUTPUT:
        return
    moved = None if moves is None else moves.moved
    if options.json:
        print_json({"study": name, "rows": rows, "moved": moved, "rounds": rounds, "file": out and str(out)})
        return
    to_move = "" if moved is None else f": {counted(moved, 'agent')} to move"
    say(f"recommended by study {name!r}{to_move}")
    if rounds is not None and rounds > 1:
        say(f"under the move budget it takes {rounds} rounds: mfbo study ask {quote(name)} --best goes a round's way")
    if out is not None:
        say(f"written: {out}")
        return
    shown = [["" if value is None else value for value in row.values()] for row in rows]
    print_table("", list(rows[0]), shown)
