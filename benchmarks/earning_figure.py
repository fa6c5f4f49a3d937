"""The picture of a month: what each day earned against the status quo, what the guard said, how far plans stepped."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mfbo.plotting.figures import drawn, save_figure

SIZE = (7.0, 5.0)
COLORS = ("#0072b2", "#d55e00", "#009e73", "#e69f00")  # Okabe–Ito
MARKS = {"free": "o", "shortened": "v", "best": "s", "status quo": "s"}
WORDS = {"free": "the plan itself", "shortened": "shortened by the guard", "best": "the best plan again"}


@dataclass
class Month:
    """Days in order: true value in what the status quo earns; the guard's word and the step, where they were noted."""

    values: list[float] = field(default_factory=list)
    guards: list[str | None] = field(default_factory=list)
    steps: list[float | None] = field(default_factory=list)

    def played(self, value: float, notes: Mapping[str, Any]) -> None:
        """Add a day."""
        self.values.append(value)
        self.guards.append(notes["guard"][0] if "guard" in notes else None)
        self.steps.append(float(notes["step"][0]) if "step" in notes else None)


def draw(path: Path, title: str, months: Mapping[str, Month], risk: float) -> list[Path]:
    """Draw months by strategy, path.png and path.svg; risk: what a day may cost. Return the files."""
    rows: dict[str, Any] = {"nrows": 2, "sharex": True, "height_ratios": (3, 1)}
    with drawn(SIZE, **rows) as ((above, below), figure):
        above.axhline(1.0, color="black", linewidth=0.9, label="status quo")
        above.axhline(1.0 - risk, color="black", linewidth=0.9, linestyle=":", label=f"{risk:.0%} below it")
        for (strategy, month), color in zip(months.items(), COLORS, strict=False):
            days = range(1, len(month.values) + 1)
            above.plot(days, month.values, color=color, linewidth=1.4, label=strategy)
            _mark(above, month, color)
            if any(step is not None for step in month.steps):
                shares = [float("nan") if step is None else 100.0 * step for step in month.steps]
                below.step(days, shares, color=color, linewidth=1.4, where="mid")
        above.set_title(title)
        above.set_ylabel("rides, status quo = 1")
        below.set_ylabel("step, %")
        below.set_ylim(bottom=0.0)
        below.set_xlabel("day")
        below.legend(
            *above.get_legend_handles_labels(), frameon=False, fontsize=8, ncols=3,
            loc="upper center", bbox_to_anchor=(0.5, -0.55),
        )  # fmt: skip
    return save_figure(figure, path)


def _mark(axes: Any, month: Month, color: str) -> None:
    """Mark the days on which the guard spoke, by what it said."""
    for word, label in WORDS.items():
        same = {word, "status quo"} if word == "best" else {word}
        days = [day for day, guard in enumerate(month.guards) if guard in same]
        if days:
            places = [day + 1 for day in days], [month.values[day] for day in days]
            axes.plot(*places, MARKS[word], color=color, markersize=4.5, linestyle="none", label=label)
