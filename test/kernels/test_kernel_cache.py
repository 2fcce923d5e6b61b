"""Where compiled kernels are kept, and that they can be frozen."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from hybrid_contact_ros import kernels
from hybrid_contact_ros.kernels import warm
from hybrid_contact_ros.kernels.impacts.lemke import lcp_residual

ROOT = Path(__file__).parents[2]


def _cache_directory(**environment: str) -> str:
    code = (
        "from hybrid_contact_ros import kernels; import numba;"
        "print(kernels.CACHE_DIRECTORIES['impacts']); print(repr(numba.config.CACHE_DIR))"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    result = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    directory, setting = result.stdout.splitlines()
    assert setting == "''", "numba's own setting is back"
    return directory


def test_cache_is_under_the_named_directory_and_keyed_by_the_sources(tmp_path):
    env = {"HYBRID_CONTACT_CACHE": str(tmp_path / "here"), "NUMBA_CACHE_DIR": ""}
    directory = Path(_cache_directory(**env))
    assert directory == tmp_path / "here" / "kernels" / f"impacts-{kernels._sources_hash('impacts')}"


def test_cache_falls_back_where_the_named_directory_cannot_be_made(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    env = {"HYBRID_CONTACT_CACHE": str(blocked), "XDG_CACHE_HOME": str(tmp_path / "xdg"), "NUMBA_CACHE_DIR": ""}
    assert _cache_directory(**env).startswith(str(tmp_path / "xdg" / "hybrid_contact_ros"))


def test_a_copy_of_the_package_elsewhere_shares_the_machine_code(tmp_path):
    code = (
        "import numpy as np\n"
        "from hybrid_contact_ros.kernels.impacts import lemke\n"
        "print(lemke.__file__, lemke.lcp_residual(np.eye(1), np.ones(1), np.zeros(1)))\n"
    )
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "hybrid_contact_ros", copy / "hybrid_contact_ros")
    found = []
    for place in (ROOT, copy):
        env = {**os.environ, "PYTHONPATH": str(place), "HYBRID_CONTACT_CACHE": str(tmp_path / "cache")}
        run = [sys.executable, "-c", code]
        said = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout
        assert said.startswith(str(place))
        found.append({path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.nb?")})
    assert found[0] and found[0] == found[1]


def test_importing_the_kernels_leaves_numbas_cache_setting_alone():
    assert numba.config.CACHE_DIR not in kernels.CACHE_DIRECTORIES.values()


def test_a_frozen_kernel_refuses_new_types_and_thaws():
    W, q, z = np.eye(2), -np.ones(2), np.ones(2)
    assert lcp_residual(W, q, z) == 0.0
    warm.disable_compilation()
    try:
        assert lcp_residual(W, q, z) == 0.0
        with pytest.raises(TypeError):
            lcp_residual(W.astype(np.float32), q, z)
    finally:
        warm.enable_compilation()


def test_every_impact_kernel_has_one_signature_after_use():
    code = (
        "import numpy as np\n"
        "from hybrid_contact_ros.systems.rocking_block import rocking_block_impact as e\n"
        "from hybrid_contact_ros.impacts.velocity_set import post_impact_set as s\n"
        "from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact as i\n"
        "from hybrid_contact_ros.kernels import warm\n"
        "from hybrid_contact_ros.mechanics.problem import ContactProblem as P\n"
        "p = e().problem\n"
        "q = P(np.eye(6), -np.ones(6), np.eye(6)[:1], np.eye(6)[None, 1:3], [0.5])\n"
        "r = P(np.eye(6), -np.ones(6), np.zeros((0, 6)), np.zeros((0, 2, 6)), [])\n"
        "for x in (p, q, r):\n"
        "    for seed in (0, 5):\n"
        "        s(x, 0.3, 8, 10, seed=seed); s(x, 0.3, 8, 10, deadline_ns=10**6); i(x, 6)\n"
        "        s(x, 1, 2, 3, maximum_impulses=np.ones((2, 3, x.contacts)))\n"
        "    if x is q: warm.disable_compilation()  # a planar problem and a spatial one: doors of their own\n"
        "names = ('friction_axes.', 'planar_', 'pivoting.', 'increment.', 'sampling.', 'residual.')\n"
        "names = tuple('impacts.' + n for n in names)\n"
        "print(max(n for k, n in warm.signatures().items() if k.startswith(names)))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["1"]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0.0, 0.5])
def test_a_kernel_whose_stored_file_was_cut_is_compiled_again(tmp_path, kind, left):
    code = (
        "import numpy as np\n"
        "from hybrid_contact_ros.kernels.impacts.lemke import lcp_residual as r\n"
        "print(r(np.eye(1), np.ones(1), np.zeros(1)))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HYBRID_CONTACT_CACHE": str(tmp_path)}

    def run() -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)

    first = run()
    assert first.returncode == 0, first.stderr
    files = [path for path in tmp_path.rglob(f"*.{kind}") if "lcp_residual" in path.name]
    assert files
    for path in files:
        whole = path.read_bytes()
        path.write_bytes(whole[: int(left * len(whole))])
    for _ in range(2):
        again = run()
        assert again.returncode == 0, again.stderr
        assert again.stdout == first.stdout
    assert all(path.stat().st_size > left * len(whole) for path in files), "it is stored anew"
