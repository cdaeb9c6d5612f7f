"""Devices, and the memory of one call on them.

A call names its tensors with `read` and `write`, which give addresses for the C
interface, and gets memory of its own from `scratch`. `run` then runs it.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re

import torch

from zyfa import _c_api

# The C interface asks for multiples of 16; where a tensor of the CPU is none, the
# emulated device must see so too.
_ALIGNMENT = 256


def _span(tensor):
    """Bytes from the first to the last element, gaps included."""
    if tensor.numel() == 0:
        return 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return (last + 1) * tensor.element_size()


class EmulatorCall:
    """Copies tensors of the CPU to the emulated device, strides and all, and back."""

    def __init__(self, library, device):
        self.library = library
        self._device = device
        self._blocks = []
        self._written = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for address in self._blocks:
            self.library.call("zyfa_free", self._device, address)

    def scratch(self, size):
        address = ctypes.c_uint64()
        self.library.call("zyfa_allocate", self._device, size, ctypes.byref(address))
        self._blocks.append(address.value)
        return address.value

    def _place(self, tensor):
        return self.scratch(_span(tensor) + _ALIGNMENT) + tensor.data_ptr() % _ALIGNMENT

    def read(self, tensor):
        if tensor.numel() == 0:
            return 0
        address = self._place(tensor)
        self.library.call("zyfa_copy_to_device", self._device, address, tensor.data_ptr(), _span(tensor))
        return address

    def write(self, tensor):
        if tensor.numel() == 0:
            return 0
        address = self._place(tensor)
        self._written.append((tensor, address))
        return address

    def run(self, function, call):
        self.library.call(function, self._device, ctypes.byref(call), None)
        for tensor, address in self._written:
            self.library.call("zyfa_copy_from_device", self._device, tensor.data_ptr(), address, _span(tensor))


class HipCall:
    """Takes tensors of a GPU as they are, on a stream of PyTorch's.

    PyTorch reuses freed memory in the order of its stream, so nothing has to live until the
    call is done.
    """

    def __init__(self, library, device, place, stream):
        self.library = library
        self._device = device
        self._place = place
        self._stream = stream
        self._kept = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._kept.clear()

    def scratch(self, size):
        block = torch.empty(size + _ALIGNMENT, dtype=torch.uint8, device=self._place)
        self._kept.append(block)
        return -(-block.data_ptr() // _ALIGNMENT) * _ALIGNMENT

    def read(self, tensor):
        return tensor.data_ptr()

    write = read

    def run(self, function, call):
        self.library.call(function, self._device, ctypes.byref(call), self._stream)


@functools.lru_cache(maxsize=None)
def _library(name):
    return _c_api.Library(name)


@functools.lru_cache(maxsize=None)
def _emulator():
    library = _library("libzyfa_emulator.so")
    return library, library.open_emulator()


def loaded_hip_runtime(maps="/proc/self/maps"):
    """The file of the HIP runtime in this process, which PyTorch may have brought along: memory
    and streams mean nothing to another one. None if there is none."""
    with open(maps, encoding="utf-8") as lines:
        for line in lines:
            found = re.search(r"(/\S*/libamdhip64\.so\S*)$", line.rstrip())
            if found:
                return found.group(1)
    return None


@functools.lru_cache(maxsize=None)
def open_hip(ordinal):
    library = _library("libzyfa.so")
    runtime = loaded_hip_runtime()
    if runtime is None or "ZYFA_HIP_LIBRARY" in os.environ:
        return library, library.open_hip(ordinal)
    os.environ["ZYFA_HIP_LIBRARY"] = runtime
    try:
        return library, library.open_hip(ordinal)
    finally:
        del os.environ["ZYFA_HIP_LIBRARY"]


def call_on(place):
    """A call on the torch.device `place`."""
    if place.type == "cpu":
        return EmulatorCall(*_emulator())
    if torch.version.hip is None:
        raise RuntimeError(f"query is on {place}; allowed: cpu, or a GPU with a PyTorch that is built for ROCm")
    ordinal = torch.cuda.current_device() if place.index is None else place.index
    return HipCall(*open_hip(ordinal), place, torch.cuda.current_stream(place).cuda_stream)
