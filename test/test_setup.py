"""The packaging files agree with each other, with the imports of the package, and with what is in the folders."""

import ast
import re
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import setuptools

# Modules whose rosdep key, or whose name at pip, is another one. None: the key does not exist, see package.xml.
ROSDEP_KEYS = {
    "numpy": "python3-numpy",
    "scipy": "python3-scipy",
    "sympy": "python3-sympy",
    "numba": "python3-numba",
    "yaml": "python3-yaml",
    "rich": "python3-rich",
    "matplotlib": "python3-matplotlib",
    "rosbags": None,
    "mujoco": None,
    "bokeh": None,
    "llvmlite": None,  # comes with numba
    "example_robot_data": None,
    "dask": None,
    "distributed": None,
    "fsspec": None,
    "pyarrow": None,
    "rerun": None,
}
# Compression of recordings, which rosbags depends on and brings; zstd is Python's own from 3.14 on.
BROUGHT_BY_ROSBAGS = {"lz4", "backports", "compression"}
OPTIONAL = {"rerun"}  # used where somebody has installed it: `replay --rrd`
PIP_NAMES = {"yaml": "pyyaml", "pinocchio": "pin", "example_robot_data": "example-robot-data"}


def manifest(folder: Path) -> ElementTree.Element:
    return ElementTree.parse(folder / "package.xml").getroot()


def dependencies(package: ElementTree.Element) -> set[str]:
    return {entry.text for kind in ("depend", "exec_depend") for entry in package.iter(kind)}


def third_party_imports(folder: Path) -> set[str]:
    """Top-level modules imported anywhere in a folder that are neither ours nor Python's."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - BROUGHT_BY_ROSBAGS - {"hybrid_contact_ros"}


@pytest.fixture(scope="module")
def setup_arguments(root):
    """What setup.py tells setuptools."""
    seen, original = {}, setuptools.setup
    setuptools.setup = lambda **arguments: seen.update(arguments)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(root)
            runpy.run_path(str(root / "setup.py"))
    finally:
        setuptools.setup = original
    return seen


@pytest.mark.parametrize("folder", ["hybrid_contact_ros", "launch"])
def test_package_xml_names_all_that_is_imported(root, folder):
    keys = {ROSDEP_KEYS.get(name, name) for name in third_party_imports(root / folder)} - {None}
    assert keys <= dependencies(manifest(root))


def test_messages_package_names_all_that_its_messages_use(root):
    folder = root / "hybrid_contact_msgs"
    used = set()
    for path in folder.glob("*/*.[ms][sr][gv]"):
        used.update(re.findall(r"^(\w+)/\w+", path.read_text(), re.MULTILINE))
    assert used == dependencies(manifest(folder)) - {"rosidl_default_runtime"}


def test_pip_requirements_cover_the_imports_and_are_pinned(root):
    def names(file: str) -> set[str]:
        lines = (root / "requirements" / file).read_text().splitlines()
        return {line.split("==")[0].strip() for line in lines if line and not line.startswith("#")}

    ros = {name for name in third_party_imports(root / "hybrid_contact_ros") if name in dependencies(manifest(root))}
    pip = {
        PIP_NAMES.get(name, name) for name in third_party_imports(root / "hybrid_contact_ros") - (ros - {"pinocchio"})
    }
    assert pip - OPTIONAL <= names("python.txt")
    assert names("python.txt") | names("ros.txt") <= names("constraints.txt")
    unpinned = [
        line
        for line in (root / "requirements" / "constraints.txt").read_text().splitlines()
        if line and not line.startswith("#") and "==" not in line
    ]
    assert unpinned == []


def test_one_version_number(root, setup_arguments):
    from hybrid_contact_ros import __version__

    versions = {manifest(folder).findtext("version") for folder in (root, root / "hybrid_contact_msgs")}
    assert versions == {__version__} == {setup_arguments["version"]}


def test_every_entry_point_has_its_function(root, setup_arguments):
    scripts = setup_arguments["entry_points"]["console_scripts"]
    assert len(scripts) >= 6
    for script in scripts:
        module, function = script.split("=")[1].strip().split(":")
        path = root / (module.replace(".", "/") + ".py")
        assert path.is_file(), script
        body = ast.parse(path.read_text()).body
        assert any(isinstance(node, ast.FunctionDef) and node.name == function for node in body), script


def test_every_package_is_installed(root, setup_arguments):
    folders = {path.parent for path in (root / "hybrid_contact_ros").rglob("*.py")}
    assert {str(path.relative_to(root)).replace("/", ".") for path in folders} == set(setup_arguments["packages"])


def test_all_modules_are_built_and_nothing_else(root, tmp_path):
    """The README.md of each room is for readers of the sources."""
    command = [
        sys.executable,
        "setup.py",
        "-q",
        "egg_info",
        "-e",
        str(tmp_path),
        "build",
        "-b",
        str(tmp_path / "build"),
    ]
    subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=120)
    built = {path.relative_to(tmp_path / "build" / "lib") for path in (tmp_path / "build" / "lib").rglob("*.*")}
    assert built == {path.relative_to(root) for path in (root / "hybrid_contact_ros").rglob("*.py")}


def test_launch_and_configuration_files_are_installed(root, setup_arguments):
    installed = {file for _, files in setup_arguments["data_files"] for file in files}
    assert {"package.xml", "resource/hybrid_contact_ros"} <= installed
    for folder in ("launch", "config"):
        present = {str(path.relative_to(root)) for path in (root / folder).iterdir() if path.is_file()}
        assert present <= installed, f"setup.py does not install these of {folder}/"
    assert all((root / file).is_file() for file in installed)


DIMENSIONLESS = {"bool", "string", "uint8", "uint32", "uint64", "std_msgs/Header"}


def uncommented_fields(path: Path) -> list[str]:
    """Numbers without a comment of their own. A comment ending in a group's header line covers what follows it."""
    missing, previous_commented = [], False
    for line in path.read_text().splitlines():
        code, _, comment = line.partition("#")
        if not code.strip() or code.strip() == "---":
            previous_commented = False
            continue
        # "lower ... # bounds" also covers "upper" in the next line; so do earliest and latest, min and max.
        pair = previous_commented and re.search(r"(upper|latest|_max|second)$", code.strip())
        kind = code.split()[0].split("[")[0]
        if not comment.strip() and not pair and "=" not in code and kind not in DIMENSIONLESS:
            missing.append(line)
        previous_commented = bool(comment.strip())
    return missing


def test_every_quantity_in_a_message_has_its_comment(root):
    missing = {}
    for path in sorted((root / "hybrid_contact_msgs").glob("*/*.[ms][sr][gv]")):
        # Durations and times carry their unit in their type, nested messages of ours in their own file.
        lines = uncommented_fields(path)
        missing[path.name] = [line for line in lines if not re.match(r"(builtin_interfaces/|[A-Z])", line)]
    assert {name: lines for name, lines in missing.items() if lines} == {}


def test_floating_point_fields_name_a_unit(root):
    unit = re.compile(
        r"(\bm\b|m/s|\brad\b|\bN\b|\bJ\b|\bs\b|\bs after|\[[-0-9.]+\]|\[-1\.\.1\]|unit|units|bounds on|row-major)"
    )
    without = []
    for path in sorted((root / "hybrid_contact_msgs").glob("*/*.[ms][sr][gv]")):
        lines = path.read_text().splitlines()
        for before, line in zip(["", *lines], lines, strict=False):
            code, _, comment = line.partition("#")
            if code.startswith("float") and "=" not in code and not unit.search(comment or before.partition("#")[2]):
                without.append(f"{path.name}: {line}")
    assert without == []
