"""One state in, one prediction out: the engine of the live nodes and of the replay."""

from __future__ import annotations

from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.events import EventLog, EventPredictor
from hybrid_contact_ros.estimation.impact import impacting_contacts, predict_impact
from hybrid_contact_ros.estimation.momentum_observer import MomentumObserver, contact_forces
from hybrid_contact_ros.estimation.tracker import ContactTracker
from hybrid_contact_ros.kernels.contact_tracking import contact_rates, model_loads
from hybrid_contact_ros.kernels.status import Status
from hybrid_contact_ros.kernels.warm import disable_compilation
from hybrid_contact_ros.mechanics.contact_sets import contact_set
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.modes.workspace import ModeWorkspace
from hybrid_contact_ros.prediction import ImpactPrediction, ModePrediction, Prediction, StabilityPrediction, Validity
from hybrid_contact_ros.stability.workspace import StabilityWorkspace

Array = NDArray[np.float64]

_WIDTH = 3  # rows of a contact: normal and two tangents
# G_nn below this times the largest is that of a contact which no motion changes.
_IMMOVABLE = 1e-12
_OPEN, _STICKING, _SLIPPING = 1, 2, 3
_UNDECIDED, _HOLDS, _FAILS = 0, 1, 2


class Parts(IntFlag):
    """What an update computes. The mode is always computed."""

    MODE = 1
    STABILITY = 2
    IMPACT = 4
    ALL = 7
