"""A study that a service keeps, used like a study of one's own."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any, Literal
from urllib.parse import quote

from mfbo.arrays import IntArray
from mfbo.cards import Card
from mfbo.client import wire
from mfbo.client.calls import Calls, LostAnswerError
from mfbo.client.saying import in_the_words_of, number_of, plain, said, taken_apart
from mfbo.errors import RoundStateError
from mfbo.parallel import run_rounds
from mfbo.population import Population
from mfbo.records import Feedback, Plan, Round
from mfbo.simplex import Moves
from mfbo.study import Explanation, LogEntry, Prediction, Study
from mfbo.study.outlook import FeedbackTold, Outlook
from mfbo.study.round_tables import rounds_frame

PAGE = 1000


class RemoteStudy:
    """The calls of ``mfbo.Study``, answered by a service; arguments and answers are the same, to the bit.

    Threads may share it. A call that does not get through is made again for as long as the connection has patience. An
    ask whose answer was lost is made again if it names its worker, who gets the same plan; a tell is looked up first.
    """

    def __init__(self, name: str, calls: Calls) -> None:
        """Use ``mfbo.connect``."""
        self.name = name
        self._calls = calls
        self._path = f"/studies/{quote(name, safe='')}"
        self.refresh()

    def __repr__(self) -> str:
        return Card(
            f"RemoteStudy {self.name!r}: {self.population.spoken}", (("strategy", self.strategy_name),)
        ).to_text()

    def to_frame(self, library: str | None = None, *, cells: bool = False) -> Any:
        """Return the rounds as a data frame, as ``Study.to_frame``; situations are not with it."""
        return rounds_frame(self.rounds, self.population, None, library, cells=cells)

    @property
    def population(self) -> Population:
        """Who is placed, as the service last said."""
        return self._population

    @property
    def seed(self) -> int:
        """The seed of every random draw."""
        return int(self._shown["seed"])

    @property
    def strategy_name(self) -> str:
        """The name of the strategy that plans."""
        return str(self._shown["strategy"])

    @property
    def placed(self) -> IntArray | None:
        """Whole agents as they stand now, (C, A); None if unknown."""
        self.refresh()
        return wire.whole(self._shown["placed"])

    @property
    def rounds(self) -> tuple[Round, ...]:
        """All rounds in the order of asks, whatever their state."""
        found: list[Round] = []
        while True:
            page = self._call("GET", f"/history?first={len(found)}&limit={PAGE}")
            found += [wire.round_of(record, self.population) for record in page["rounds"]]
            if len(found) >= page["total"] or not page["rounds"]:
                return tuple(found)

    @property
    def open_rounds(self) -> tuple[Round, ...]:
        """The rounds whose plans wait for their result, with who has them."""
        return tuple(wire.round_of(record, self.population) for record in self._call("GET", "/plans")["rounds"])

    def refresh(self) -> None:
        """Read who is placed, and where they stand, again."""
        self._shown: dict[str, Any] = self._call("GET", "")
        self._population = wire.population_of(self._shown["population"])

    @in_the_words_of(Study.ask)
    def ask(self, words: dict[str, Any]) -> Plan:
        """Return the next plan, as ``Study.ask``."""
        again = words["worker"] is not None
        answer = self._call("POST", "/plans", said(self.population, **words), again=again)
        return wire.plan_of(answer, self.population)

    def ask_best(self, worker: str | None = None, *, situation: Any = None) -> Plan:
        """Return the best plan believed in as the next one, as ``Study.ask_best``."""
        words = {"worker": worker, **said(self.population, situation=situation)}
        return wire.plan_of(self._call("POST", "/plans/best", words, again=False), self.population)

    def attach(self, distribution: Any, worker: str | None = None, *, situation: Any = None) -> Plan:
        """Take a plan of your own as the next one, as ``Study.attach``."""
        words = {"worker": worker, **said(self.population, distribution=distribution, situation=situation)}
        return wire.plan_of(self._call("POST", "/plans/attach", words, again=False), self.population)

    @in_the_words_of(Study.tell)
    def tell(self, words: dict[str, Any]) -> Round:
        """Record what a plan brought, as ``Study.tell``."""
        number = number_of(words.pop("plan"))
        words = said(self.population, **taken_apart(words))

        def is_mine(found: Round) -> bool:
            return found.state == "done" and words.get("payoff") in (None, found.as_told)

        return self._ended(number, "result", words, is_mine)

    def fail(self, plan: Plan | int, reason: str, *, placed: Any = None, allow_misfit: bool = False) -> Round:
        """Record that a plan was carried out and brought no result, as ``Study.fail``."""
        words = {"reason": reason, **said(self.population, placed=placed), "allow_misfit": allow_misfit}
        return self._ended(number_of(plan), "fail", words, lambda found: found.state == "failed")

    def abandon(self, plan: Plan | int) -> Round:
        """Record that a plan will not be tried."""
        return self._ended(number_of(plan), "abandon", None, lambda found: found.state == "abandoned")

    @in_the_words_of(Study.amend)
    def amend(self, words: dict[str, Any]) -> Round:
        """Say what a told plan really brought, as ``Study.amend``."""
        number = number_of(words.pop("plan"))
        words = said(self.population, **taken_apart(words))
        answer = self._call("PATCH", f"/plans/{number}/result", words, again=False)
        return wire.round_of(answer, self.population)

    def withdraw(self, plan: Plan | int, *, by: str = "", reason: str = "") -> Round:
        """Say that a plan that was told or failed never happened."""
        return self._corrected(plan, "withdraw", by, reason)

    def reinstate(self, plan: Plan | int, *, by: str = "", reason: str = "") -> Round:
        """Say that a withdrawn plan did happen."""
        return self._corrected(plan, "reinstate", by, reason)

    def add_missing(self, days: Any, *, new_categories: bool = False) -> list[Round]:
        """Record past days, except those added before, as ``Study.add_missing``."""
        listed = []
        for distribution, payoff, *more in days:
            situation, size, *_ = (*list(more), None, None)
            day = {"distribution": distribution, "payoff": payoff, "situation": situation, "size": size}
            listed.append(said(self.population, **day))
        words = {"days": listed, "new_categories": new_categories}
        return [wire.round_of(record, self.population) for record in self._call("POST", "/days", words)["rounds"]]

    def change(self, *, by: str = "", reason: str = "", **changes: Any) -> Population:
        """Change who is placed from now on, as ``Study.change``."""
        words = said(self.population, **changes)
        record = self._call("POST", "/change", {"by": by, "reason": reason, **words}, again=False)
        self.refresh()
        return wire.population_of(record)

    def recommend(self, situation: Any = None) -> Plan:
        """Return the plan to keep, as ``Study.recommend``."""
        return wire.plan_of(
            self._call("POST", "/recommend", said(self.population, situation=situation)), self.population
        )

    def predict(self, distribution: Any, situation: Any = None) -> Prediction:
        """Return what the model expects of a distribution, as ``Study.predict``."""
        words = said(self.population, distribution=distribution, situation=situation)
        return wire.prediction_of(self._call("POST", "/predict", words))

    def explain(self, distribution: Any = None, situation: Any = None) -> Explanation:
        """Return a prediction, and what moving one agent changes, as ``Study.explain``."""
        words = said(self.population, distribution=distribution, situation=situation)
        return wire.explanation_of(self._call("POST", "/explain", words), self.population)

    def outlook(
        self, rounds: int = 30, *, feedback: FeedbackTold = "payoff", simulations: int = 8, situation: Any = None
    ) -> Outlook:
        """Return what further rounds are expected to bring, as ``Study.outlook``."""
        words = {"rounds": rounds, "feedback": feedback, "simulations": simulations}
        return wire.outlook_of(self._call("POST", "/outlook", {**words, **said(self.population, situation=situation)}))

    def health(self) -> list[dict[str, Any]]:
        """Say whether the study is still to be trusted: name, ok, message and value of every check."""
        return list(self._call("GET", "/health")["checks"])

    def log(self) -> list[LogEntry]:
        """Return all that was ever said of this study, in its order."""
        found: list[LogEntry] = []
        while True:
            page = self._call("GET", f"/log?first={len(found)}&limit={PAGE}")
            found += [LogEntry(**entry) for entry in page["entries"]]
            if len(found) >= page["total"] or not page["entries"]:
                return found

    def moves(self, plan: Plan) -> Moves | None:
        """Return what leads from where agents stand to a plan; None if either is not known in whole agents."""
        placed = self.placed
        return None if placed is None or plan.allocation is None else Moves.between(placed, plan.allocation)

    def export(self, format: Literal["csv", "json", "parquet", "mfbo"] = "csv") -> bytes:
        """Return all rounds as the content of a file."""
        return self._calls.content("GET", f"{self._path}/export?format={format}")

    def events(self, first: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield what happens to the study, by whomever, from an entry of its log on; it ends when the service stops."""
        start = "" if first is None else f"?first={first}"
        with self._calls.opened(f"{self._path}/events{start}") as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])

    def run(
        self,
        payoff: Callable[[Plan], "float | Feedback"],
        rounds: int,
        *,
        workers: int = 4,
        executor: Executor | None = None,
        on_error: Literal["stop", "continue"] = "continue",
        progress: Callable[[Round], None] | None = None,
    ) -> list[Round]:
        """Play rounds, as ``Study.run``."""
        return run_rounds(self, payoff, rounds, workers, executor, on_error=on_error, progress=progress)

    def _call(self, method: str, path: str, words: dict[str, Any] | None = None, *, again: bool = True) -> Any:
        return self._calls.call(method, self._path + path, None if words is None else plain(words), again=again)

    def _ended(self, number: int, what: str, words: dict[str, Any] | None, is_mine: Callable[[Round], bool]) -> Round:
        """End a plan; if the answer is lost, look what became of it."""
        path = f"/plans/{number}/{what}"
        while True:
            try:
                return wire.round_of(self._call("POST", path, words, again=False), self.population)
            except LostAnswerError:
                found = wire.round_of(self._call("GET", f"/plans/{number}"), self.population)
            if is_mine(found):
                return found
            if found.state != "open":
                raise RoundStateError(f"plan {number} is already {found.state}; ask for a new plan to tell more")

    def _corrected(self, plan: Plan | int, what: str, by: str, reason: str) -> Round:
        words = {"by": by, "reason": reason}
        return wire.round_of(
            self._call("POST", f"/plans/{number_of(plan)}/{what}", words, again=False), self.population
        )
