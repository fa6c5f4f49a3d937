"""The swarm: who stands at which angle, below the reward that draws everyone to π/2."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mfbo.plotting.figures import Figure, drawn
from mfbo.plotting.panels import DEMAND_COLOR, PLAN_COLOR, Panel, headline
from mfbo.problems import Problem
from mfbo.problems.pictures import RewardPicture

TICKS = {0.0: "0", np.pi / 2: "π/2", np.pi: "π", 3 * np.pi / 2: "3π/2", 2 * np.pi: "2π"}


def swarm_bars(problem: Problem, picture: RewardPicture, panels: Sequence[Panel]) -> Figure:
    """Draw the reward over the angle and, below it, the shares of all panels as bars."""
    angles = picture.angles
    heights = {"height_ratios": [1, 1.6]}
    with drawn((6.4, 5.0), nrows=2, sharex=True, gridspec_kw=heights) as ((reward, shares), figure):
        _draw_reward(reward, picture)
        width = float(np.diff(angles).min()) * 0.9 / len(panels) if len(angles) > 1 else 0.1
        for position, panel in enumerate(panels):
            shift = (position - (len(panels) - 1) / 2) * width
            color = PLAN_COLOR if panel.is_plan else DEMAND_COLOR
            shares.bar(angles + shift, panel.shares, width=width, color=color, label=panel.title, linewidth=0)
        shares.set_ylabel("share of agents")
        shares.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        shares.set_xlabel("angle")
        shares.set_xticks(list(TICKS), list(TICKS.values()))
        shares.legend(frameon=False, loc="upper right")
        headline(reward.figure, problem)
    return figure


def _draw_reward(axes: Any, picture: RewardPicture) -> None:
    angles = picture.angles
    fine = np.linspace(angles.min(), angles.max(), 400)
    axes.axhline(0, color="#cccccc", linewidth=0.8)
    axes.plot(fine, picture.reward(fine), color="#444444", linewidth=1.4)
    axes.plot(angles, picture.reward(angles), ".", color="#444444", markersize=4)
    axes.set_ylabel("reward φ")
