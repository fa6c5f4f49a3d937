"""A study for programs that must not wait: every call is awaited, and runs in a thread meanwhile."""

import asyncio
from typing import Any

from mfbo.client.remote_study import RemoteStudy
from mfbo.population import Population
from mfbo.records import Plan, Round
from mfbo.study import Explanation, LogEntry, Prediction, Study
from mfbo.study.outlook import Outlook


class AsyncStudy:
    """A local study, or that of a service, whose calls are awaited; arguments and answers are the study's own."""

    def __init__(self, study: Study | RemoteStudy) -> None:
        """Take the study of ``create_study``, ``load_study`` or ``connect``."""
        self.study: Any = study

    @property
    def name(self) -> str:
        """The name under which it is stored."""
        return str(self.study.name)

    @property
    def population(self) -> Population:
        """Who is placed."""
        population: Population = self.study.population
        return population

    async def ask(self, worker: str | None = None, **words: Any) -> Plan:
        """Return the next plan."""
        return await asyncio.to_thread(self.study.ask, worker, **words)

    async def ask_best(self, worker: str | None = None, **words: Any) -> Plan:
        """Return the best plan believed in as the next one."""
        return await asyncio.to_thread(self.study.ask_best, worker, **words)

    async def attach(self, distribution: Any, worker: str | None = None, **words: Any) -> Plan:
        """Take a plan of your own as the next one."""
        return await asyncio.to_thread(self.study.attach, distribution, worker, **words)

    async def tell(self, plan: Plan | int, payoff: Any = None, **words: Any) -> Round:
        """Record what a plan brought."""
        return await asyncio.to_thread(self.study.tell, plan, payoff, **words)

    async def fail(self, plan: Plan | int, reason: str, **words: Any) -> Round:
        """Record that a plan was carried out and brought no result."""
        return await asyncio.to_thread(self.study.fail, plan, reason, **words)

    async def abandon(self, plan: Plan | int) -> Round:
        """Record that a plan will not be tried."""
        return await asyncio.to_thread(self.study.abandon, plan)

    async def amend(self, plan: Plan | int, payoff: Any = None, **words: Any) -> Round:
        """Say what a told plan really brought."""
        return await asyncio.to_thread(self.study.amend, plan, payoff, **words)

    async def withdraw(self, plan: Plan | int, **words: Any) -> Round:
        """Say that a plan never happened."""
        return await asyncio.to_thread(self.study.withdraw, plan, **words)

    async def reinstate(self, plan: Plan | int, **words: Any) -> Round:
        """Say that a withdrawn plan did happen."""
        return await asyncio.to_thread(self.study.reinstate, plan, **words)

    async def change(self, **changes: Any) -> Population:
        """Change who is placed from now on."""
        return await asyncio.to_thread(self.study.change, **changes)

    async def recommend(self, situation: Any = None) -> Plan:
        """Return the plan to keep."""
        return await asyncio.to_thread(self.study.recommend, situation)

    async def predict(self, distribution: Any, situation: Any = None) -> Prediction:
        """Return what the model expects of a distribution."""
        return await asyncio.to_thread(self.study.predict, distribution, situation)

    async def explain(self, distribution: Any = None, situation: Any = None) -> Explanation:
        """Return a prediction, and what moving one agent changes."""
        return await asyncio.to_thread(self.study.explain, distribution, situation)

    async def outlook(self, rounds: int = 30, **words: Any) -> Outlook:
        """Return what further rounds are expected to bring."""
        return await asyncio.to_thread(self.study.outlook, rounds, **words)

    async def rounds(self) -> tuple[Round, ...]:
        """Return all rounds, with what others did meanwhile."""

        def read() -> tuple[Round, ...]:
            self.study.refresh()
            found: tuple[Round, ...] = self.study.rounds
            return found

        return await asyncio.to_thread(read)

    async def log(self) -> list[LogEntry]:
        """Return all that was ever said of this study."""
        return await asyncio.to_thread(self.study.log)
