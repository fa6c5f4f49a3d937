"""What an object says of itself in a terminal and in a notebook: one card, as a line of text and as HTML."""

from mfbo.cards.card import Card, CardTable, Shown, amount, in_short
from mfbo.cards.inline_svg import bar_list, payoff_points, place_dots

__all__ = ["Card", "CardTable", "Shown", "amount", "bar_list", "in_short", "payoff_points", "place_dots"]
