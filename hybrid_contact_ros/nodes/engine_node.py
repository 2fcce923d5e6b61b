"""What all nodes of the suite share: inputs, engine, lifecycle, diagnostics. They differ in what they publish."""

from __future__ import annotations

import gc
import sys
import time
import traceback
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import State
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from hybrid_contact_ros.budget import Budget, measure
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.encoding import Encoder
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.intake import JOINTS, ODOM, Intake
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.monitor import Monitor
from hybrid_contact_ros.prediction import ImpactPrediction, ModePrediction, Prediction, Validity
from hybrid_contact_ros.ros.description import RobotDescription
from hybrid_contact_ros.ros.diagnostics import FaultLog, diagnosis, unconfigured
from hybrid_contact_ros.ros.executor import run_node
from hybrid_contact_ros.ros.messages import message_types
from hybrid_contact_ros.ros.parameters import declare_config, declare_own, faults, live_parameters, read_config
from hybrid_contact_ros.ros.qos import OUTPUT, STATE_INPUT, overridable
from hybrid_contact_ros.ros.subscription import Numbered

_UNCONFIGURED = State.PRIMARY_STATE_UNCONFIGURED
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class _Waiting(NamedTuple):
    """A state that is yet to be answered."""

    state: RobotState
    receive_ns: int
    arrived: int  # of time.perf_counter_ns
    anew: bool  # the stream starts anew with it


class EngineNode(LifecycleNode):
    """A lifecycle node around one :class:`ContactEstimator`.

    Configuring reads the parameters, waits for no one: the robot description comes from the parameter
    ``robot_description`` (text), ``urdf_file``, or else the latched topic, which is listened to from the start, so that
    it is there when ``configure`` is called; without it configuring fails and says so. Kernels are compiled and warmed
    here. A bad parameter or URDF fails the transition by name and leaves the node unconfigured. With ``autostart`` the
    next description or parameter is then tried; diagnostics give the reason until it comes.

    States are taken as they come, and the newest is answered once everything else that came before is: a stream that is
    too fast loses states, and nothing else waits for it.

    Subclasses name their ``parts``, and those ``kept`` when the node cannot keep up, and fill in ``create_outputs`` and
    ``publish`` or ``publish_impact``.
    """

    parts = Parts.MODE
    kept = Parts.MODE

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        declare_config(self)
        self._description = RobotDescription(self)
        declare_own(self, "twist_in_world", False, "the odometry's twist is in world axes instead of the base's")
        text = "configure and activate as soon as the robot description is there"
        declare_own(self, "autostart", False, text, live=True)
        text = "start anew by itself when another robot description comes; else diagnostics warn until it is done"
        declare_own(self, "reconfigure_on_new_description", False, text, live=True)
        self.add_on_set_parameters_callback(self._refuse_changes)
        self._wall = Clock(clock_type=ClockType.STEADY_TIME)
        self._enabled = True
        self._active = False
        self._waiting: _Waiting | None = None
        self._why = ""  # the last configure failed
        self._tried: object = None  # what configuring was last tried with
        self._settings = 0  # how often parameters were set
        self.estimator: ContactEstimator | None = None
        self.encoder: Encoder | None = None
        self.intake: Intake | None = None
        self.monitor: Monitor | None = None
        self.urdf: str | None = None
        self._managed: list[tuple[Any, Any]] = []  # (destroy, entity), newest last
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", OUTPUT)
        self._diagnosed = time.perf_counter()
        self.create_timer(1.0, self._diagnose, clock=self._wall)
        self._starter = self.create_timer(0.1, self._autostart, clock=self._wall)
        self.create_timer(0.5, self._follow_description, clock=self._wall)

    # ------------------------------------------------------------------ for subclasses

    def create_outputs(self) -> None:
        """Create publishers and services with :meth:`output` and :meth:`keep`."""
        raise NotImplementedError

    def publish(self, prediction: Prediction, compute_ns: int, age_ns: int) -> None:
        """Publish what this node says of a state; the prediction's impact is not there yet."""

    def publish_impact(self, impact: ImpactPrediction, compute_ns: int) -> None:
        """Publish the set of the next impact; called after :meth:`publish`, where ``parts`` has IMPACT."""

    def output(self, kind: type, topic: str, qos: QoSProfile = OUTPUT) -> Any:
        """A publisher that lives until cleanup and is silent while inactive."""
        publisher: Any = self.create_lifecycle_publisher(kind, topic, copy(qos), qos_overriding_options=overridable())
        self.keep(self.destroy_lifecycle_publisher, publisher)
        return publisher

    def keep(self, destroy: Any, entity: Any) -> Any:
        """Destroy ``entity`` at cleanup."""
        self._managed.append((destroy, entity))
        return entity

    def now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    # ------------------------------------------------------------------ lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        origin = self._description.origin
        try:
            config = read_config(self)
            urdf = self._description.text()
            model = RigidBodyModel.from_urdf(urdf, config)
            begin = time.perf_counter()
            self.estimator = ContactEstimator(model, config)
            self.estimator.warm(freeze=True)
            self.intake = Intake(model, config.input, self.get_parameter("twist_in_world").value)
            self.encoder = Encoder(message_types(), model, self.intake.frame_id or "world", reuse=True)
        except ValueError as error:
            self._why = str(error)
            self.get_logger().error(f"not configured: {error}")
            self._destroy_all()
            return FAILURE
        except Exception as error:  # rclpy would swallow it and go to on_error without a word
            self._why = f"internal error: {error!r}"
            self.get_logger().error(f"configuring failed:\n{traceback.format_exc()}")
            raise
        finally:
            self._tried = self._settings, origin
        self._why = ""
        self.monitor = Monitor(config.diagnostics)
        self.budget = Budget(self.parts, self.kept, config.input.lost_before_less)
        self._log = FaultLog(self.get_logger())
        self._diagnosed = time.perf_counter()
        self._config: EstimatorConfig = config
        self.urdf = urdf
        self._inputs = ([JOINTS] if model.joint_names else []) + ([ODOM] if model.floating_base else [])
        self._subscribe(JointState, "joint_states", self._on_joint_state)
        if model.floating_base:
            self._subscribe(Odometry, "odom", self._on_odometry)
        self.keep(self.destroy_service, self.create_service(Trigger, "~/reset", self._on_reset))
        self.keep(self.destroy_service, self.create_service(SetBool, "~/enable", self._on_enable))
        self.create_outputs()
        self._description.use(urdf)
        gc.freeze()  # the garbage collector need not walk the compiler's objects again and again
        self.get_logger().info(
            f"configured: {model.nv} velocity coordinates, contacts {', '.join(model.contact_names) or 'none'}; "
            f"kernels ready in {time.perf_counter() - begin:.2f} s"
        )
        self._tell_cost()
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._forget()
        self._active = self._enabled = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._active = False
        self._waiting = None
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._destroy_all()
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._destroy_all()
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._destroy_all()
        return SUCCESS

    def destroy_node(self) -> None:
        """As of any node; afterwards nothing of it is left in the ROS graph, also where the process lives on."""
        super().destroy_node()
        # rclpy's state machine keeps the node's handle, and with it the DDS participant, and is itself kept by a cycle
        # that the collector never looks at once configuring has frozen it.
        self._state_machine: Any = None
        gc.unfreeze()

    def _destroy_all(self) -> None:
        self._active = False
        self._waiting = None
        while self._managed:
            destroy, entity = self._managed.pop()
            destroy(entity)
        self.estimator = self.encoder = self.intake = self.monitor = self.urdf = None
        self._description.use(None)

    def _forget(self) -> None:
        """What comes next has nothing to do with what was."""
        assert self.estimator is not None and self.intake is not None
        self._waiting = None
        self.estimator.reset()
        self.intake.reset()

    @property
    def active(self) -> bool:
        """Whether the node is in the lifecycle's active state, enabled or not."""
        return self._active

    @property
    def _attempt(self) -> object:
        """What configuring depends on: it need not be tried twice with the same."""
        return self._settings, self._description.origin

    def _autostart(self) -> None:
        if not self.get_parameter("autostart").value or self._state_machine.current_state[0] != _UNCONFIGURED:
            self._starter.cancel()
            return
        if not self._description.there:
            self.get_logger().info("waiting for robot_description", throttle_duration_sec=5.0)
            return
        if self._tried == self._attempt:
            return
        if self.trigger_configure() == SUCCESS:
            self._starter.cancel()
            self.trigger_activate()

    def _follow_description(self) -> None:
        """Start anew with another robot description, where that is asked for and it is a good one."""
        if (
            self._tried == self._attempt
            or not self._description.replaced
            or not self.get_parameter("reconfigure_on_new_description").value
        ):
            return
        self._tried = self._attempt
        try:
            ContactEstimator(RigidBodyModel.from_urdf(self._description.text(), self._config), self._config)
        except ValueError as error:
            self._why = str(error)
            self.get_logger().error(f"the new robot description is not used, the old one goes on: {error}")
            return
        self.get_logger().info("configuring anew: there is another robot description")
        active = self._active
        if active:
            self.trigger_deactivate()
        self.trigger_cleanup()
        if self.trigger_configure() == SUCCESS and active:
            self.trigger_activate()

    # ------------------------------------------------------------------ inputs

    def _on_joint_state(self, msg: JointState, number: int | None, writer: Any) -> None:
        arrived = time.perf_counter_ns()
        if self._active and self._enabled and self.intake is not None:
            receive = self.now_ns()
            self._answer(self.intake.joint_state(msg, receive, number, writer), receive, arrived)
        elif self.intake is not None:
            self.intake.rates[JOINTS].forget()  # what comes meanwhile is not lost

    def _on_odometry(self, msg: Odometry, number: int | None, writer: Any) -> None:
        arrived = time.perf_counter_ns()
        if self._active and self._enabled and self.intake is not None:
            receive = self.now_ns()
            self._answer(self.intake.odometry(msg, receive, number, writer), receive, arrived)
        elif self.intake is not None:
            self.intake.rates[ODOM].forget()

    def _answer(self, state: RobotState | None, receive_ns: int, arrived: int) -> None:
        intake = self.intake
        assert intake is not None and self.encoder is not None and self.monitor is not None
        self._log.tell(intake)
        if state is None:
            return
        if intake.frame_id:
            self.encoder.frame_id = intake.frame_id
        # The executor handles events in the order in which they came, one for every message. Computing at once would
        # let those of a fast stream pile up in front of timers and services: so it goes behind all that waits.
        before = self._waiting
        anew = intake.set_back or (before is not None and before.anew)
        self._waiting = _Waiting(state, receive_ns, arrived, anew)
        if before is not None:
            self.monitor.overtaken()
        if self.executor is not None:
            self.executor.create_task(self._predict)
        else:
            self._predict()

    def _predict(self) -> None:
        """Answer the state that waits."""
        waiting, self._waiting = self._waiting, None
        intake, estimator, monitor = self.intake, self.estimator, self.monitor
        if waiting is None or intake is None or estimator is None or monitor is None:
            return  # a later message was answered in its place, or the node was deactivated
        begun = time.perf_counter_ns()
        state, receive_ns, arrived, anew = waiting
        if anew:
            estimator.reset()
        try:
            parts = self.budget.parts
            prediction = estimator.update(state, parts & ~Parts.IMPACT)
            self.publish(prediction, time.perf_counter_ns() - arrived, max(0, receive_ns - state.stamp_ns))
            monitor.answered(self.now_ns() - state.stamp_ns, time.perf_counter_ns() - arrived)
            # Mode and flags are on their way: they do not wait for a set, which takes several times as long.
            impact = estimator.next_impact() if parts & Parts.IMPACT else None
            if impact is not None:
                self.publish_impact(impact, time.perf_counter_ns() - arrived)
                if impact.truncated:
                    monitor.missed()
            done = time.perf_counter_ns()
            monitor.spent(done - begun)
            self._note_jams(prediction.mode)
            rate = intake.rates[intake.pace]
            self.budget.spent(done, done - begun, rate.lost + monitor.states_overtaken, rate.exact)
        except ValueError as error:
            intake.refuse(str(error))
            self._log.tell(intake)
        except Exception as error:  # a fault of ours must not take a robot's node down: forget, tell, go on
            estimator.reset()
            monitor.failed("internal", f"internal error: {error!r}")
            self.get_logger().error(traceback.format_exc(), throttle_duration_sec=5.0)

    def _note_jams(self, mode: ModePrediction) -> None:
        """Slides that friction jams, for the diagnostics."""
        assert self.monitor is not None and self.estimator is not None
        if mode.validity & Validity.EFFORT and not mode.validity & Validity.FORCES:
            contact = int(np.argmin(np.where(mode.force_valid, np.inf, mode.critical_friction)))
            self.monitor.unsolved(
                f"{self.estimator.model.contact_names[contact]} has friction {mode.friction_coefficient[contact]:g}, "
                f"and its slide jams from {mode.critical_friction[contact]:.2f} on; configure a lower friction"
            )
        elif mode.jammed.any():
            self.monitor.jammed()

    # ------------------------------------------------------------------ services, parameters, diagnostics

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.estimator is None or self.intake is None or self.encoder is None:
            response.success, response.message = False, "not configured"
            return response
        self._forget()
        response.success, response.message = True, "earlier states are forgotten"
        return response

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Ignore inputs, or take them again. Holds until the node is next activated, which enables it."""
        if not self._active:
            response.success, response.message = False, "not active: activating the node also enables it"
            return response
        if request.data and not self._enabled:
            self._forget()
        self._enabled = bool(request.data)
        if not self._enabled:
            self._waiting = None
        text = "predicting" if self._enabled else "inputs are ignored until ~/enable true or the next activation"
        response.success, response.message = True, text
        return response

    def _diagnose(self) -> None:
        if self.monitor is None or self.intake is None:
            why = self._why or ("" if self._description.there else "no robot description yet")
            text = f"not configured: {why}" if why else "not configured"
            self._report(unconfigured(self.get_fully_qualified_name(), self.get_name(), text))
            return
        now = time.perf_counter()
        publishers = {topic: self.count_publishers(self.resolve_topic_name(topic)) for topic in self._inputs}
        seconds = max(now - self._diagnosed, 1e-3)
        said, values = self.monitor.report(
            seconds, self._idle(), self.intake, publishers, self.budget.left_out, self._outdated()
        )
        self._report(diagnosis(self.get_fully_qualified_name(), self.get_name(), said, values))
        self._diagnosed = now

    def _tell_cost(self) -> None:
        assert self.estimator is not None
        cost = measure(self.estimator, self.parts)
        if cost is None:
            return
        sets = f", an impact set {1e3 * cost.impact:.2f} ms more" if cost.impact else ""
        self.get_logger().info(
            f"a state with {cost.closed} contacts closed takes {1e3 * cost.update:.2f} ms on this machine now (worst "
            f"{1e3 * cost.worst:.2f} ms{sets}): up to some {1.0 / cost.update:.0f} states a second can be answered"
        )

    def _idle(self) -> str:
        """Why no state is answered, if so."""
        if not self._active:
            return "inactive"
        return "" if self._enabled else "disabled by ~/enable"

    def _outdated(self) -> str:
        """That the model in use is not that of the robot description which is there now, if so."""
        if not self._description.replaced:
            return ""
        if self._why and self._tried == self._attempt:
            return f"the new robot description is not used, the old one goes on: {self._why}"
        return "there is another robot description: the old one is used until the node is configured anew"

    def _report(self, report: DiagnosticArray) -> None:
        report.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(report)

    def _subscribe(self, kind: type, topic: str, callback: Any) -> None:
        self.keep(
            self.destroy_subscription,
            self.create_subscription(
                kind, topic, Numbered(callback), copy(STATE_INPUT), qos_overriding_options=overridable()
            ),
        )

    def _refuse_changes(self, parameters: list[Any]) -> SetParametersResult:
        if self.estimator is not None:
            free = live_parameters(self)
            fixed = [p.name for p in parameters if p.name not in free and self.has_parameter(p.name)]
            if fixed:
                return SetParametersResult(
                    successful=False, reason=f"{fixed[0]} is read at configure: clean the node up first, then set it"
                )
        self._settings += 1
        if any(p.name == "autostart" for p in parameters):
            self._starter.reset()
        for parameter in parameters:
            faults(self).pop(parameter.name, None)
        return SetParametersResult(successful=True)


def run(make: Callable[[], EngineNode]) -> None:
    """Body of every node's ``main``."""
    sys.exit(run_node(make))
