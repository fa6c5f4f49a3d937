"""What is kept of a study: plans, feedback, rounds, history. Frozen, and checked at birth."""

from mfbo.records.distributions import read_distribution
from mfbo.records.history import RISK, Aim, History
from mfbo.records.lifting import before_change, lifted, padded, padded_shares
from mfbo.records.plan import Note, Notes, Plan, Proposal
from mfbo.records.rounds import Feedback, Lease, PayoffRange, Round, RoundState, told_payoff
from mfbo.records.told_values import read_assignment

__all__ = [
    "RISK",
    "Aim",
    "Feedback",
    "History",
    "Lease",
    "Note",
    "Notes",
    "PayoffRange",
    "Plan",
    "Proposal",
    "Round",
    "RoundState",
    "before_change",
    "lifted",
    "padded",
    "padded_shares",
    "read_assignment",
    "read_distribution",
    "told_payoff",
]
