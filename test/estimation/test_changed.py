"""Copies of frozen records: as dataclasses.replace makes them, and no field by another name."""

from dataclasses import FrozenInstanceError, dataclass, fields, replace

import numpy as np
import pytest

from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.prediction import ImpactPrediction


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float = 2.0


def test_it_is_what_replace_makes_and_frozen_again():
    point = Point(1.0)
    found = changed(point, y=3.0)
    assert found == replace(point, y=3.0) and point == Point(1.0, 2.0) and type(found) is Point
    assert changed(point) == point and changed(point) is not point
    with pytest.raises(FrozenInstanceError):
        found.x = 0.0


def test_a_field_by_another_name_is_refused():
    with pytest.raises(TypeError, match="Point has no field z"):
        changed(Point(1.0), x=0.0, z=1.0)


@pytest.mark.parametrize("kind", [ImpactAhead, ImpactPrediction])
def test_every_field_of_what_sets_are_made_of_is_copied(kind):
    record = kind(**{field.name: np.array(i) for i, field in enumerate(fields(kind))})
    for field in fields(kind):
        found = changed(record, **{field.name: "other"})
        for other in fields(kind):
            same = getattr(record, other.name)
            assert getattr(found, other.name) == "other" if other is field else getattr(found, other.name) is same
