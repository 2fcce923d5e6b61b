"""A number that tells whether two predictions are of the same robot with the same contacts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.urdf import Urdf


def model_hash(urdf: Urdf, config: EstimatorConfig) -> int:
    """First 8 bytes of the SHA-256 of the URDF's text and of everything that shapes its contacts, in order."""
    contacts = {
        "floating_base": config.floating_base,
        "contacts": [(name, asdict(contact)) for name, contact in config.contacts.items()],
        "environments": [(name, asdict(plane)) for name, plane in config.environments.items()],
        "joint_limits": list(config.joint_limits),
    }
    digest = hashlib.sha256(urdf.text.encode("utf-8"))
    digest.update(b"\0" + json.dumps(contacts, sort_keys=True).encode("utf-8"))
    return int.from_bytes(digest.digest()[:8], "big")
