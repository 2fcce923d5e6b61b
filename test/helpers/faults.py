"""The rows of the fault matrix (test_fault_matrix): what is sent, and what the diagnostics must say of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import Imu, JointState
from std_srvs.srv import SetBool, Trigger

from helpers import leg
from hybrid_contact_msgs.srv import PredictImpact

NAN, INF = leg.NAN, float("inf")
MS = 1_000_000  # ns
BAD_URDF = "<robot name='leg'><link name='body'></robot>"

Act = Callable[[Any, Any], object]  # (bench, node)


@dataclass(frozen=True)
class Fault:
    """One row: ``act`` is done ten times, with a good state after each.

    Attributes:
        sent: the fault in words.
        act: causes it.
        words: must be in the diagnostics.
        silent: must not be in the diagnostics.
        answer: must be in what ``act`` returns, for a fault that is refused at once.
        answered: least part of the good states that must be answered meanwhile.
        mend: what a user would do about the fault, where time alone does not help.
    """

    sent: str
    act: Act
    words: str = ""
    silent: str = "\n"
    answer: str = ""
    answered: float = 0.9
    mend: Act | None = None


def joints(**changes: Any) -> Act:
    """A state with a bad joint state and a good odometry."""
    return lambda bench, node: bench.send(**changes)


def base(change: Callable[[Any], None], with_joints: bool = False) -> Act:
    """A bad odometry."""

    def act(bench: Any, node: Any) -> None:
        stamp = bench.stamp()
        msg = leg.odometry(stamp)
        change(msg)
        bench.base.publish(msg)
        if with_joints:
            bench.joints.publish(leg.joint_state(stamp))

    return act


def stamped(ahead: int, joined: bool = True) -> Act:
    """A state whose stamp is ``ahead`` ns after the last one; the next good state goes on from where the stream was."""

    def act(bench: Any, node: Any) -> None:
        newest = bench.now
        bench.send(stamp=bench.stamp(ahead))
        bench.now = newest

    return act


def put(attribute: str, value: Any) -> Callable[[Any], None]:
    """Set ``a.b.c`` of a message."""

    def change(msg: Any) -> None:
        *path, last = attribute.split(".")
        for name in path:
            msg = getattr(msg, name)
        setattr(msg, last, value)

    return change


def zero_stamp(bench: Any, node: Any) -> None:
    msg = leg.joint_state(bench.stamp())
    msg.header.stamp.sec = msg.header.stamp.nanosec = 0
    bench.joints.publish(msg)


def rubbish(topic: str) -> Act:
    """Bytes that are no message, among good ones."""
    return lambda bench, node: getattr(bench, topic).publish(b"\0\1\0\0" + bytes(range(32)))


def command(ahead: int = 1, **changes: Any) -> Act:
    """A command, stamped ``ahead`` ns after the last state, or rubbish in its place."""

    def act(bench: Any, node: Any) -> None:
        now = bench.now + ahead
        stamp = Time(sec=now // 10**9, nanosec=now % 10**9)
        bench.beside("joint_command").publish(leg.joint_state(stamp, **{"velocity": (), **changes}))

    return act


def command_rubbish(bench: Any, node: Any) -> None:
    bench.beside("joint_command").publish(b"\0\1\0\0" + bytes(range(32)))


def no_command(bench: Any, node: Any) -> None:
    bench.silence("joint_command")


def sensor(topic: str, kind: type, change: Callable[[Any], None] = lambda msg: None, frame: str = "") -> Act:
    """A measurement of what the robot may have or not, stamped after the last state."""

    def act(bench: Any, node: Any) -> None:
        now = bench.now + 1
        msg = kind()
        msg.header.stamp, msg.header.frame_id = Time(sec=now // 10**9, nanosec=now % 10**9), frame
        if kind is JointState:
            msg.name, msg.effort = ["foot"], [100.0]
            msg.position = [1.0] if topic == "commanded_contacts" else []
        change(msg)
        bench.beside(topic, kind).publish(msg)

    return act


def silence_of(*topics: str) -> Act:
    def act(bench: Any, node: Any) -> None:
        for topic in topics:
            bench.silence(topic)

    return act


def second_publisher(bench: Any, node: Any) -> None:
    if not hasattr(bench, "second"):
        bench.second = bench.partner.create_publisher(type(leg.joint_state(bench.stamp())), "joint_states", 10)
        bench.until(lambda: node.count_publishers("joint_states") == 2)


def stop_second(bench: Any, node: Any) -> None:
    bench.partner.destroy_publisher(bench.second)
    del bench.second
    bench.until(lambda: node.count_publishers("joint_states") == 1)


def burst(bench: Any, node: Any) -> None:
    """200 states at once: no node of ours keeps up with that."""
    for _ in range(200):
        bench.send()


def jump_back(bench: Any, node: Any) -> None:
    """Go back once: three messages in a row with old stamps mean that the clock was set back."""
    if not hasattr(bench, "jumped"):
        bench.jumped = True
        bench.now -= 100_000 * MS


def set_parameter(name: str, value: Any) -> Act:
    def act(bench: Any, node: Any) -> str:
        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        return bench.call(SetParameters, "set_parameters", request).results[0].reason

    return act


def request(**fields: Any) -> Act:
    """A request to predict_impact about the state with the foot on the ground."""

    def act(bench: Any, node: Any) -> str:
        asked = PredictImpact.Request(**fields)
        if "joints" not in fields:
            asked.joints = leg.joint_state(bench.stamp())
        asked.odometry = leg.odometry(bench.stamp(), height=0.6)
        return bench.call(PredictImpact, "predict_impact", asked).message

    return act


def long_request(bench: Any, node: Any) -> str:
    from builtin_interfaces.msg import Duration

    return request(samples=65536, deadline=Duration(sec=60))(bench, node)


def trigger(service: str) -> Act:
    return lambda bench, node: bench.call(Trigger, service, Trigger.Request()).message


def enable(on: bool) -> Act:
    return lambda bench, node: bench.call(SetBool, "enable", SetBool.Request(data=on)).message


def describe(urdf: str) -> Act:
    return lambda bench, node: bench.describe(urdf)


def cycle(*transitions: str) -> Act:
    def act(bench: Any, node: Any) -> None:
        for name in transitions:
            getattr(node, f"trigger_{name}")()

    return act


def without_odometry(bench: Any, node: Any) -> None:
    """Ten joint states, for each of which the newest odometry is too old."""
    for _ in range(10):
        bench.joints.publish(leg.joint_state(bench.stamp(60 * MS)))
        bench.spin(0.005)


def silence(bench: Any, node: Any) -> None:
    bench.spin(0.25)


FAULTS = {
    # --- joint states
    "joint position NaN": Fault("position NaN", joints(position=(0.0, NAN)), "NaN or infinite"),
    "joint velocity infinite": Fault("velocity inf", joints(velocity=(INF, 0.0)), "NaN or infinite"),
    "effort NaN": Fault("effort NaN", joints(effort=(NAN, 0.0)), "used without effort"),
    "effort absurd": Fault("effort 1e300 N m", joints(effort=(1e300, 0.0)), "used without effort"),
    "position absurd": Fault("position 1e300 rad", joints(position=(0.0, 1e300)), "knee"),
    "velocity absurd": Fault("velocity 1e6 rad/s", joints(velocity=(1e6, 0.0)), "hip"),
    "position short": Fault("1 position of 2", joints(position=(0.0,)), "not as long as name"),
    "effort long": Fault("3 efforts of 2", joints(effort=(0.0,) * 3), "not as long as name"),
    "velocity missing": Fault("no velocity", joints(velocity=()), "velocity is missing"),
    "joint missing": Fault("joint knee not there", joints(names=("hip", "elbow")), "knee"),
    "joint twice": Fault("joint hip twice", joints(names=("hip", "hip")), "hip"),
    "no joint at all": Fault(
        "empty arrays", joints(names=(), position=(), velocity=(), effort=()), "joints do not fit"
    ),
    "joints reordered": Fault("knee, hip", joints(names=("knee", "hip")), ""),  # as good as any
    "joint state unreadable": Fault("bytes that are no message", rubbish("joints"), "no message of the type"),
    "stamp zero": Fault("stamp 0", zero_stamp, "stamp is zero"),
    "stamp repeated": Fault("the stamp before", stamped(0), "stamp is that of the message before"),
    "stamp older": Fault("a stamp 50 ms old", stamped(-50 * MS), "older than one already seen"),
    "stamp far ahead": Fault("a stamp in 10 years", stamped(315_360_000_000 * MS), "far ahead"),
    "clock set back": Fault("stamps 100 s back for good", jump_back, "went back", "second publisher", answered=0.7),
    "two publishers": Fault("a second publisher", second_publisher, "2 publishers", mend=stop_second),
    "too fast": Fault("200 states at once", burst, "lost", answered=0.0),
    "pauses": Fault("pauses of 250 ms", silence, ""),
    # --- odometry
    "odometry unreadable": Fault("bytes that are no message", rubbish("base"), "no message of the type"),
    "orientation zero": Fault("quaternion 0", base(put("pose.pose.orientation.w", 0.0)), "unit quaternion"),
    "orientation long": Fault("quaternion of 2", base(put("pose.pose.orientation.w", 2.0)), "unit quaternion"),
    "base position NaN": Fault("position NaN", base(put("pose.pose.position.z", NAN)), "NaN or infinite"),
    "base twist infinite": Fault("twist inf", base(put("twist.twist.linear.x", INF)), "NaN or infinite"),
    "base absurd": Fault("position 1e300 m", base(put("pose.pose.position.x", 1e300)), "far beyond"),
    "base speed absurd": Fault("1e6 m/s", base(put("twist.twist.linear.z", 1e6)), "far beyond"),
    "covariance NaN": Fault("covariance NaN", base(lambda m: m.pose.covariance.__setitem__(0, NAN)), "covariance"),
    "odometry of a link": Fault("child_frame shank", base(put("child_frame_id", "shank"), True), "root link"),
    "odometry now and then": Fault(  # the last one is carried along its twist
        "a joint state alone", lambda bench, node: bench.joints.publish(leg.joint_state(bench.stamp())), ""
    ),
    "odometry gone": Fault("ten joint states alone, 60 ms apart", without_odometry, "odometry", answered=0.0),
    # --- commands of the joints: no state is lost for any of it
    "command": Fault("positions and efforts", command(), "", "joint_command"),  # as good as any
    "command infinite": Fault("effort inf", command(effort=(INF, 0.0)), "joint_command: a value is NaN or infinite"),
    "command absurd": Fault("position 1e300", command(position=(0.0, 1e300)), "position of joint 'knee' is 1e+300"),
    "command of strangers": Fault(
        "joints elbow, wrist", command(names=("elbow", "wrist")), "none of elbow, wrist is a joint of the model"
    ),
    "command short": Fault("1 effort of 2", command(effort=(0.0,)), "joint_command: position, velocity or effort"),
    "command unreadable": Fault("bytes that are no message", command_rubbish, "joint_command: the bytes are no"),
    "command old": Fault(
        "stamped 60 ms before the state", command(-60 * MS), "too far from the state", mend=no_command
    ),
    # --- sensors that a robot may have or not
    "inertial unit": Fault("a measurement", sensor("imu", Imu), "", "imu"),
    "turn NaN": Fault("rate NaN", sensor("imu", Imu, put("angular_velocity.x", NAN)), "imu: a value is NaN"),
    "turn absurd": Fault("rate 1e6 rad/s", sensor("imu", Imu, put("angular_velocity.x", 1e6)), "imu: a value is far"),
    "unit's orientation long": Fault(
        "quaternion of 2", sensor("imu", Imu, put("orientation.w", 2.0)), "imu: the orientation is not a unit"
    ),
    "unit on the shank": Fault("frame shank", sensor("imu", Imu, frame="shank"), "imu: the frame of the message"),
    "force": Fault("a wrench", sensor("wrench", WrenchStamped), "", "wrench"),
    "force NaN": Fault(
        "force NaN", sensor("wrench", WrenchStamped, put("wrench.force.z", NAN)), "wrench: a value is NaN"
    ),
    "force of the body": Fault("frame body", sensor("wrench", WrenchStamped, frame="body"), "wrench: the frame"),
    "reading": Fault("100 counts", sensor("contact_sensors", JointState), "", "contact_sensors"),
    "reading infinite": Fault(
        "reading inf", sensor("contact_sensors", JointState, put("effort", [INF])), "contact_sensors: a value is NaN"
    ),
    "reading of a stranger": Fault(
        "contact hand",
        sensor("contact_sensors", JointState, put("name", ["hand"])),
        "none of hand",
        mend=silence_of("imu", "wrench", "contact_sensors"),
    ),
    "contact wanted twice": Fault(
        "contact 2",
        sensor("commanded_contacts", JointState, put("position", [2.0])),
        "commanded_contacts: a value is far beyond",
        mend=silence_of("commanded_contacts"),
    ),
    # --- robot description
    "description bad": Fault("a URDF that is cut", describe(BAD_URDF), "robot description", mend=describe(leg.URDF)),
    "description empty": Fault("an empty URDF", describe(""), "", mend=describe(leg.URDF)),
    "description changed": Fault(
        "another URDF", describe(leg.URDF.replace("5.0", "6.0")), "another robot description", mend=describe(leg.URDF)
    ),
    # --- parameters
    "parameter fixed": Fault("horizon while active", set_parameter("prediction.horizon", 0.2), answer="configure"),
    "parameter unknown": Fault("activation.gap_onn", set_parameter("activation.gap_onn", 0.01), answer="declared"),
    "parameter of another type": Fault("autostart: 7", set_parameter("autostart", 7), answer="type"),
    # --- services
    "request of a stranger": Fault("contacts: [hand]", request(contacts=["hand"]), answer="no contact is called"),
    "request without joints": Fault("no joints", request(joints=JointState()), answer="joints"),
    "request with NaN": Fault("gap_tolerance NaN", request(gap_tolerance=NAN), answer="gap_tolerance"),
    "request too large": Fault("10⁶ samples", request(samples=1_000_000), answer="samples"),
    "request too long": Fault("65 536 samples in 60 s", long_request, answer=""),
    "reset in between": Fault("~/reset", trigger("reset"), answer="forgotten"),
    "disabled": Fault("~/enable false", enable(False), "disabled by ~/enable", answered=0.0, mend=enable(True)),
    # --- lifecycle
    "deactivated": Fault("deactivate", cycle("deactivate"), "inactive", answered=0.0, mend=cycle("activate")),
    "cycled": Fault("deactivate, activate", cycle("deactivate", "activate"), "", answered=0.5),
    "configured anew": Fault(
        "deactivate, cleanup, configure, activate",
        cycle("deactivate", "cleanup", "configure", "activate"),
        "",
        answered=0.0,
    ),
}


@dataclass(frozen=True)
class Start:
    """A node that cannot be configured: what is bad in its parameter file, what the diagnostics say, and the mend."""

    sent: str
    old: str
    new: str
    words: str
    name: str  # of the parameter that mends it, set while the node waits
    value: object


CONTACT = "contacts.foot"
STARTS = {
    "no contacts": Start("contact_names: []", "[foot]", "[]", "lists it|list it|no contact", "contact_names", ["foot"]),
    "a parameter that there is not": Start(
        "gap_onn", "    impact:", "    activation: {gap_onn: 0.1}\n    impact:", "gap_onn", "", None
    ),
    "a number out of range": Start(
        "deadline: -1", "deadline: 0.5", "deadline: -1.0", "impact.deadline", "impact.deadline", 0.5
    ),
    "text for a number": Start(
        "deadline: soon", "deadline: 0.5", "deadline: soon", "impact.deadline", "impact.deadline", 0.5
    ),
    "a link that the URDF has not": Start(
        "link: foot", "link: shank", "link: foot", "foot", f"{CONTACT}.link", "shank"
    ),
    "a point of two numbers": Start(
        "points: [0, 0]", "[0.0, 0.0, -0.3]", "[0.0, 0.0]", "points", f"{CONTACT}.points", [0.0, 0.0, -0.3]
    ),
    "a friction below zero": Start("friction: -1", "0.8", "-1.0", "friction", f"{CONTACT}.friction", 0.8),
    "a plane that there is not": Start(
        "environment: wall",
        "friction: 0.8",
        "friction: 0.8, environment: wall",
        "wall",
        f"{CONTACT}.environment",
        "ground",
    ),
}
FILES = {
    "a file that is not there": (None, "No such file"),
    "ros_parameters": (leg.PARAMETERS.replace("ros__parameters", "ros_parameters"), "ros__parameters"),
    "lists in lists": (leg.PARAMETERS.replace("[foot]", "[[foot], [foot]]"), "list of lists"),
    "no YAML": ("/**: [\n", "YAML|yaml|pars"),
}
