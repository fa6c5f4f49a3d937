"""`/api/v1/studies/{name}/…`: what a study answers without changing."""

from typing import Any

from fastapi import APIRouter

from mfbo.client import wire
from mfbo.health import health as health_of
from mfbo.serve.api import answers
from mfbo.serve.api.words import ExplainWords, OutlookWords, PredictWords, SituationWords, by_cell
from mfbo.serve.desk import GivenDesk
from mfbo.serve.names import StudyName
from mfbo.serve.strict_json import StrictRoute
from mfbo.study import Study

router = APIRouter(route_class=StrictRoute, prefix="/studies/{name}", tags=["questions"])


@router.post("/recommend", response_model=answers.PlanAnswer)
async def recommend(name: StudyName, words: SituationWords, desk: GivenDesk) -> Any:
    """Return the plan to keep: of the visited ones, that with the highest expected payoff."""
    return await desk.look(name, lambda study: wire.plan_record(study.recommend(words.situation)))


@router.post("/predict", response_model=answers.Prediction)
async def predict(name: StudyName, words: PredictWords, desk: GivenDesk) -> Any:
    """Return what the model expects of a distribution."""

    def predicted(study: Study) -> Any:
        return wire.prediction_record(study.predict(by_cell(words.distribution), words.situation))

    return await desk.look(name, predicted)


@router.post("/explain", response_model=answers.Explanation)
async def explain(name: StudyName, words: ExplainWords, desk: GivenDesk) -> Any:
    """Return what the model expects of a plan, and what moving one agent would change."""

    def explained(study: Study) -> Any:
        return wire.explanation_record(study.explain(by_cell(words.distribution), words.situation))

    return await desk.look(name, explained)


@router.post("/outlook", response_model=answers.OutlookAnswer)
async def outlook(name: StudyName, words: OutlookWords, desk: GivenDesk) -> Any:
    """Return what further rounds are expected to bring; it takes a while, and nobody else waits for it."""
    return await desk.simulate(name, lambda study: wire.outlook_record(study.outlook(**words.given())))


@router.get("/health", response_model=answers.Health)
async def health(name: StudyName, desk: GivenDesk) -> Any:
    """Say whether a study is still to be trusted."""

    def checked(study: Study) -> Any:
        return {"checks": [{**vars(check), "value": _known(check.value)} for check in health_of(study)]}

    return await desk.look(name, checked)


def _known(value: float | None) -> float | None:
    return None if value is None or value != value else float(value)
