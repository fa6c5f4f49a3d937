"""Words can be read on every ground, in light and in dark: contrast as WCAG 2.2 asks, computed from the style sheet."""

import re
from itertools import product

import pytest

from mfbo.serve.pages.rendering import STATIC

LEAST = 4.5  # for texts of usual size
TEXTS = ("ink", "muted", "accent", "bring", "take")
GROUNDS = ("back", "surface")
PAIRS = [
    *product(TEXTS, GROUNDS),
    ("on-accent", "accent"),
    ("good", "good-back"),
    ("bad", "bad-back"),
    ("ink", "bad-back"),
]


def _luminance(color):
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(scheme):
    sheet = (STATIC / "mfbo.css").read_text()
    light, dark = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)[:2]
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light))
    if scheme == "dark":
        colors |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark))
    poor = {pair: _contrast(colors[pair[0]], colors[pair[1]]) for pair in PAIRS}
    assert {pair: value for pair, value in poor.items() if value < LEAST} == {}
