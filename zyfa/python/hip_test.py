"""The way to a GPU, on a HIP runtime without one (zyfa/launch/fake_hip.h), which records launches."""

import ctypes
import os
import pathlib
import tempfile
import unittest

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"needs PyTorch (python3-torch): {error}")

from zyfa import _attention, _c_api, _device


class FakeLaunch(ctypes.Structure):
    _fields_ = [
        ("kernel", ctypes.c_char * 64),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("lds_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("device", ctypes.c_int),
        ("argument_bytes", ctypes.c_uint64),
        ("arguments", ctypes.c_uint8 * 512),
    ]


class FakeHip(ctypes.Structure):
    _fields_ = [
        ("fail", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_int)),
        ("set_device_count", ctypes.CFUNCTYPE(None, ctypes.c_int)),
        ("set_compute_units", ctypes.CFUNCTYPE(None, ctypes.c_int)),
        ("reset", ctypes.CFUNCTYPE(None)),
        ("calls", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)),
        ("live", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)),
        ("launches", ctypes.CFUNCTYPE(ctypes.c_int)),
        ("launch", ctypes.CFUNCTYPE(FakeLaunch, ctypes.c_int)),
        ("current_device", ctypes.CFUNCTYPE(ctypes.c_int)),
    ]


_c_api._ARGUMENTS["zyfa_create_stream"] = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]


def fake_hip():
    entry = ctypes.CDLL(os.environ["ZYFA_HIP_LIBRARY"]).ZyfaFakeHip
    entry.restype = ctypes.POINTER(FakeHip)
    return entry().contents


def launches(hip):
    return [hip.launch(i) for i in range(hip.launches())]


def holds(launch, number):
    """Whether the argument block has that 64-bit number."""
    block = bytes(launch.arguments[: launch.argument_bytes])
    return number.to_bytes(8, "little") in [block[i : i + 8] for i in range(0, len(block), 8)]


class HipTest(unittest.TestCase):
    def setUp(self):
        self.hip = fake_hip()
        self.library, self.device = _device.open_hip(0)
        stream = ctypes.c_void_p()
        self.library.call("zyfa_create_stream", self.device, ctypes.byref(stream))
        self.stream = stream.value
        self.first = self.hip.launches()
        # Memory of the host stands for that of the GPU.
        self.query, self.key, self.value = (torch.zeros(1, 90, 2, 128, dtype=torch.bfloat16) for _ in range(3))
        self.output = torch.zeros(1, 90, 2, 128, dtype=torch.bfloat16)
        self.lse = torch.zeros(1, 2, 90)

    def call(self):
        return _device.HipCall(self.library, self.device, torch.device("cpu"), self.stream)

    def test_addresses_and_stream_go_straight_to_the_kernel(self):
        tensors = {"query": self.query, "key": self.key, "value": self.value}
        numbers = {"softmax_scale": None, "causal": True, "variant": None}
        with self.call() as call:
            _attention._run_attention(call, tensors, numbers, self.output, self.lse)
        (launch,) = launches(self.hip)[self.first :]
        self.assertIn(b"bf16_d128_causal", launch.kernel)
        self.assertEqual(launch.stream, self.stream)
        for tensor in self.query, self.key, self.value, self.output, self.lse:
            self.assertTrue(holds(launch, tensor.data_ptr()))
        self.assertEqual(self.hip.calls(b"hipMemcpy"), 0)

    def test_quantised_calls_do_not_leave_the_device(self):
        numbers = {
            "precision": "int8_multiply",
            "softmax_scale": None,
            "causal": True,
            "rotate": True,
            "subtract_mean": True,
        }
        correction = torch.zeros_like(self.lse)
        with self.call() as call:
            _attention._run_quantized(
                call, self.query, self.key, self.value, numbers, self.output, self.lse, correction
            )
        ran = launches(self.hip)[self.first :]
        self.assertEqual({launch.stream for launch in ran}, {self.stream})
        for tensor in self.query, self.key, self.value, self.output, self.lse, correction:
            self.assertTrue(any(holds(launch, tensor.data_ptr()) for launch in ran))
        self.assertIn(b"int8_multiply_d128_causal", ran[-1].kernel)
        self.assertEqual(self.hip.calls(b"hipMemcpy"), 0)

    def test_errors_of_the_device(self):
        with self.assertRaisesRegex(ValueError, "ordinal is 7"):
            self.library.open_hip(7)
        self.hip.fail(b"hipMalloc", 1, 2)
        with self.assertRaises(MemoryError):
            self.library.call("zyfa_allocate", self.device, 16, ctypes.byref(ctypes.c_uint64()))
        self.hip.fail(b"hipDeviceSynchronize", 1, 700)
        with self.assertRaisesRegex(RuntimeError, "hipDeviceSynchronize"):
            self.library.call("zyfa_synchronize", self.device)

    def test_runtime_of_the_process(self):
        line = "7f00-7f01 r-xp 00000000 08:01 42   "
        with tempfile.TemporaryDirectory() as directory:
            maps = pathlib.Path(directory) / "maps"
            maps.write_text(line + "/usr/lib/libc.so.6\n" + line + "/venv/torch/lib/libamdhip64.so\n")
            self.assertEqual(_device.loaded_hip_runtime(maps), "/venv/torch/lib/libamdhip64.so")
            maps.write_text(line + "/usr/lib/libc.so.6\n")
            self.assertIsNone(_device.loaded_hip_runtime(maps))

    def test_other_gpus_are_refused(self):
        if torch.version.hip is None:
            with self.assertRaisesRegex(RuntimeError, "cuda:0; allowed: cpu, or a GPU with a PyTorch"):
                _device.call_on(torch.device("cuda:0"))
