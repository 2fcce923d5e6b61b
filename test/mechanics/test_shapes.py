"""Points of COLLADA meshes, in metres and upright."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from hybrid_contact_ros.mechanics.shapes import link_shapes

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
UPRIGHT = {
    "Y_UP": [[0, 0, 0], [1, 0, 0], [0, 0, 2], [0, -3, 0]],
    "X_UP": [[0, 0, 0], [0, 0, 1], [-2, 0, 0], [0, -3, 0]],
}
MESH = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>{asset}</asset>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="a" count="12">{numbers}</float_array>
<technique_common><accessor source="#a" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 0 1 3 0 2 3 1 2 3</p></triangles></mesh>
</geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node id="n">
<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
LINK = """<robot name="r"><link name="b"><inertial><origin xyz="{centre}"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="m.dae" scale="{scale}"/></geometry></collision></link></robot>"""


def shapes(folder, asset, centre="0.2 0.2 0.2", scale="1 1 1"):
    numbers = " ".join(str(x) for x in CORNERS.ravel())
    (folder / "m.dae").write_text(MESH.format(asset=asset, numbers=numbers))
    text = LINK.format(centre=centre, scale=scale)
    model = pin.buildModelFromXML(text)
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    found, turned = link_shapes(model, data, text, folder / "r.urdf")
    ((_, points),) = found["b"]
    return np.unique(points.round(9), axis=0), turned


def rows(points):
    return np.unique(np.asarray(points, dtype=np.float64), axis=0)


@pytest.mark.parametrize("axis", ["", "X_UP", "Y_UP", "Z_UP"])
def test_a_mesh_is_taken_as_it_stands_where_the_mass_is_inside_of_it(tmp_path, axis):
    points, turned = shapes(tmp_path, f"<up_axis>{axis}</up_axis>" if axis else "")
    assert not turned
    np.testing.assert_allclose(points, rows(CORNERS))


@pytest.mark.parametrize("axis", ["X_UP", "Y_UP"])
def test_it_is_turned_upright_where_only_then_the_mass_is_inside_of_it(tmp_path, axis):
    centre = np.mean(UPRIGHT[axis], axis=0)
    points, turned = shapes(tmp_path, f"<up_axis>{axis}</up_axis>", " ".join(map(str, centre)))
    assert turned
    np.testing.assert_allclose(points, rows(UPRIGHT[axis]))


def test_a_mass_that_is_outside_of_it_either_way_turns_nothing(tmp_path):
    assert not shapes(tmp_path, "<up_axis>Y_UP</up_axis>", "5 5 5")[1]
    assert not shapes(tmp_path, "<up_axis>Z_UP</up_axis>", "0.2 -1 0.2")[1]


def test_the_unit_of_the_file_and_the_scale_of_the_urdf_both_count(tmp_path):
    points, _ = shapes(tmp_path, '<unit name="mm" meter="0.001"/>', scale="2 1 1")
    np.testing.assert_allclose(points, rows(1e-3 * CORNERS * [2.0, 1.0, 1.0]))
    other = tmp_path / "turned"
    other.mkdir()
    points, turned = shapes(other, '<unit meter="0.5"/><up_axis>Y_UP</up_axis>', "0.2 -0.5 0.2", "1 1 2")
    assert turned
    np.testing.assert_allclose(points, rows(0.5 * np.array(UPRIGHT["Y_UP"]) * [1.0, 1.0, 2.0]))
