"""A system's contact problem, asked for in the way in which that kind of system takes time and mode."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from hybrid_contact_ros.systems.robot import RobotSystem


def asker(system: Any, time: float, mode: frozenset[int]) -> Any:
    """problem(q, v) of a system, at a time and in a mode where it takes them."""
    if isinstance(system, RobotSystem) or is_lagrangian(system):  # a signature costs as much as a problem
        return lambda q, v: system.problem(q, v, time, mode)
    takes, given = _arguments(system), {"time": time, "mode": mode}
    extra: dict[str, Any] = {name: value for name, value in given.items() if name in takes}
    return lambda q, v: system.problem(q, v, **extra)


def depends_on_time(system: Any) -> bool:
    """Whether the forces of a system may depend on time."""
    if isinstance(system, RobotSystem):
        return system.driven
    if is_lagrangian(system):
        return system.force is not None
    return "time" in _arguments(system)


def _arguments(system: Any) -> frozenset[str]:
    """Which of time and mode the ``problem`` of a system takes."""
    takes = inspect.signature(system.problem).parameters
    every = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in takes.values())
    return frozenset(name for name in ("time", "mode") if every or name in takes)


def is_lagrangian(system: Any) -> bool:
    """Whether it is a LagrangianSystem, without loading sympy, which takes a second, for a robot."""
    module = sys.modules.get("hybrid_contact_ros.systems.lagrangian")
    return module is not None and isinstance(system, module.LagrangianSystem)
