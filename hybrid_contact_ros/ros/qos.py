"""Quality of service of the suite's topics. Every one can be overridden through ``qos_overrides`` parameters.

Endpoints take a copy of a profile, because rclpy writes an override into the profile that it is given, and the override
would then hold for every later endpoint too.
"""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

# An old state is worth nothing to a predictor, so that delivery is best effort and only the newest is kept.
STATE_INPUT = QoSProfile(
    reliability=ReliabilityPolicy.BEST_EFFORT,
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    durability=DurabilityPolicy.VOLATILE,
)
LATCHED = QoSProfile(
    reliability=ReliabilityPolicy.RELIABLE,
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
# Reliable, for recorders and controllers alike; a best-effort subscriber matches it too.
OUTPUT = QoSProfile(reliability=ReliabilityPolicy.RELIABLE, history=HistoryPolicy.KEEP_LAST, depth=10)


def overridable() -> QoSOverridingOptions:
    """Declare ``qos_overrides.<topic>.<publisher|subscription>.<policy>`` parameters for an endpoint."""
    return QoSOverridingOptions.with_default_policies()
