"""Nodes that cannot start: each bad parameter and file is told in a sentence, and mended: rows of the matrix."""

import re

import pytest
from diagnostic_msgs.msg import DiagnosticStatus

from helpers import leg
from helpers.faults import FILES, STARTS, set_parameter
from hybrid_contact_msgs.msg import ContactMode
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.ros.arguments import start_fault


@pytest.mark.parametrize("name", STARTS)
def test_a_bad_parameter_is_told_and_mended(bench, name, record_property):
    """With autostart a node tries again when one of its parameters is set; an unknown one needs another file."""
    start = STARTS[name]
    assert start.old in leg.PARAMETERS
    modes = bench.listen(ContactMode, "contact_mode")
    node = bench.start(
        ContactSuiteNode, configure=False, autostart=True, parameters=leg.PARAMETERS.replace(start.old, start.new)
    )
    bench.until(lambda: node.startup.why)
    for _ in range(3):
        level, text, _ = bench.diagnosis(node)
        if re.search(start.words, text):
            break
    assert level == DiagnosticStatus.WARN and text.startswith("not configured: ")
    assert re.search(start.words, text), text
    if start.name:
        reply = set_parameter(start.name, start.value)(bench, node)
        assert not reply, reply
        bench.until(lambda: node.active and bench.joints.get_subscription_count() == 1)
        bench.answer(modes)
    record_property("fault", (name, start.sent, "-", f"WARN: {text}", "yes" if start.name else "by another file"))


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_refused_in_a_sentence(bench, tmp_path, name, record_property):
    content, words = FILES[name]
    file = tmp_path / "bad.yaml"
    if content is not None:
        file.write_text(content)
    arguments = ["--ros-args", "--params-file", str(file)]
    with pytest.raises(Exception) as raised:  # by rcl, as a node is made
        ContactSuiteNode(context=bench.context, cli_args=arguments)
    sentence = start_fault(raised.value, arguments)
    record_property("fault", (name, "a parameter file", "-", f"exit 1: {sentence}", "by another file"))
    assert sentence is not None and str(file) in sentence and re.search(words, sentence), sentence
