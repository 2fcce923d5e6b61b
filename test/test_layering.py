"""The direction of imports: the contracts of pyproject.toml, and who may know ROS."""

import ast
import subprocess
import sys
from pathlib import Path

KNOWS_ROS = ("ros/", "nodes/")
"""The rooms that may import rclpy and messages. All others must run without ROS."""


def test_contracts_of_the_layers_hold(root):
    # In a process of its own: import-linter puts its own paths and loggers into the one that it runs in.
    command = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    result = subprocess.run([sys.executable, "-c", command], cwd=root, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr


def imported_modules(path: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            modules.add(node.module.split(".")[0])
    return modules


def is_ros(module: str) -> bool:
    return module in {"rclpy", "launch", "launch_ros", "ament_index_python"} or module.endswith(
        ("_msgs", "_srvs", "_interfaces")
    )


def test_only_ros_and_nodes_know_rclpy_and_messages(root):
    package = root / "hybrid_contact_ros"
    found = {}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if not name.startswith(KNOWS_ROS):
            found[name] = sorted(filter(is_ros, imported_modules(path)))
    assert {name: modules for name, modules in found.items() if modules} == {}


def test_the_rooms_that_may_know_ros_do(root):
    """Otherwise the list above has outlived a room, and what was moved out of it could know ROS unseen."""
    for room in KNOWS_ROS:
        files = list((root / "hybrid_contact_ros" / room).rglob("*.py"))
        assert any("rclpy" in imported_modules(path) for path in files), room


def test_public_names_import_without_ros_numba_or_pinocchio(root):
    command = (
        "import sys, hybrid_contact_ros; "
        "loaded = {'rclpy', 'numba', 'pinocchio', 'scipy'} & set(sys.modules); "
        "raise SystemExit(f'import hybrid_contact_ros also imports {loaded}' if loaded else 0)"
    )
    result = subprocess.run([sys.executable, "-c", command], cwd=root, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr


def test_no_files_of_the_nodes_import_each_other_in_a_circle(root):
    """Imports for type checking alone count too: a file is understood without those that use it."""
    room = "hybrid_contact_ros.nodes."
    imports = {}
    for path in sorted((root / "hybrid_contact_ros" / "nodes").glob("*.py")):
        found = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom) and n.module]
        imports[path.stem] = {n.module.removeprefix(room) for n in found if n.module.startswith(room)}
    assert imports["engine_node"] >= {"host", "state_stream", "startup", "reports"}
    left = dict(imports)
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    assert not left, left
