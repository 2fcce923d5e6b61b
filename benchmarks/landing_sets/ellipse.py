"""Sets for real impacts of an ellipse: e and μ identified on a third, containment against size on the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.landing_sets.sets import HEAD, LandingSet, Score, row, score
from benchmarks.landing_sets.sources import SHARED
from hybrid_contact_ros.identification.material import common_friction, quantile
from hybrid_contact_ros.impacts.single_contact import fit_friction, fit_restitution
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
SHARES = (0.02, 0.05, 0.1, 0.2, 0.3)  # quantiles at which the intervals begin


def load() -> dict[str, Array] | None:
    path = SHARED / "data" / "ellipse_impacts" / "impacts.npz"
    return dict(np.load(path)) if path.exists() else None


def identify(data: dict[str, Array], chosen: Array, share: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Intervals of e (Poisson) and μ, from the quantile ``share`` to 1 − ``share`` of the chosen impacts."""
    single = []
    for i in np.flatnonzero(chosen):
        J = np.stack([data["normal_jacobian"][i], data["tangent_jacobian"][i]])
        W = np.linalg.solve(data["mass"], J.T)
        impulse = np.linalg.solve(J @ W, J @ (data["v_plus"][i] - data["v_minus"][i]))
        if impulse[0] > 0.0:
            single.append((J @ W, J @ data["v_minus"][i], impulse))
    fits = [fit_friction(*one) for one in single]
    most = np.array([fit.sticks_from for fit in fits])
    mu, middle = common_friction(fits, 2.0 * float(np.median([fit.misfit for fit in fits])))
    own = np.where(most <= middle, middle, mu)
    e = [fit_restitution(*one, float(x), "poisson") for one, x in zip(single, own, strict=True)]
    low, high = np.quantile(e, [share, 1.0 - share])
    return (float(low), float(high)), (float(quantile(mu, most, share)), float(quantile(mu, most, 1.0 - share)))


def scored(data: dict[str, Array], chosen: Array, e: tuple[float, float], mu: tuple[float, float]) -> list[Score]:
    found = []
    for i in np.flatnonzero(chosen):
        normal, tangent = data["normal_jacobian"][i][None], data["tangent_jacobian"][i][None, None]
        problem = ContactProblem(data["mass"], data["v_minus"][i], normal, tangent, np.array([mu[1]]))
        scale = impulse_scale(problem)
        if scale == 0.0:
            continue
        middle = {"restitution": 0.5 * sum(e), "friction": 0.5 * sum(mu)}
        draws = np.full((1, 100, 1), 1e3 * scale)
        nominal = post_impact_set(problem, 0.5 * scale, 1, 100, 0, 2, "poisson", None, draws, **middle).velocities[0]
        sets = post_impact_set(problem, 0.5 * scale, 128, 100, 0, 2, "poisson", restitution=e, friction=mu)
        points = sets.velocities[sets.terminated]
        one = LandingSet(nominal, data["v_minus"][i], points, np.zeros((0, 3)), data["mass"])
        found.append(score(one, data["v_plus"][i]))
    return found


def main() -> None:
    data = load()
    if data is None:
        return
    order = np.random.default_rng(0).permutation(len(data["q"])) % 3
    print(HEAD)
    for share in SHARES:
        e, mu = identify(data, order == 0, share)
        name = f"ellipse, e {e[0]:.2f}-{e[1]:.2f}, μ {mu[0]:.2f}-{mu[1]:.2f}"
        print(row(name, scored(data, order != 0, e, mu)), flush=True)


if __name__ == "__main__":
    main()
