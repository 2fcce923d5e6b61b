"""What docs/sensitivity.md says about the formulas of Pace and Burden."""

from itertools import pairwise

import pytest

from benchmarks import sensitivity_claims as claims


def test_equation_13_has_no_jump_for_plastic_impacts():
    assert claims.nested_projections() < 1e-12


@pytest.mark.parametrize(
    ("cosine", "spread"), [(-0.9, 0.0), (-0.5, 0.0), (-0.1, 0.0), (0.1, 0.10), (0.5, 0.43), (0.9, 0.39)]
)
def test_of_two_contacts_only_a_positive_cosine_matters(cosine, spread):
    assert claims.two_contacts(cosine) == pytest.approx(spread, abs=5e-3)


def test_with_a_third_contact_a_negative_cosine_decides_nothing():
    matters, seen = claims.third_contact(60)
    assert 0.25 * seen < matters < 0.75 * seen


def test_equation_19_takes_a_bounced_contact_back_into_its_surface():
    again, alone = claims.bounced_again()
    assert again < -0.2 and alone > 0.5


def test_selections_of_two_activations_differ_by_a_matrix_of_rank_one():
    size, off, rank = claims.selections(0.8)
    assert rank == 1 and size > 1.0 and off < 1e-12 * size
    assert claims.selections(0.0)[0] < 1e-12


@pytest.mark.parametrize("coupling", [0.0, 1.0])
def test_a_touchdown_as_another_contact_is_released_leaves_no_first_order_difference(coupling):
    # Against the caption of Pace, Fig. 2: what differs falls with the step.
    coarse, fine = claims.mixed_case(coupling, 1e-3), claims.mixed_case(coupling, 1e-4)
    assert coarse < 3e-3 and fine < 0.2 * coarse


def test_equation_20_lacks_how_restitution_changes_with_speed():
    with_term, without, size = claims.varying_restitution(1e-3)
    fine = claims.varying_restitution(5e-4)[0]
    assert with_term < 1e-5 * size and fine < 0.3 * with_term
    assert without > 0.3 * size


def test_with_a_damper_on_the_feet_s_mean_the_active_selection_is_right_and_the_other_stalls():
    apart, active, passive = claims.both_selections((1e-3, 1e-4, 1e-5))
    assert apart == pytest.approx(0.178, abs=2e-3)
    for coarse, fine in pairwise(active):
        assert fine == pytest.approx(0.1 * coarse, rel=0.1)
    assert passive[-1] == pytest.approx(apart, rel=0.05) and active[-1] < 1e-3


def test_simultaneous_liftoffs_leave_no_first_order_difference():
    # Pace, Fig. 3: what differs falls with the step.
    coarse, fine = claims.simultaneous_liftoff(1e-3), claims.simultaneous_liftoff(1e-4)
    assert coarse < 3e-2 and fine < 0.2 * coarse
