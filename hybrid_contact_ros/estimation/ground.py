"""The memory of the ground that is learned from contact (``kernels/estimation/ground.py``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config_ground import GroundConfig
from hybrid_contact_ros.kernels.estimation.foot_stops import FootStops
from hybrid_contact_ros.kernels.estimation.ground import GroundScratch
from hybrid_contact_ros.kernels.estimation.ground_map import FOOTHOLDS, NUMBERS, GroundMap, GroundSettings
from hybrid_contact_ros.kernels.estimation.met_ground import MET_COLUMNS
from hybrid_contact_ros.kernels.estimation.stance import StanceMemory
from hybrid_contact_ros.kernels.estimation.unrest import UNREST_COLUMNS

if TYPE_CHECKING:
    from hybrid_contact_ros.mechanics.model import RigidBodyModel

Array = NDArray[np.float64]
_NUGGET, _NUGGET_FELT = 1e-3, 3e-4  # m, of a foothold: feet press in and roll, the tip of an arm less so
_PRESSES = 0.1  # of an arm's weight: efforts that are off by 10 % are off by half of that at its tip
_FLAT = 0.05  # Points whose extent across their plane is below this part of the largest are those of a sole.


def ground_settings(config: GroundConfig, weight: float, contacts: int, felt: bool) -> GroundSettings:
    """The configuration as the update reads it; ``weight`` of all that moves, N. ``felt``: by an arm."""
    return GroundSettings(
        learn=bool(config.learn),
        felt=felt,
        nugget=_NUGGET_FELT if felt else _NUGGET,
        plane_sigma=float(config.plane_sigma),
        slope_sigma=float(config.slope_sigma),
        step_sigma=float(config.step_sigma),
        foot_sigma=float(config.foot_sigma),
        correlation_length=float(config.length),
        base_drift=float(config.drift),
        fading=float(config.fading),
        still_speed=float(config.still_speed),
        still_time=float(config.still_time),
        still_time_unloaded=float(config.still_time_unloaded),
        least_load=float(_PRESSES * weight if felt else config.load_share * weight / max(contacts, 1)),
    )


def stance_memory(m: int) -> StanceMemory:
    """Nothing stands."""
    return StanceMemory(
        point_velocity=np.zeros((m, 3)),
        point_place=np.zeros((m, 3)),
        point_height=np.zeros(m),
        point_gap=np.zeros(m),
        unrest=np.zeros((m, UNREST_COLUMNS)),
        standing=np.zeros(m),
        stance_height=np.zeros(m),
        stance_variance=np.zeros(m),
        touched_height=np.zeros(m),
        touched_load=np.zeros(m),
        touched_lead=np.zeros(m),
        met=np.full((m, MET_COLUMNS), -1.0),
        stance_start=np.zeros((m, 3)),
        travel=np.zeros((m, 3)),
        pressing=np.zeros(m),
        eased=np.zeros(m),
        pulling=np.zeros(m),
        bore=np.zeros(m),
        entry=np.full(m, -1, dtype=np.int64),
        shift=np.zeros(m),
    )


def foot_stops(m: int) -> FootStops:
    """Nothing was stopped."""
    return FootStops(
        stop_since=np.full(m, -1.0),
        stop_begun=np.zeros(m),
        stop_floor=np.zeros(m),
        stop_speed=np.zeros(m),
        stop_last=np.zeros(m),
        stop_noise=np.zeros(m),
        stop_doubted=np.zeros(m, dtype=np.uint8),
    )


def ground_map(footholds: int = FOOTHOLDS) -> GroundMap:
    """Room for footholds; the first state makes it a map without any."""
    n = footholds
    return GroundMap(
        map_place=np.zeros((n, 3)),
        map_height=np.zeros(n),
        map_variance=np.zeros(n),
        map_seen=np.zeros(n),
        map_contact=np.zeros(n, dtype=np.int64),
        map_size=np.zeros(1, dtype=np.int64),
        map_factor=np.zeros((n, n)),
        map_weights=np.zeros(n),
        map_centre=np.zeros(3),
        map_fitted=np.zeros((n, 3)),
        map_numbers=np.zeros(NUMBERS),
    )


def ground_scratch(model: RigidBodyModel) -> GroundScratch:
    """Scratch of a robot, with the constants of its contacts: those with the same plane learn from one another."""
    m, spheres = model.contacts, model.spheres
    plane_of = np.full(m, -1, dtype=np.int64)
    if len(spheres.offset):
        planes = np.column_stack((spheres.normal, spheres.offset))
        plane_of[: len(planes)] = np.unique(planes, axis=0, return_inverse=True)[1].reshape(-1)
    surfaces = list(zip(model.contact_frames, plane_of.tolist(), strict=True))
    link_of = np.array([surfaces.index(surface) for surface in surfaces], dtype=np.int64)
    return GroundScratch(
        map_row=np.zeros(FOOTHOLDS),
        under=np.zeros((m, 3)),
        every=np.arange(m, dtype=np.int64),
        plane_of=plane_of,
        link_of=link_of,
        solid_of=_solid_of(spheres.point, link_of),
        shift_variance=np.zeros(m),
        surfaces=np.ones(m),
        own=np.ones(m),
        quiet=np.zeros(m),
        rate_offs=np.zeros(m),
        gap_offs=np.zeros(m),
        pushes=np.zeros(m),
    )


def _solid_of(points: Array, link_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """:attr:`GroundScratch.solid_of` of contacts whose first k have these ``points`` (k, 3), m, on their joints."""
    found = link_of.copy()
    for first in np.unique(link_of[: len(points)]):
        members = np.flatnonzero(link_of == first)
        extent = np.linalg.svd(points[members] - points[members].mean(axis=0), compute_uv=False)
        if len(members) < 4 or extent[2] <= _FLAT * extent[0]:
            found[members] = members
    return found
