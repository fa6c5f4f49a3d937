"""Proposals and plans: what a strategy answers, and what is tried in one round."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfbo.arrays import FloatArray, IntArray, read_only
from mfbo.cards import Card, Shown
from mfbo.errors import InvalidInputError
from mfbo.frames import data_frame
from mfbo.population import CellLabels
from mfbo.records.placement_card import called, placement_drawings, placement_table, spread
from mfbo.simplex import realized
from mfbo.validation import distribution_array, said, unique_names, whole_number

Note = tuple[float | str, ...]
Notes = Mapping[str, Note]


@dataclass(frozen=True, eq=False)
class Proposal:
    """What a strategy answers: a distribution (C, A), and numbers and words it wants to find again in the history.

    assignment: the action of every single agent (M,), agents ordered by context, from strategies that place agents one
    by one; then the distribution is theirs.
    """

    distribution: FloatArray
    notes: Notes = field(default_factory=dict)
    assignment: IntArray | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Shown):
    """What to try in one round: where which share of the agents goes, and the same in whole agents.

    number: the round it belongs to, counted from 0.
    distribution: ξ (C, A), rows sum to 1.
    allocation: whole agents (C, A), or None in the mean-field limit.
    assignment: the action of every single agent (M,), agents ordered by context; None unless the strategy says so.
    labels: what contexts and actions are called and where they lie; None in a plan made by hand.
    """

    number: int
    distribution: FloatArray
    allocation: IntArray | None = None
    assignment: IntArray | None = None
    labels: CellLabels | None = None

    @property
    def realized(self) -> FloatArray:
        """What is really played when the plan is carried out: the allocation as shares, (C, A)."""
        if self.allocation is None:
            return self.distribution
        return realized(self.allocation, self.distribution)

    def to_frame(self, library: str | None = None) -> Any:
        """Return the plan as a data frame with a row for each cell: context, action, share and agents.

        library: "pandas", "polars" or "pyarrow"; the first of these that is installed by default. Shares are what is
        really played. ``predict``, ``add``, ``tell`` and ``placed=`` take such a frame again.
        """
        shape = self.distribution.shape
        contexts, actions = called(self.labels, shape)
        columns: dict[str, list[Any]] = {
            "context": [context for context in contexts for _ in actions],
            "action": [action for _ in contexts for action in actions],
            "share": self.realized.ravel().tolist(),
            "agents": [None] * self.realized.size if self.allocation is None else self.allocation.ravel().tolist(),
        }
        return data_frame(columns, library)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan in plain values, for JSON; ``from_dict`` reads it again, to the bit."""
        labels = self.labels
        places = None if labels is None or labels.places is None else labels.places.tolist()
        return {
            "number": int(self.number),
            "contexts": None if labels is None else list(labels.contexts),
            "actions": None if labels is None else list(labels.actions),
            "weights": None if labels is None else labels.weights.tolist(),
            "places": places,
            "geographic": labels is not None and labels.geographic,
            "distribution": self.distribution.tolist(),
            "allocation": None if self.allocation is None else self.allocation.tolist(),
            "assignment": None if self.assignment is None else self.assignment.tolist(),
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Plan":
        """Read what ``to_dict`` returned; refuse what is not a plan."""
        try:
            number = whole_number(record["number"], "number", least=0)
            shares = np.asarray(read_only(record["distribution"]))
            distribution_array(shares, "distribution", *shares.shape)
            allocation = _whole(record.get("allocation"), shares.shape, "allocation")
            assignment = _whole(record.get("assignment"), None, "assignment")
            return cls(number, shares, allocation, assignment, _labels_of(record, shares.shape))
        except InvalidInputError as error:
            raise InvalidInputError(f"this is not a plan as to_dict writes it: {error}") from error
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            what = f"{type(error).__name__}, {error}"
            raise InvalidInputError(f"this is not a plan as to_dict writes it: {what}") from error

    def _card(self) -> Card:
        amounts = (self.labels, self.realized, self.allocation)
        return Card(
            f"Plan {self.number}: {spread(*amounts)}", (), placement_drawings(*amounts), placement_table(*amounts)
        )


def _whole(values: Any, shape: tuple[int, ...] | None, name: str) -> IntArray | None:
    if values is None:
        return None
    array = np.asarray(values)
    if array.dtype.kind != "i" or (array < 0).any() or (shape is not None and array.shape != shape):
        raise InvalidInputError(f"{name} must hold whole numbers of the distribution's shape, not {said(values)}")
    return np.asarray(read_only(array, np.int64 if shape is not None else np.int32))


def _labels_of(record: Mapping[str, Any], shape: tuple[int, ...]) -> CellLabels | None:
    if record.get("actions") is None:
        return None
    contexts, actions = unique_names(record["contexts"], "contexts"), unique_names(record["actions"], "actions")
    weights, places = read_only(record["weights"]), record.get("places")
    places = None if places is None else read_only(places)
    if (len(contexts), len(actions)) != shape or weights.shape != shape[:1]:
        raise InvalidInputError(f"names and weights of {len(contexts)} × {len(actions)} cells do not fit {shape}")
    if places is not None and (places.shape != (len(actions), 2) or not np.isfinite(places).all()):
        raise InvalidInputError(f"places must be {len(actions)} pairs of numbers")
    return CellLabels(contexts, actions, weights, places, bool(record.get("geographic")))
