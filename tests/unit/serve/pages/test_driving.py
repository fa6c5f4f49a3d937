"""The driver's tour does every move, never holds too much, and calls at the depot only if it must."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from mfbo.serve.pages.views.driving import Place, tour

CHANGES = st.lists(st.integers(-30, 30), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(CHANGES, st.integers(1, 25))
def test_every_move_is_done_within_the_vehicle(changes, vehicle):
    places = [
        Place(f"s{number}", float(number % 4), float(number // 4), change) for number, change in enumerate(changes)
    ]
    done, load = Counter(), 0
    for visit in tour(places, vehicle):
        load -= visit.change
        assert load == visit.load
        assert 0 <= load <= vehicle
        done[visit.place] += visit.change
    assert load == 0
    assert {place: done[place] for place in places if place.change} == {p: p.change for p in places if p.change}
    assert done[None] == -sum(changes)


def test_it_begins_where_most_is_taken_and_goes_on_nearby():
    places = [Place("far", 9, 9, 2), Place("most", 0, 0, -5), Place("near", 0, 1, 3), Place("idle", 5, 5, 0)]
    assert [visit.place.name for visit in tour(places, 20)] == ["most", "near", "far"]


def test_without_moves_there_is_no_tour():
    assert tour([Place("a", 0, 0, 0)], 5) == []


def test_agents_that_stand_nowhere_come_from_the_depot():
    visits = tour([Place("a", 0, 0, 3)], 2)
    assert [(visit.place is None, visit.change) for visit in visits] == [(True, -2), (False, 2), (True, -1), (False, 1)]
