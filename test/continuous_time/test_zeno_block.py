"""The rocking block of H §4.3 through its Zeno point, against quadrature and the published implementation."""

import json
from math import asin, cos, hypot, sin

import numpy as np
import pytest
from scipy.integrate import quad

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.continuous_time.continuous_path import Phase
from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
from hybrid_contact_ros.systems.zeno_block import GRAVITY, MASS, apex, contraction, zeno_block, zeno_state

# Of the block alone, written down again: I + m r², m g r, α, and the impulses of an impact at 1 rad/s.
POLAR = 5 / 12 + 1.25
WEIGHT, ALPHA = 9.81 * hypot(0.5, 1.0), np.arctan2(2.0, 1.0)
IMPULSE = 0.85  # Λ_n of (66): m (0.7 + 1)/2 · w


def swing(rate):
    """Time and ∫ λ_n dt of a half cycle that begins with ``rate``, by quadrature over θ = θ* (1 − z²)."""
    top = asin(POLAR * rate**2 / (2 * WEIGHT) + sin(ALPHA)) - ALPHA

    def density(z):  # dt/dz; the root of the energy is taken out of the integrand at the apex
        angle = top * (1 - z**2)
        chord = 2 * cos(ALPHA + 0.5 * (top + angle)) * sin(0.5 * top * z**2)  # sin(θ* + α) − sin(θ + α)
        return 2 * top * z / np.sqrt(2 * WEIGHT * chord / POLAR)

    time = 2 * quad(density, 0, 1, epsabs=1e-14, epsrel=1e-12)[0]
    rise = 0.5 * rate  # ẏ at the beginning; −rise at the end
    return time, MASS * GRAVITY * time - 2 * MASS * rise


@pytest.fixture(scope="module")
def path():
    return continuous_time_path(zeno_block(), *zeno_state(), 3.0)


@pytest.fixture(scope="module")
def impacts():
    """t, s and θ̇ at the ends of the first 20 impacts, without any extrapolation."""
    found = continuous_time_path(zeno_block(), *zeno_state(), 2.67, zeno_tolerance=0.0)
    ends = [piece.stop for piece in found.pieces if piece.phase is Phase.IMPACT]
    return found.t[ends], found.s[ends], found.v[ends, 2]


def limits():
    """t* and s* by quadrature of 90 half cycles."""
    t = s = 0.0
    rate = 1.0
    for _ in range(90):
        if rate > 1e-6:
            time, push = swing(rate)
        else:  # a parabola
            time = 2 * rate * POLAR / (WEIGHT * cos(ALPHA))
            push = MASS * GRAVITY * time - MASS * rate
        t, s = t + time, s + time + push + IMPULSE * rate
        rate *= 0.7
    return t, s


def test_accumulation_point_is_that_of_quadrature_and_of_the_paper(path):
    (found,) = path.accumulations
    t, s = limits()
    assert path.status is Status.SOLVED
    assert found.t == pytest.approx(t, abs=2e-8) and found.s == pytest.approx(s, abs=2e-7)
    assert abs(found.t - t) < found.error
    assert found.t == pytest.approx(2.67, abs=5e-3) and found.s == pytest.approx(28.4, abs=5e-2)
    assert found.contacts == (0, 1) and found.period == 2


def test_every_impact_is_where_the_reference_has_it(path, impacts, shared):
    file = shared / "reference" / "routh" / "zeno_block" / "zeno.json"
    if not file.is_file():
        pytest.skip(f"no {file.name} in the reference data")
    data = json.loads(file.read_text())
    quadrature, octave = data["quadrature"], data["octave"]
    t, s, _ = impacts
    n = t.size
    assert n >= 20
    np.testing.assert_allclose(t, quadrature["t_of_impacts"][:n], atol=2e-9)
    np.testing.assert_allclose(s, quadrature["s_at_impact_ends"][:n], atol=2e-8)
    first = quadrature["first_half_cycle"]
    knot = next(p.start for p in path.pieces if p.phase is Phase.IMPACT)
    np.testing.assert_allclose(
        path.impulses[knot], [[first["Lambda_nA"], path.impulses[knot, 0, 1]], [0, 0]], atol=1e-8
    )
    np.testing.assert_allclose(path.impulses[knot + 1, 1], [first["Lambda_nB"], first["Lambda_tB"]], atol=1e-9)
    assert path.accumulations[0].t == pytest.approx(quadrature["t_star"], abs=2e-8)
    assert path.accumulations[0].s == pytest.approx(quadrature["s_star"], abs=2e-7)
    np.testing.assert_allclose(t[1::2], octave["t_end_of_full_cycles"][: n // 2], atol=3e-6)
    np.testing.assert_allclose(s[1::2], octave["s_end_of_full_cycles"][: n // 2], atol=4e-5)
    ends = [piece.stop for piece in path.pieces if piece.phase is Phase.IMPACT][1::2]
    np.testing.assert_allclose(
        path.impulses[ends, :, 0], octave["cumulative_normal_impulses_A_B_at_cycle_ends"][: len(ends)], atol=4e-5
    )


def test_an_impact_leaves_seven_tenths_of_the_rate_eq_68(impacts):
    assert contraction() == pytest.approx(0.7, abs=1e-15)
    rates = np.abs(impacts[2])
    np.testing.assert_allclose(rates, 0.7 ** np.arange(1, rates.size + 1), rtol=1e-8)


def test_apex_is_eq_57(path):
    assert apex() == pytest.approx(0.22, abs=5e-4)
    first = path.pieces[0]
    angles = path.at(np.linspace(path.s[first.start], path.s[first.stop], 400))[1][:, 2]
    assert angles.max() == pytest.approx(apex(), abs=1e-5)


def test_bounds_69_and_70_hold(path):
    impact = next(p for p in path.pieces if p.phase is Phase.IMPACT)
    (found,) = path.accumulations
    assert found.s <= path.s[impact.stop] / 0.3
    assert found.t <= path.t[impact.stop] / 0.3


def test_rests_on_half_its_weight_per_corner_after_the_zeno_point(path):
    last = path.pieces[-1]
    assert last.phase is Phase.CONTACT and path.pieces[-2].phase is Phase.ACCUMULATION
    rest = path.t[last.stop] - path.t[last.start]
    np.testing.assert_allclose(
        (path.impulses[-1] - path.impulses[last.start])[:, 0] / rest, 0.5 * MASS * GRAVITY, rtol=1e-9
    )
    np.testing.assert_allclose(path.v[last.start :], 0.0, atol=1e-12)
    assert (path.s[-1] - path.s[last.start]) == pytest.approx(rest * (1 + MASS * GRAVITY), rel=1e-12)


def test_s_is_time_and_normal_impulse_eq_63_and_momentum_balances(path):
    np.testing.assert_allclose(path.s, path.t + path.impulses[:, :, 0].sum(axis=1), atol=1e-9)
    momentum = MASS * (path.v[:, :2] - path.v[0, :2])
    pushed = path.impulses[:, :, ::-1].sum(axis=1) - np.outer(path.t, [0.0, MASS * GRAVITY])
    resolved = path.t <= path.t[path.pieces[-2].start]
    np.testing.assert_allclose(momentum[resolved], pushed[resolved], atol=1e-9)
    np.testing.assert_allclose(momentum, pushed, atol=1e-6)


def test_time_stands_still_in_impacts_and_energy_never_rises(path):
    for piece in path.pieces:
        if piece.phase is Phase.IMPACT:
            part = slice(piece.start, piece.stop + 1)
            assert np.ptp(path.t[part]) == 0.0 and np.ptp(path.q[part], axis=0).max() == 0.0
    kinetic = 0.5 * (path.v**2 @ [MASS, MASS, 5 / 12]) + MASS * GRAVITY * path.q[:, 1]
    assert np.diff(kinetic).max() < 1e-9


def test_half_cycles_of_other_amplitudes_are_those_of_quadrature():
    for rate in (0.05, 0.4, 1.1):
        time, push = swing(rate)
        found = continuous_time_path(zeno_block(), *zeno_state(rate), 1.01 * time)
        knot = found.pieces[0].stop
        assert found.t[knot] == pytest.approx(time, rel=1e-9)
        assert found.impulses[knot, 0, 0] == pytest.approx(push, rel=1e-9)
