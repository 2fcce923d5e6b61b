"""The ROS domain of a benchmark: that of the environment, or one that nobody else of this machine has."""

import os

from hybrid_contact_ros.ros.domain import claim_domain

_claims: list[object] = []  # held until this process ends


def own_domain() -> str:
    """The domain of this process and of those that it starts, which speak to nobody beyond this machine."""
    if not os.environ.get("ROS_DOMAIN_ID"):
        domain, claim = claim_domain()
        _claims.append(claim)
        os.environ["ROS_DOMAIN_ID"] = str(domain)
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    return os.environ["ROS_DOMAIN_ID"]
