"""When to stop before all rounds are played: a target is reached, nothing is gained for long, or the time is up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfbo.records import Round, told_payoff
from mfbo.validation import finite_number, positive, whole_number


@dataclass(frozen=True)
class StopWhen:
    """Any of these ends ``maximize``; None: that one does not.

    target: a told payoff as high as this. no_gain: so many told rounds since the best one. seconds: time that has
    passed at the end of a round.
    """

    target: float | None = None
    no_gain: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.target is not None:
            finite_number(self.target, "target")
        if self.no_gain is not None:
            whole_number(self.no_gain, "no_gain", least=1)
        if self.seconds is not None:
            positive(self.seconds, "seconds")

    def reason(self, told: Sequence[Round], seconds: float) -> str:
        """Say why to stop after these told rounds and this time; empty to go on."""
        if self.seconds is not None and seconds >= self.seconds:
            return f"{self.seconds:g} seconds have passed"
        payoffs = [told_payoff(done) for done in told]
        if self.target is not None and payoffs and max(payoffs) >= self.target:
            return f"the target {self.target:g} is reached"
        if self.no_gain is not None and payoffs and len(payoffs) - 1 - int(np.argmax(payoffs)) >= self.no_gain:
            return f"{self.no_gain} told rounds brought no gain"
        return ""
