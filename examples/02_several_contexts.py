"""Two kinds of agents, feedback from ten of them per round, and what the model expects of a plan."""

import mfbo
from mfbo.problems import FeedbackKind, Observer

arena = mfbo.make_problem("arena").with_size(50)
look = Observer(arena, FeedbackKind.parse("agents:10"), seed=0)

study = mfbo.create_study(arena.population, seed=0)
for _ in range(40):
    plan = study.ask()
    study.tell(plan, look(plan))

recommended = study.recommend()
expected = study.predict(recommended.distribution)
print(f"optimum {arena.known_optimum.value:.4f}, recommended plan {arena.value(recommended):.4f}")
print(f"the model expects {expected.mean:.4f} ± {expected.sd:.4f}")
