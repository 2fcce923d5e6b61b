"""The service ``~/predict_impact``: the set of a state that a client asks about, computed beside the stream of
states."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from math import isfinite

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from rclpy.time import Time

from hybrid_contact_msgs.srv import PredictImpact
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.encoding import Encoder
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.refusals import USED
from hybrid_contact_ros.nodes.engine_node import EngineNode
from hybrid_contact_ros.ros.boundary import protected
from hybrid_contact_ros.ros.message_types import message_types, nanoseconds

_GREATEST_QUEUE = 8  # requests that may wait
_NICE = 10  # priority of the thread: where processors are short, the stream goes first


class ImpactRequests:
    """One thread, which answers one request after the other with an estimator of its own.

    The kernels release Python's lock, so that the stream of states is answered meanwhile. A request takes no longer
    than ``impact.request_deadline``, and a few requests may wait; further ones are refused. The thread lives until the
    node is cleaned up. Requests that are then still waiting get no answer, like those to a service that is not there.
    """

    def __init__(self, node: EngineNode) -> None:
        assert node.stream is not None and node.urdf is not None
        self._node, self._stream_encoder = node, node.stream.encoder
        config = node.stream.estimator.config
        self._estimator = ContactEstimator(RigidBodyModel.from_urdf(node.urdf, config), config)
        self._encoder = Encoder(message_types(), self._estimator.model)
        self._worker = ThreadPoolExecutor(1, "predict_impact", _yield_to_others)
        node.has_thread(self._worker.submit(threading.get_native_id).result(), sets=False)
        self._waiting = 0
        self._ended = threading.Event()
        # A group of its own: an executor with groups would hold up everything else until the answer is there.
        service = node.create_service(
            PredictImpact, "~/predict_impact", self._on_request, callback_group=ReentrantCallbackGroup()
        )
        node.keep(node.destroy_service, service)
        node.keep(ImpactRequests._end, self)

    def tune(self, config: EstimatorConfig) -> None:
        """Answer the requests that come from now on by this configuration, which the stream of states has taken."""
        self._worker.submit(self._estimator.tune, config)

    def _end(self) -> None:
        self._ended.set()
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _on_request(
        self, request: PredictImpact.Request, response: PredictImpact.Response
    ) -> PredictImpact.Response:
        node = self._node
        if not node.active:
            return _refused(response, "the node is not active")
        if self._waiting >= _GREATEST_QUEUE:
            return _refused(response, f"busy: {self._waiting} requests are waiting for their answer")
        now, world = node.now_ns(), self._stream_encoder.frame_id
        answered: Future[PredictImpact.Response] = Future(executor=node.executor)
        self._waiting += 1

        def work() -> None:
            with protected(node.get_logger(), lambda why: _refused(response, why)):
                try:
                    self._encoder.frame_id = world
                    self._answer(request, response, now)
                except ValueError as error:  # the request cannot be answered
                    _refused(response, str(error))
            # rclpy would send the answer of a service that is gone, and that would end the executor.
            if not self._ended.is_set():
                answered.set_result(response)

        self._worker.submit(work)
        try:
            return await answered  # type: ignore[no-any-return]
        finally:
            self._waiting -= 1

    def _answer(self, request: PredictImpact.Request, response: PredictImpact.Response, now: int) -> None:
        begin = time.perf_counter_ns()
        estimator = self._estimator
        config = estimator.config.impact
        names = list(estimator.model.contact_names)
        unknown = [name for name in request.contacts if name not in names]
        if unknown:
            raise ValueError(f"no contact is called {unknown[0]!r}; there are {', '.join(names) or 'none'}")
        if not isfinite(request.gap_tolerance):
            raise ValueError(f"gap_tolerance is {request.gap_tolerance}; metres, or 0 for the node's, are needed")
        asked = nanoseconds(request.deadline)
        if asked < 0:
            raise ValueError(f"deadline is {1e-9 * asked:g} s; more than 0 s, or 0 for the node's, is needed")
        longest = round(1e9 * config.request_deadline)
        asked = asked or round(1e9 * config.deadline)
        impact = estimator.impact(
            self._state(request, now),
            contacts=[names.index(name) for name in request.contacts] or None,
            gap_tolerance=request.gap_tolerance if request.gap_tolerance > 0 else None,
            samples=request.samples or None,
            seed=request.seed,
            deadline_ns=min(asked or longest, longest),
        )
        response.success = True
        if not impact.contacts.size:
            response.message = "no contact is within gap_tolerance: nothing happens"
        elif impact.velocities.shape[0] == 1 and (impact.velocities[0] == impact.velocity_minus).all():
            response.message = "no contact approaches: nothing happens"
        elif impact.truncated and not 0 < asked <= longest:
            response.message = f"cut after {config.request_deadline:g} s (impact.request_deadline)"
        response.set = self._encoder.impact(impact, time.perf_counter_ns() - begin)

    def _state(self, request: PredictImpact.Request, now: int) -> RobotState:
        """The state that a request holds. A stamp of 0 means now.

        Raises:
            ValueError: the state is refused, for the same reasons as on the topics.
        """
        estimator = self._estimator
        joints, odometry = request.joints, request.odometry
        if nanoseconds(joints.header.stamp) == 0:
            joints.header.stamp = Time(nanoseconds=now).to_msg()
        odometry.header.stamp = joints.header.stamp
        asked = replace(estimator.config.input, base="odometry")  # a request brings its own
        intake = Intake(estimator.model, asked, self._node.get_parameter("twist_in_world").value)
        state = intake.odometry(odometry, now)
        if set(intake.faults) <= USED or not estimator.model.floating_base:
            state = intake.joint_state(joints, now) or state
        if state is None:
            raise ValueError(intake.last_fault[1] if intake.last_fault else "the state is incomplete")
        return state


def _yield_to_others() -> None:
    """Lower the priority of this thread. On Linux a thread has a priority of its own."""
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


def _refused(response: PredictImpact.Response, why: str) -> PredictImpact.Response:
    response.success, response.message = False, why
    return response
