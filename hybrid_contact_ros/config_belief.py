"""Parameters of what is believed of the contacts (``docs/contact_belief.md``)."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid_contact_ros.parameter_values import leaf


@dataclass(frozen=True, slots=True)
class BeliefConfig:
    """The densities and rates of the filter over open, sticking and slipping. Its noise beside these is that of
    ``activation`` and what the filter measures itself. A part of the load is one of the weight over all contacts."""

    gap_sigma: float = leaf(0.0059, "m", 1e-6, 0.5, "standard deviation of the surface's height at a contact")
    swing_height: float = leaf(0.039, "m", 1e-4, 10.0, "mean gap of an open contact")
    sunk: float = leaf(0.01, "-", 0.0, 1.0, "share of closed contacts that are below the surface")
    swing_speed: float = leaf(0.11, "m/s", 1e-3, 100.0, "standard deviation of an open contact's gap velocity")
    swing_slide: float = leaf(0.58, "m/s", 1e-3, 100.0, "the same along the surface, per direction")
    slip_speed: float = leaf(0.16, "m/s", 1e-3, 100.0, "the same of a slipping contact")
    rest_speed: float = leaf(0.02, "m/s", 1e-6, 10.0, "the same of a sticking one, beside the noise")
    load_part: float = leaf(0.04, "-", 1e-3, 10.0, "standard deviation of the model's load, as a part of the load")
    load_level: float = leaf(0.06, "-", -1.0, 1.0, "a load that is as likely open as closed, as a part of the load")
    slip_part: float = leaf(0.11, "-", 1e-3, 10.0, "load_part and load_level of a contact that slips")
    slip_level: float = leaf(0.16, "-", -1.0, 1.0, "a load that is as likely that of a slip as of an open contact")
    force_part: float = leaf(0.29, "-", 1e-3, 10.0, "the same of an observed force, until swings have shown it")
    outliers: float = leaf(0.0063, "-", 1e-6, 0.5, "share of states that no density explains")
    gap_correlation: float = leaf(0.0044, "s", 0.0, 10.0, "time over which errors of the gap are correlated")
    velocity_correlation: float = leaf(0.0028, "s", 0.0, 10.0, "the same of velocities")
    load_correlation: float = leaf(0.0015, "s", 0.0, 10.0, "the same of the model's load")
    force_correlation: float = leaf(0.001, "s", 0.0, 10.0, "the same of observed forces")
    force_lead: float = leaf(1.0, "-", 0.0, 1.0, "part of the observer's lag that is made up for")
    touchdown_rate: float = leaf(50.0, "1/s", 1e-6, 1e3, "touchdowns of an open contact that nothing foretells")
    liftoff_rate: float = leaf(80.0, "1/s", 1e-6, 1e3, "the same of liftoffs of a closed one")
    slip_rate: float = leaf(2.0, "1/s", 1e-6, 1e3, "the same of slips of a sticking one")
    stick_rate: float = leaf(20.0, "1/s", 1e-6, 1e3, "the same of sticks of a slipping one")
    foresight: float = leaf(0.95, "-", 0.0, 1.0, "share of foretold events that come")
    foresight_sigma: float = leaf(0.0012, "s", 1e-6, 1.0, "standard deviation of their times beside their bounds")
    calibration_slope: float = leaf(1.1, "-", 0.01, 10.0, "logit of `probability` over that of the belief")
    calibration_offset: float = leaf(0.6, "-", -10.0, 10.0, "logit of `probability` where the belief is a half")
    calibration_course: float = leaf(1.2, "-", 0.0, 10.0, "added to it while the belief rises, taken off as it falls")
    decides: bool = leaf(True, "-", None, None, "the belief decides what is closed, where it observes forces")
    close_above: float = leaf(0.6, "-", 0.0, 1.0, "a contact closes above this probability")
    open_below: float = leaf(0.4, "-", 0.0, 1.0, "and opens below this one")

    def check(self) -> None:
        """Raise ValueError for thresholds between which a contact would open and close at once."""
        if self.open_below > self.close_above:
            raise ValueError(
                f"belief.open_below, {self.open_below:g}, must not be above belief.close_above, {self.close_above:g}"
            )
