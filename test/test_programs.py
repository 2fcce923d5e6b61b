"""The entry points: one thread for BLAS, and a sentence where ROS is not there."""

import os
import subprocess
import sys

import pytest

COMMAND = "import os, sys; sys.argv = ['hybrid-contact', '--version']; import hybrid_contact_ros.programs as p\n"
SHOW = "print(os.environ['OPENBLAS_NUM_THREADS'], os.environ['OMP_NUM_THREADS'], 'numpy' in sys.modules)\n"


@pytest.mark.parametrize(("given", "kept"), [({}, "1 1"), ({"OPENBLAS_NUM_THREADS": "4"}, "4 1")])
def test_blas_has_one_thread_unless_more_are_asked_for(given, kept):
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")} | given
    code = f"{COMMAND}p._one_thread()\n{SHOW}"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [*kept.split(), "False"]  # before numpy is there


def test_a_node_without_ros_says_what_it_needs(tmp_path):
    blocked = (
        "import sys\n"
        "class Gone:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('rclpy', 'rcl_interfaces', 'lifecycle_msgs'):\n"
        "            raise ModuleNotFoundError(f'No module named {name}', name=name)\n"
        "sys.meta_path.insert(0, Gone())\n"
        "from hybrid_contact_ros.programs import contact_suite\n"
        "contact_suite()\n"
    )
    done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True)
    assert done.returncode == 1 and "needs ROS 2" in done.stderr and "Traceback" not in done.stderr
