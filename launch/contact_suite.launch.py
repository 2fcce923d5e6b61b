"""Start the contact suite beside a robot.

    ros2 launch hybrid_contact_ros contact_suite.launch.py config:=my_robot.yaml namespace:=my_robot

``composed:=true`` (default) runs contact mode, impact set and stability in one process on one subscription, with the
lowest latency; ``composed:=false`` gives each a process of its own.
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import EnvironmentVariable, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode, Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from launch import LaunchDescription

# The matrices are small, so that threads of BLAS only wait for each other and for the other processes of the robot.
BLAS = {name: EnvironmentVariable(name, default_value="1") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}

ARGUMENTS = {
    "config": (
        PathJoinSubstitution([FindPackageShare("hybrid_contact_ros"), "config", "go2.yaml"]),
        "parameter file: contacts, planes, tolerances",
    ),
    "namespace": ("", "namespace of all nodes and topics"),
    "composed": ("true", "one process (true) or one for each node (false)"),
    "autostart": ("true", "configure and activate as soon as the robot description is there"),
    "use_sim_time": ("false", "take time from /clock"),
    "urdf_file": ("", "URDF file; empty: the latched topic robot_description"),
    "markers": ("false", "also publish contact_markers for RViz"),
    "rviz": ("false", "also start RViz with a view of the contacts, and with it the markers"),
    "rviz_frame": ("odom", "fixed frame of RViz: that of the odometry, or the root link of a fixed base"),
    "log_level": ("info", "debug, info, warn, error, fatal"),
}
CHOICES = {"log_level": ["debug", "info", "warn", "error", "fatal"]}
SEPARATE = ("contact_mode", "impact_set", "constraint_stability")


def node(name, condition):
    """One lifecycle node. It configures and activates itself (its parameter ``autostart``), because the ``autostart``
    of LifecycleNode in launch_ros does not exist in every version."""
    value = LaunchConfiguration
    return LifecycleNode(
        package="hybrid_contact_ros",
        executable=name,
        name=name,
        namespace=value("namespace"),
        output="screen",
        additional_env=BLAS,
        condition=condition,
        parameters=[
            value("config"),
            {
                "autostart": ParameterValue(value("autostart"), value_type=bool),
                "use_sim_time": ParameterValue(value("use_sim_time"), value_type=bool),
                "urdf_file": ParameterValue(value("urdf_file"), value_type=str),
            },
        ],
        arguments=["--ros-args", "--log-level", value("log_level")],
    )


def check_files(context):
    """Refuse files that do not exist, and make their names absolute. launch_ros only warns of a missing parameter file,
    and the node then starts without parameters."""
    for name in ("config", "urdf_file"):
        given = LaunchConfiguration(name).perform(context)
        file = Path(given).expanduser().absolute()
        if given and not file.is_file():
            raise FileNotFoundError(f"{name}:={given}: there is no such file ({file})")
        context.launch_configurations[name] = str(file) if given else ""
    if not context.launch_configurations["config"]:
        raise ValueError("config:= is empty: name the parameter file of the robot")


def with_markers(context):
    """RViz shows nothing without the markers."""
    if IfCondition(LaunchConfiguration("rviz")).evaluate(context):
        context.launch_configurations["markers"] = "true"


def rviz():
    """RViz in the namespace of the suite, because its view names topics relatively."""
    view = PathJoinSubstitution([FindPackageShare("hybrid_contact_ros"), "config", "views", "contacts.rviz"])
    return Node(
        package="rviz2",
        executable="rviz2",
        namespace=LaunchConfiguration("namespace"),
        condition=IfCondition(LaunchConfiguration("rviz")),
        arguments=["-d", view, "-f", LaunchConfiguration("rviz_frame")],
    )


def generate_launch_description():
    """Arguments, then the nodes that they ask for."""
    composed, markers = LaunchConfiguration("composed"), LaunchConfiguration("markers")
    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(name, default_value=default, description=text, choices=CHOICES.get(name))
                for name, (default, text) in ARGUMENTS.items()
            ),
            OpaqueFunction(function=check_files),
            OpaqueFunction(function=with_markers),
            node("contact_suite", IfCondition(composed)),
            *(node(name, UnlessCondition(composed)) for name in SEPARATE),
            node("contact_markers", IfCondition(markers)),
            rviz(),
        ]
    )
