"""What all nodes of the suite share: lifecycle, parameters and services. They differ in what they publish."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from std_srvs.srv import SetBool, Trigger

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.config_live import is_tunable
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.warming import warm as warm_messages
from hybrid_contact_ros.nodes.host import Host
from hybrid_contact_ros.nodes.reports import Reports, tell_cost
from hybrid_contact_ros.nodes.startup import Startup, compiling_logger
from hybrid_contact_ros.nodes.state_stream import StateStream
from hybrid_contact_ros.ros.description import RobotDescription
from hybrid_contact_ros.ros.executor import ended_at_once, run_node
from hybrid_contact_ros.ros.parameters import declare_config, declare_own, faults, live_parameters, read_config
from hybrid_contact_ros.ros.realtime import Realtime
from hybrid_contact_ros.warming import postponed, warm

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class EngineNode(Host):
    """A lifecycle node around one :class:`~hybrid_contact_ros.estimator.ContactEstimator`.

    Configuring reads the parameters and waits for nothing. The robot description comes from the parameter
    ``robot_description`` (text), from ``urdf_file``, or else from the latched topic. The node listens to the topic from
    the start, so that the description is there when ``configure`` is called; without one configuring fails and says so.
    Kernels are compiled and warmed here. A bad parameter or URDF fails the transition, is named, and leaves the node
    unconfigured. With ``autostart`` the next description or parameter is then tried, and the diagnostics give the
    reason until it comes.

    Subclasses name their ``parts`` and those of them that are ``kept`` when the node cannot keep up, and implement
    ``create_outputs`` and, if they say something of every state, ``publish``.

    Attributes:
        stream: the engine and its inputs; None while the node is not configured.
        startup, reports: what goes on in any state of the lifecycle.
        realtime: what the operating system does for the node.
        urdf: the text that the model was made from; None while the node is not configured.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        declare_config(self)
        self.stream: StateStream | None = None
        self.urdf: str | None = None
        wall = Clock(clock_type=ClockType.STEADY_TIME)
        self._description = RobotDescription(self)
        declare_own(self, "serialized_io", "twist_in_world")
        self.startup = Startup(self, self._description, wall, self._config)
        self.realtime = Realtime(self.get_logger())
        self.reports = Reports(self, self.startup, self.realtime, wall, lambda: self.stream)
        self.add_on_set_parameters_callback(self._refuse_changes)

    # ------------------------------------------------------------------ for subclasses

    def create_outputs(self) -> None:
        """Create publishers and services with :meth:`output` and :meth:`keep`."""
        raise NotImplementedError

    def _config(self) -> EstimatorConfig | None:
        return None if self.stream is None else self.stream.estimator.config

    # ------------------------------------------------------------------ lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        origin, why = self._description.origin, ""
        try:
            config = read_config(self)
            urdf = self._description.text()
            model = RigidBodyModel.from_urdf(urdf, config)
            off = Parts(0) if config.sensitivity.horizon > 0.0 and model.contacts else Parts.SENSITIVITY
            self.parts = type(self).parts & ~off
            self.later = postponed(model, config, self.parts)
            begin = time.perf_counter()
            own = [self.get_parameter(name).value for name in ("twist_in_world", "serialized_io")]
            stream = StateStream(self, model, config, *own)
            # Here the kernels are compiled, or loaded; afterwards nothing can be compiled, so that no state ever waits.
            with ended_at_once():
                tell = compiling_logger(self).info
                warm(stream.estimator, urdf, self.parts & ~self.later, tell=tell, messages=warm_messages)
        except ValueError as error:
            why = str(error)
            self.get_logger().error(f"not configured: {error}")
            self._destroy_all()
            return FAILURE
        except Exception as error:  # a fault of the suite: rclpy swallows it and goes to on_error without a word
            why = f"internal error: {error!r}"
            self.get_logger().error(f"configuring failed:\n{traceback.format_exc()}")
            raise
        finally:
            self.startup.note_try(origin, why)
        self.stream, self.urdf = stream, urdf
        self.reports.begin()
        stream.subscribe()
        self.keep(self.destroy_service, self.create_service(Trigger, "~/reset", self._on_reset))
        self.keep(self.destroy_service, self.create_service(SetBool, "~/enable", self._on_enable))
        self.create_outputs()
        self._description.use(urdf)
        self.get_logger().info(
            f"configured: {model.nv} velocity coordinates, contacts {', '.join(model.contact_names) or 'none'}; "
            f"kernels ready in {time.perf_counter() - begin:.2f} s"
        )
        tell_cost(self.get_logger(), stream.estimator, self.parts)
        self.realtime.begin(config.realtime, self._threads[True], self._threads[False])
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        assert self.stream is not None
        self.stream.forget()
        self._active = self.stream.enabled = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        assert self.stream is not None
        self._active = False
        self.stream.stop()
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
        """Destroy the node as any other. Nothing of it is left in the ROS graph, even where the process lives on."""
        self._destroy_all()  # above all its threads, which must not use what is destroyed
        self._clock_changes.unregister()
        super().destroy_node()
        # rclpy's state machine keeps the handle of the node, and with it the DDS participant. A cycle of references
        # keeps the state machine, and the garbage collector does not look at the cycle once configuring has frozen it.
        self._state_machine: Any = None

    def _destroy_all(self) -> None:
        self._active = False
        if self.stream is not None:
            self.stream.stop()
        self.realtime.end()
        self._threads = {True: [], False: []}
        while self._managed:
            destroy, entity = self._managed.pop()
            destroy(entity)
        self.stream = self.urdf = None
        self._description.use(None)

    # ------------------------------------------------------------------ services and parameters

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self.stream is None:
            response.success, response.message = False, "not configured"
            return response
        self.stream.forget()
        response.success, response.message = True, "earlier states are forgotten"
        return response

    def _on_enable(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Ignore inputs, or take them again. This holds until the next activation of the node, which enables it."""
        stream = self.stream
        if stream is None or not self._active:
            response.success, response.message = False, "not active: activating the node also enables it"
            return response
        if not request.data:
            stream.stop()
        elif not stream.enabled:
            stream.forget()
            stream.enabled = True
        text = "predicting" if stream.enabled else "inputs are ignored until ~/enable true or the next activation"
        response.success, response.message = True, text
        return response

    def _refuse_changes(self, parameters: list[Any]) -> SetParametersResult:
        if self.stream is not None:
            free, tuned = live_parameters(self), {p.name: p.value for p in parameters if is_tunable(p.name)}
            fixed = [p.name for p in parameters if p.name not in free | set(tuned) and self.has_parameter(p.name)]
            if fixed:
                return SetParametersResult(
                    successful=False, reason=f"{fixed[0]} is read at configure: clean the node up first, then set it"
                )
            if tuned:
                # Between two states: this is the thread that answers them. Nothing refuses the parameters after this.
                try:
                    self.stream.tune(read_config(self, tuned))
                except ValueError as error:
                    return SetParametersResult(successful=False, reason=str(error))
        self.startup.note_parameters(parameters)
        for parameter in parameters:
            faults(self).pop(parameter.name, None)
        return SetParametersResult(successful=True)


def run(make: Callable[[], EngineNode]) -> None:
    """Body of every node's ``main``."""
    sys.exit(run_node(make))
