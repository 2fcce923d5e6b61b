"""Doors, the kernels that Python calls, stay flat: their arguments are the fields of their records, in this order."""

import importlib
import inspect
from pathlib import Path

import pytest

from benchmarks.house import MANY_ARGUMENTS, functions
from hybrid_contact_ros.kernels.estimation import belief_records as given
from hybrid_contact_ros.kernels.estimation import belief_step as believing
from hybrid_contact_ros.kernels.estimation import contact_belief as beliefs
from hybrid_contact_ros.kernels.estimation import effort_correction as corrections
from hybrid_contact_ros.kernels.estimation import effort_errors as errors
from hybrid_contact_ros.kernels.estimation import effort_noise as jitters
from hybrid_contact_ros.kernels.estimation import effort_trust as trusts
from hybrid_contact_ros.kernels.estimation import event_density as densities
from hybrid_contact_ros.kernels.estimation import event_skill as skills
from hybrid_contact_ros.kernels.estimation import event_times as events
from hybrid_contact_ros.kernels.estimation import foot_stops as stops
from hybrid_contact_ros.kernels.estimation import friction_bounds as frictions
from hybrid_contact_ros.kernels.estimation import ground as grounds
from hybrid_contact_ros.kernels.estimation import ground_map as heights
from hybrid_contact_ros.kernels.estimation import hanging
from hybrid_contact_ros.kernels.estimation import measure as measures
from hybrid_contact_ros.kernels.estimation import momentum_observer as observers
from hybrid_contact_ros.kernels.estimation import rate_noise as noises
from hybrid_contact_ros.kernels.estimation import records as rollouts
from hybrid_contact_ros.kernels.estimation import sensor_likelihoods as sensors
from hybrid_contact_ros.kernels.estimation import stance as stances
from hybrid_contact_ros.kernels.estimation import standing_feet as feet
from hybrid_contact_ros.kernels.estimation import stream_offsets as offsets
from hybrid_contact_ros.kernels.estimation import stride_course as courses
from hybrid_contact_ros.kernels.estimation import told_events as logs
from hybrid_contact_ros.kernels.estimation import update_records as updates
from hybrid_contact_ros.kernels.estimation.rollout import rollout
from hybrid_contact_ros.kernels.estimation.update import update, update_given
from hybrid_contact_ros.kernels.impacts import (
    all_solutions,
    bound_maps,
    hull_lp,
    landing_bounds,
    landing_chain,
    landing_law,
    set_gathering,
    set_plan,
)
from hybrid_contact_ros.kernels.impacts import friction_axes as axes
from hybrid_contact_ros.kernels.impacts import records as impacts
from hybrid_contact_ros.kernels.impacts.increment import increment
from hybrid_contact_ros.kernels.impacts.planar_pieces import Pieces
from hybrid_contact_ros.kernels.impacts.planar_sampling import planar_batch
from hybrid_contact_ros.kernels.impacts.planar_search import search_planar
from hybrid_contact_ros.kernels.impacts.planar_tree import PlanarTree
from hybrid_contact_ros.kernels.impacts.restitution import restitution_batch
from hybrid_contact_ros.kernels.impacts.sampling import sample_batch
from hybrid_contact_ros.kernels.mechanics import contact_gradient as gradients
from hybrid_contact_ros.kernels.mechanics import contact_problem as problems
from hybrid_contact_ros.kernels.mechanics import contact_rows as rows
from hybrid_contact_ros.kernels.mechanics import joint_motion as joints
from hybrid_contact_ros.kernels.messages.measurements import MissedMemory, note_missed
from hybrid_contact_ros.kernels.modes import records as modes
from hybrid_contact_ros.kernels.modes.forces import force_acceleration
from hybrid_contact_ros.kernels.sensitivity import cluster_moments as mixtures
from hybrid_contact_ros.kernels.sensitivity import records as clusters
from hybrid_contact_ros.kernels.sensitivity.cluster_words import cluster_words
from hybrid_contact_ros.kernels.stability import chain_records as links
from hybrid_contact_ros.kernels.stability import impact_chain as chains
from hybrid_contact_ros.kernels.stability import records as stability
from hybrid_contact_ros.kernels.stability.constraint import stability_flags
from hybrid_contact_ros.kernels.stability.pseudo_impulse import pseudo_impulse_flags


def prefixed(prefix, record):
    """The fields of a record that shares names with others of the same door."""
    return [f"{prefix}_{name}" for name in record._fields]


# A string stands for an argument that belongs to no record
DOORS = [
    (
        measures.measure,
        [
            *(measures.MeasureSettings, "tangents", joints.JointTree, joints.BodyInertia, "columns", "placement"),
            *(corrections.EffortCorrection, feet.StandingFeet, measures.MeasuredState, "carried", measures.Measurement),
        ],
    ),
    (
        update,
        [
            *(updates.UpdateSettings, heights.GroundSettings, *prefixed("belief", believing.BeliefUse)),
            *prefixed("belief", given.BeliefSettings),
            *(updates.RobotContacts, updates.UpdateProblem, measures.Measurement),
            *(
                updates.TrackerMemory,
                modes.StateOut,
                "warm",
                "lines",
                "rate_lines",
                observers.ObserverMemory,
                logs.LogMemory,
            ),
            *(trusts.TrustTable, *prefixed("trust", trusts.TrustMemory), *prefixed("trust", trusts.TrustScratch)),
            *(
                corrections.EffortCorrection,
                *prefixed("error", errors.EffortErrors),
                *prefixed("hang", hanging.HangMemory),
            ),
            *(noises.RateNoise, jitters.EffortNoise, stops.FootStops, *prefixed("friction", frictions.FrictionTable)),
            *prefixed("friction", frictions.FrictionBounds),
            *(stances.StanceMemory, heights.GroundMap, *prefixed("belief", believing.BeliefRecord)),
            *(*prefixed("sensor", sensors.SensorSettings), *prefixed("sensor", sensors.SensorGiven)),
            *(*prefixed("sensor", sensors.SensorMemory), "sensors_decide", "velocity"),
            *prefixed("offset", offsets.OffsetMemory),
            *(*prefixed("course", courses.StrideCourse), *prefixed("skill", skills.EventSkill)),
            *prefixed("density", densities.DensityMemory),
            *(modes.StateScratch, updates.UpdateScratch, grounds.GroundScratch, updates.EngineOut, updates.ListsOut),
            updates.UpdateInput,
            *("out_vectors", "out_numbers", "out_codes", "out_truths"),
        ],
    ),
    (note_missed, ["seconds", "remembered", "most", "usual", "after", MissedMemory]),
    (update_given, ["given", updates.UpdateInput, "out_vectors", "out_numbers", "out_codes", "out_truths"]),
    (
        beliefs.contact_belief,
        [
            *(given.BeliefSettings, "members", given.BeliefInput, beliefs.BeliefMemory),
            *(beliefs.BeliefScratch, "beside", "probability"),
        ],
    ),
    (events.next_events, [rollouts.TimeBounds, events.EventProblem, events.EventScratch, events.EventOut]),
    (rollout, [rollouts.TimeBounds, rollouts.RolloutProblem, rollouts.RolloutScratch, rollouts.RolloutOut]),
    (
        gradients.contact_motion_gradient,
        [
            *(joints.JointTree, gradients.GradientSpheres, "columns", "placement", "velocity", "acceleration"),
            *("twist", gradients.MotionGradient),
        ],
    ),
    (
        gradients.contact_force_gradient,
        [joints.JointTree, gradients.GradientSpheres, "columns", "placement", "force", "gradient"],
    ),
    (
        problems.contact_problem,
        [
            *(joints.JointTree, rows.Spheres, rows.JointLimits, joints.JointState),
            *(problems.Measured, problems.ProblemOut, rows.RowsOut),
        ],
    ),
    (
        joints.momentum_rate,
        [joints.JointTree, joints.BodyInertia, "columns", "placement", "twist", "carried", "rate"],
    ),
    (force_acceleration, [modes.StateSettings, modes.StateProblem, modes.StateScratch, modes.StateOut]),
    (
        stability_flags,
        [
            stability.StabilitySettings,
            stability.StabilityProblem,
            stability.SolvedMode,
            stability.TrialScratch,
            stability.StabilityOut,
        ],
    ),
    (
        pseudo_impulse_flags,
        [
            stability.PseudoImpulseSettings,
            stability.PseudoImpulseProblem,
            stability.SteadyMode,
            stability.ImpactScratch,
            stability.PseudoImpulseOut,
        ],
    ),
    (
        chains.impact_chain,
        [links.ChainProblem, links.ChainStart, links.ChainScratch, links.ChainState, links.ChainLog],
    ),
    (
        cluster_words,
        [
            *(clusters.ClusterSettings, joints.JointTree, joints.BodyInertia, gradients.GradientSpheres),
            clusters.ClusterProblem,
            *prefixed("near", clusters.LocalModel),
            *prefixed("at", clusters.Levels),
            *prefixed("hit", clusters.ImpactScratch),
            *prefixed("chain", links.ChainScratch),
            *prefixed("mode", modes.StateScratch),
            *prefixed("found", modes.StateOut),
            *prefixed("out", clusters.WordsOut),
        ],
    ),
    (
        mixtures.cluster_moments,
        [
            *("points", "least", "covariance", "mean", "times", "words", "corners", "size", "validity", "velocity"),
            *("matrix", mixtures.MomentsScratch, "sigma", "probability", "after_mean", "after_covariance"),
        ],
    ),
    (axes.prepare, ["directions", axes.Configuration, axes.Response, axes.AxesProblem]),
    (
        set_plan.plan_set,
        [
            *(set_plan.PlanSettings, set_plan.Touching, set_plan.Robot, axes.Response, axes.AxesProblem),
            *(set_plan.PlanScratch, set_plan.PlanOut),
        ],
    ),
    (
        set_gathering.gather_set,
        [
            *(set_gathering.GatherSettings, set_gathering.Landing, axes.Response, axes.AxesProblem, "z", "info"),
            *(set_gathering.GatherScratch, set_gathering.GatherOut),
        ],
    ),
    (
        landing_bounds.landing_bounds,
        [
            *("rounds", landing_law.Landing, "duration", "drives", "halves", "alone", "driven", "mu_low", "mu_high"),
            *("left", "radius", "middle_friction", "references", bound_maps.BoundScratch, "lower", "upper"),
        ],
    ),
    (
        landing_chain.landing_chain,
        [
            *("steps", "tolerance", landing_law.Landing, landing_chain.ChainLaw, landing_chain.ChainCases),
            *(landing_law.LandingScratch, landing_chain.ChainScratch, landing_chain.ChainOut),
        ],
    ),
    (
        landing_law.landing_outcomes,
        [
            *("steps", "tolerance", landing_law.Landing, landing_law.LandingCases),
            *(landing_law.LandingScratch, landing_law.LandingOut),
        ],
    ),
    (increment, [impacts.IncrementProblem, "tableau", "lines", "z", "after"]),
    (
        sample_batch,
        [
            *("first", "count", "seed"),
            *("g", "H", "w", "c"),
            impacts.Walk,
            impacts.SearchLimits,
            *("tableau", "lines", "cap", "vectors"),
            impacts.SearchScratch,
            *("z", "info"),
        ],
    ),
    (
        planar_batch,
        [
            *("first", "count", "seed"),
            *("H", "w", "c", "energy"),
            impacts.Walk,
            impacts.SearchLimits,
            *("tableau", "lines", "contacts", "vectors"),
            Pieces,
            PlanarTree,
            *("solutions", "velocities"),
            *("z", "info"),
        ],
    ),
    (
        restitution_batch,
        [
            *("first", "count", "seed", "law"),
            *("g", "H", "w"),
            impacts.MaterialRange,
            impacts.Walk,
            impacts.SearchLimits,
            *("tableau", "lines", "contacts", "vectors"),
            impacts.SearchScratch,
            *("z", "info"),
        ],
    ),
    (
        all_solutions.search,
        ["g", all_solutions.SearchBudget, "H", "w", "cap", "c", all_solutions.SearchTree, all_solutions.SearchOut],
    ),
    (
        search_planar,
        [
            *("g", all_solutions.SearchBudget, "H", "w", "cap", "c", "energy"),
            PlanarTree,
            all_solutions.SearchOut,
        ],
    ),
    (
        hull_lp.lower_templates,
        [
            hull_lp.HullProblem,
            hull_lp.HullRows,
            *("rounds", "used", "increases", "slack", "order"),
            hull_lp.SimplexScratch,
            *("bases", "mix"),
        ],
    ),
    (
        hull_lp.bound_queries,
        [
            hull_lp.HullProblem,
            hull_lp.HullRows,
            *("used", "queries"),
            hull_lp.SimplexScratch,
            *("first_basis", "mix", "most"),
        ],
    ),
]

# Doors that use their arguments themselves and hand no group of them on
WITHOUT_RECORDS = {
    "impulse_bounds",
    "maximum",
    "nearest_point",
    "joint_state",
    "write_contact_mode",
    "set_extent",
}


@pytest.mark.parametrize(("door", "records"), DOORS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_door_takes_the_fields_of_its_records_in_order(door, records):
    expected = [name for record in records for name in ([record] if isinstance(record, str) else record._fields)]
    assert list(inspect.signature(door.py_func).parameters) == expected


def test_every_door_of_many_arguments_has_records_or_no_kernel_to_pass_them_to():
    """A function of the package that takes many positional arguments is a door, and its records are known."""
    package = Path(importlib.import_module("hybrid_contact_ros").__file__).parent
    known = {door.py_func.__name__ for door, _ in DOORS} | WITHOUT_RECORDS
    many = {f.name for f in functions(package) if f.arguments >= MANY_ARGUMENTS and f.door}
    assert many - known == set()
    assert many >= WITHOUT_RECORDS, "one of them has fewer arguments now"
