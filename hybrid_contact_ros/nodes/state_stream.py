"""The way of a state through a node: it is answered at once where nothing else waits, else later, or a newer one takes
its place."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from rclpy.executors import Executor

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import BESIDE, ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState, UnusableStateError
from hybrid_contact_ros.messages.encoding import Encoder
from hybrid_contact_ros.messages.intake import JOINTS, ODOM
from hybrid_contact_ros.messages.serialized_encoding import SerializedEncoder
from hybrid_contact_ros.monitoring.budget import Budget
from hybrid_contact_ros.monitoring.monitor import Monitor
from hybrid_contact_ros.monitoring.state_notes import StateNotes
from hybrid_contact_ros.nodes.host import Host
from hybrid_contact_ros.nodes.impact_worker import ImpactWorker
from hybrid_contact_ros.nodes.sensitivity_worker import SensitivityWorker
from hybrid_contact_ros.nodes.state_inputs import StateInputs
from hybrid_contact_ros.ros.message_types import message_types

_IMPACT, _SENSITIVITY = int(Parts.IMPACT), int(Parts.SENSITIVITY)
_BESIDE = int(BESIDE)
_TIMED = 4  # of so many states the processor time of one is read, for which the system must be asked twice


class _Waiting(NamedTuple):
    """A state that is yet to be answered."""

    state: RobotState
    receive_ns: int
    arrived: int  # when its last message came, by time.perf_counter_ns
    anew: bool  # whether the stream starts anew with it
    received: int  # when the middleware got that message, by time.time_ns; 0: it does not tell


class StateStream(StateInputs):
    """The engine of a configured node, and its inputs.

    The executor handles events in the order in which they came, one for every message. If each state were answered at
    its turn, those of a fast stream would pile up in front of timers and services. Therefore everything that came
    during an answer has its turn before the next answer, and of the states among it only the newest is answered: a
    stream that is too fast loses states, and nothing else waits for more than one of them. A state that comes later is
    answered at once: where no message was lost, and the middleware got this one after the last answer, all that came
    before has had its turn.

    Args:
        node: the node, which publishes the answers.
        model, config: the robot and its configuration.
        twist_in_world: the odometry's twist is in the axes of the world, not in those of the base.
        serialized: messages are read and published as bytes; else objects are made of all, which takes longer.

    Attributes, beside those of its inputs:
        sets: who computes the impact sets, where the node publishes them. maps: the same of sensitivities.
        tuned: called with each configuration that comes after the first.
        parts: the parts (bits of Parts) that the state under way is answered with.

    Raises:
        ValueError: the model and the configuration do not go together.
    """

    def __init__(
        self, node: Host, model: RigidBodyModel, config: EstimatorConfig, twist_in_world: bool, serialized: bool
    ) -> None:
        super().__init__(node, model, config, twist_in_world, serialized)
        self.estimator = ContactEstimator(model, config)
        types, frame_id = message_types(), self.intake.frame_id or "world"
        self.encoder: Encoder | SerializedEncoder = (
            SerializedEncoder(types, model, frame_id) if serialized else Encoder(types, model, frame_id, reuse=True)
        )
        self.monitor = Monitor(config.diagnostics, sets=bool(node.parts & Parts.IMPACT))
        self._notes = StateNotes(self.estimator, config, self.monitor)
        self.budget = Budget(node.parts, node.kept, config.input.lost_before_less)
        self.sets: ImpactWorker | None = None
        self.maps: SensitivityWorker | None = None
        self.tuned: list[Callable[[EstimatorConfig], None]] = []
        self._waiting: _Waiting | None = None
        self._behind: Executor | None = None  # where others have their turn before the next answer
        self.parts = int(node.parts)
        self._untimed = _TIMED
        self._frame_id = self.intake.frame_id
        self._done = self._lost = 0  # end of the last answer, by time.time_ns, and how many messages were lost then

    def tune(self, config: EstimatorConfig) -> None:
        """Answer the next state by other tolerances and intervals of impacts.

        Raises:
            ValueError: they cannot be used, or more is different. Nothing has changed then.
        """
        self.estimator.tune(config)
        self._notes.tune(config)
        for tune in self.tuned:
            tune(config)

    def forget(self) -> None:
        """Forget earlier states: what comes next has nothing to do with them."""
        self._drop()
        self.estimator.reset()
        self.intake.reset()

    def stop(self) -> None:
        """Answer nothing until ``enabled`` again, not even what waits. The estimator keeps what it knows."""
        self.enabled = False
        self._drop()

    def _drop(self) -> None:
        self._waiting = None
        for worker in (self.sets, self.maps):
            if worker is not None:
                worker.drop()

    def _go_on(self) -> None:
        """The state has been answered, and Python is free for the threads beside it."""
        if self.sets is not None:
            self.sets.go_on()
        if self.maps is not None:
            self.maps.go_on()

    def _take(
        self,
        receive: int,
        arrived: int,
        topic: str,
        convert: Any,
        msg: Any,
        number: int | None,
        writer: Any,
        received: int,
    ) -> None:
        if not (self.enabled and self._node.active):
            self.intake.rates[topic].forget()  # what comes meanwhile is not lost
            return
        intake = self.intake
        state: RobotState | None = None
        with self._protected:
            state = convert(msg, receive, number, writer)
        self._tell_faults()
        if state is None:
            return
        frame_id = intake.frame_id
        if frame_id is not self._frame_id and frame_id:  # of most messages it is the text of the one before
            self._frame_id = self.encoder.frame_id = frame_id
        before = self._waiting
        anew = intake.set_back or (before is not None and before.anew)
        self._waiting = _Waiting(state, receive, arrived, anew, received)
        if before is not None:
            self.monitor.overtaken()
        executor = self._node.executor
        if executor is not None and self._behind is executor:
            return
        if executor is not None and received and not self._nothing_came_before(received):
            self._let_others_go_first()
        else:
            self._answer()

    def _nothing_came_before(self, received: int) -> bool:
        """Whether all that came before a message of that reception has had its turn."""
        # A stamp of the future is by another clock than ours, and says nothing.
        return self._done < received <= time.time_ns() and self._lost == self._lost_until_now()

    def _answer_later(self) -> None:
        with self.turn:
            self._answer()
        self._go_on()  # the other threads would interrupt a state that is not answered yet

    def _answer(self) -> None:
        """Answer the state that waits, if there is one, and then let others have their turn."""
        self._behind = None
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        with self._protected:
            self._publish(waiting)
        self._done, self._lost = time.time_ns(), self._lost_until_now()
        if not waiting.received:  # it could not be told of the next state whether something came before it
            self._let_others_go_first()

    def _let_others_go_first(self) -> None:
        self._behind = self._node.executor
        if self._behind is not None:
            self._behind.create_task(self._answer_later)  # queued behind everything that came until now

    def _lost_until_now(self) -> int:
        """Where messages are lost, a newer one is read at the turn of an older one, and others may wait behind that."""
        rates = self.intake.rates
        return rates[JOINTS].lost + rates[ODOM].lost

    def _failed(self, why: str) -> None:
        """A fault of the suite: the engine starts anew, since nobody knows what state the fault left it in."""
        self.estimator.reset()
        self.monitor.failed("internal", why)

    def _publish(self, waiting: _Waiting) -> None:
        node, intake, estimator, monitor = self._node, self.intake, self.estimator, self.monitor
        begun, timed = time.perf_counter_ns(), self._untimed >= _TIMED
        worked, self._untimed = (time.thread_time_ns(), 1) if timed else (0, self._untimed + 1)
        state, receive_ns, arrived, anew, _ = waiting
        if anew:
            estimator.reset()
        try:
            unheard = node.unheard()
            parts = self.parts = int(self.budget.parts) & ~unheard
            prediction = estimator.update(state, parts & ~_BESIDE)
            node.publish(prediction, time.perf_counter_ns() - arrived, max(0, receive_ns - state.stamp_ns))
            monitor.answered(node.now_ns() - state.stamp_ns, time.perf_counter_ns() - arrived)
            if self.sets is not None and parts & _IMPACT:
                ahead = estimator.impact_ahead()
                if ahead is not None:
                    self.sets.offer(ahead, arrived)
            if self.maps is not None and parts & _SENSITIVITY:
                events = estimator.events_ahead()
                if events is not None:
                    self.maps.offer(events, arrived)
            self._notes.take(state, prediction.mode)
            done = time.perf_counter_ns()
            cost = done - begun
            monitor.spent(cost)
            rate = intake.rates[intake.pace]
            lost = rate.lost + monitor.states_overtaken
            behind, self.turn.waited_ns = self.turn.waited_ns, 0
            waited = _TIMED * (cost + behind - (time.thread_time_ns() - worked)) if timed else 0
            self.budget.spent(done, cost + behind, lost, rate.exact, waited, unheard)
        except UnusableStateError as error:  # the state cannot be computed with
            intake.refuse(str(error))
            self.log.tell(intake)
