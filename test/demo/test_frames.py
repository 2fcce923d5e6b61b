"""Frames on a pipe: they come out as they went in, and a stream that is cut ends quietly."""

import io

import pytest

from hybrid_contact_ros.demo.frames import Frame, packed, read_frames


def test_frames_come_out_as_they_went_in():
    frames = [Frame(0, 5, b""), Frame(255, 2**62, b"abc" * 1000), Frame(3, 7, b"\x00")]
    assert list(read_frames(io.BytesIO(b"".join(map(packed, frames))))) == frames


@pytest.mark.parametrize("cut", [1, 5, 12, 14])
def test_a_frame_cut_off_by_the_end_of_the_writer_is_left_out(cut):
    whole, last = Frame(1, 2, b"whole"), packed(Frame(1, 3, b"last"))
    assert list(read_frames(io.BytesIO(packed(whole) + last[:cut]))) == [whole]


def test_a_pipe_out_of_step_is_told():
    with pytest.raises(ValueError, match="something else"):
        list(read_frames(io.BytesIO(b"[WARN] some text that a library printed")))
