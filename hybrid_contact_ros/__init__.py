"""Hybrid rigid-body contact models as a real-time predictor beside a robot's state streams.

The names below are the public interface. They import without ROS, and each only when it is first used, so that a
command that needs one does not pay for numba, Pinocchio and scipy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_contact_ros.codes import ContactStatus, EventKind, Flag, Status
    from hybrid_contact_ros.config import EstimatorConfig
    from hybrid_contact_ros.continuous_time.simulation import continuous_time_path
    from hybrid_contact_ros.estimation.base_from_legs import BaseFromLegs
    from hybrid_contact_ros.estimator import ContactEstimator, Parts
    from hybrid_contact_ros.identification.identify import identify_material
    from hybrid_contact_ros.impacts.bounds import outcome_bounds
    from hybrid_contact_ros.impacts.convex_set import ConvexSet, convex_set
    from hybrid_contact_ros.impacts.invariant_basis import InvariantBasis, invariant_basis
    from hybrid_contact_ros.impacts.landing_model import LandingTerms
    from hybrid_contact_ros.impacts.landing_outcomes import landing_set
    from hybrid_contact_ros.impacts.outcome import ImpactOutcome, VelocitySet
    from hybrid_contact_ros.impacts.plastic import plastic_impact
    from hybrid_contact_ros.impacts.sequential import sequential_impact
    from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
    from hybrid_contact_ros.impacts.velocity_set import post_impact_set
    from hybrid_contact_ros.mechanics.commands import JointCommand
    from hybrid_contact_ros.mechanics.model import RigidBodyModel
    from hybrid_contact_ros.mechanics.problem import ContactProblem
    from hybrid_contact_ros.mechanics.sensors import CommandedContacts, ContactForces, ContactReadings, ImuMeasurement
    from hybrid_contact_ros.mechanics.state import RobotState, UnusableStateError
    from hybrid_contact_ros.messages.contact_sensors import ReadingHealth
    from hybrid_contact_ros.messages.readers import (
        ConstraintStabilityReader,
        ContactModeReader,
        PostImpactVelocitySetReader,
    )
    from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
    from hybrid_contact_ros.modes.impulse_velocity import impulse_velocity_mode
    from hybrid_contact_ros.modes.pseudo_impulse import pseudo_impulse_mode
    from hybrid_contact_ros.modes.solution import ModeSolution
    from hybrid_contact_ros.orbits.controllability import local_controllability
    from hybrid_contact_ros.orbits.flow import variational_flow
    from hybrid_contact_ros.orbits.outcome import outcome_derivative
    from hybrid_contact_ros.orbits.periodic import periodic_orbit
    from hybrid_contact_ros.orbits.poincare import PoincareMap, Section
    from hybrid_contact_ros.orbits.stability import orbit_stability
    from hybrid_contact_ros.prediction import Prediction
    from hybrid_contact_ros.recordings.of_model import model_recording
    from hybrid_contact_ros.recordings.recording import Recording
    from hybrid_contact_ros.recordings.write import write_recording
    from hybrid_contact_ros.replay.run import replay_bag
    from hybrid_contact_ros.sensitivity.angles import constraint_angles
    from hybrid_contact_ros.sensitivity.bouligand import bouligand_derivative
    from hybrid_contact_ros.sensitivity.event_map import EventMap
    from hybrid_contact_ros.sensitivity.events import saltation_matrix
    from hybrid_contact_ros.sensitivity.orders import order_outcomes, order_sensitive_pairs
    from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity
    from hybrid_contact_ros.sensitivity.salted import merged_branches, salted_branches, salted_update
    from hybrid_contact_ros.sensitivity.words import touchdown_words
    from hybrid_contact_ros.simulation.execution import Execution, ExecutionEventKind
    from hybrid_contact_ros.simulation.options import Tolerances
    from hybrid_contact_ros.simulation.simulate import simulate
    from hybrid_contact_ros.stability.constraint import constraint_stability
    from hybrid_contact_ros.stability.truncation import Truncation, reliable_truncation
    from hybrid_contact_ros.stability.zeno import ZenoAnalysis, zeno_analysis
    from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
    from hybrid_contact_ros.systems.robot import RobotSystem
    from hybrid_contact_ros.time_density import TimeDensity

__version__ = "0.1.0"

_HOMES = {
    "ContactStatus": "codes",
    "EventKind": "codes",
    "Flag": "codes",
    "Status": "codes",
    "EstimatorConfig": "config",
    "continuous_time_path": "continuous_time.simulation",
    "BaseFromLegs": "estimation.base_from_legs",
    "ContactEstimator": "estimator",
    "Parts": "estimator",
    "identify_material": "identification.identify",
    "outcome_bounds": "impacts.bounds",
    "ConvexSet": "impacts.convex_set",
    "convex_set": "impacts.convex_set",
    "InvariantBasis": "impacts.invariant_basis",
    "invariant_basis": "impacts.invariant_basis",
    "LandingTerms": "impacts.landing_model",
    "landing_set": "impacts.landing_outcomes",
    "ImpactOutcome": "impacts.outcome",
    "VelocitySet": "impacts.outcome",
    "plastic_impact": "impacts.plastic",
    "sequential_impact": "impacts.sequential",
    "simultaneous_impact": "impacts.simultaneous",
    "post_impact_set": "impacts.velocity_set",
    "JointCommand": "mechanics.commands",
    "RigidBodyModel": "mechanics.model",
    "ContactProblem": "mechanics.problem",
    "CommandedContacts": "mechanics.sensors",
    "ContactForces": "mechanics.sensors",
    "ContactReadings": "mechanics.sensors",
    "ImuMeasurement": "mechanics.sensors",
    "RobotState": "mechanics.state",
    "UnusableStateError": "mechanics.state",
    "ReadingHealth": "messages.contact_sensors",
    "ConstraintStabilityReader": "messages.readers",
    "ContactModeReader": "messages.readers",
    "PostImpactVelocitySetReader": "messages.readers",
    "force_acceleration_mode": "modes.force_acceleration",
    "impulse_velocity_mode": "modes.impulse_velocity",
    "pseudo_impulse_mode": "modes.pseudo_impulse",
    "ModeSolution": "modes.solution",
    "local_controllability": "orbits.controllability",
    "variational_flow": "orbits.flow",
    "outcome_derivative": "orbits.outcome",
    "periodic_orbit": "orbits.periodic",
    "PoincareMap": "orbits.poincare",
    "Section": "orbits.poincare",
    "orbit_stability": "orbits.stability",
    "Prediction": "prediction",
    "model_recording": "recordings.of_model",
    "Recording": "recordings.recording",
    "write_recording": "recordings.write",
    "replay_bag": "replay.run",
    "constraint_angles": "sensitivity.angles",
    "bouligand_derivative": "sensitivity.bouligand",
    "saltation_matrix": "sensitivity.events",
    "order_outcomes": "sensitivity.orders",
    "order_sensitive_pairs": "sensitivity.orders",
    "Saltation": "sensitivity.saltation",
    "Validity": "sensitivity.saltation",
    "EventMap": "sensitivity.event_map",
    "merged_branches": "sensitivity.salted",
    "salted_branches": "sensitivity.salted",
    "salted_update": "sensitivity.salted",
    "touchdown_words": "sensitivity.words",
    "Execution": "simulation.execution",
    "ExecutionEventKind": "simulation.execution",
    "Tolerances": "simulation.options",
    "simulate": "simulation.simulate",
    "constraint_stability": "stability.constraint",
    "Truncation": "stability.truncation",
    "reliable_truncation": "stability.truncation",
    "ZenoAnalysis": "stability.zeno",
    "zeno_analysis": "stability.zeno",
    "Constraint": "systems.lagrangian",
    "LagrangianSystem": "systems.lagrangian",
    "RobotSystem": "systems.robot",
    "TimeDensity": "time_density",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
