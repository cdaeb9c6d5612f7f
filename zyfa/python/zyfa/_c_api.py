"""The C interface (zyfa/launch/zyfa.h, zyfa_emulator.h, zyfa/quantize/zyfa_quantize.h)
through ctypes. Knows no torch."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib

API_VERSION = 3

BF16, FP8, INT8 = 1, 2, 3
CAUSAL, FULL = 1, 2
FP8_LEAN, FP8_EXACT, INT8_SHIFT, INT8_MULTIPLY = 1, 2, 3, 4

_P = ctypes.POINTER
_INVALID_ARGUMENT, _NOT_FOUND, _RESOURCE_EXHAUSTED = 1, 2, 3


class _Struct(ctypes.Structure):
    """A struct of the interface: knows its size, and what is not named is 0."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(self), **fields)


class Tensor(_Struct):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("data_type", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("batch", ctypes.c_int64),
        ("seqlen", ctypes.c_int64),
        ("heads", ctypes.c_int64),
        ("head_dim", ctypes.c_int64),
        ("batch_stride", ctypes.c_int64),
        ("seq_stride", ctypes.c_int64),
        ("head_stride", ctypes.c_int64),
    ]


class Tokens(_Struct):
    """zyfa_tokens, and zyfa_lse, which has the same fields."""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("batch", ctypes.c_int64),
        ("heads", ctypes.c_int64),
        ("seqlen", ctypes.c_int64),
        ("batch_stride", ctypes.c_int64),
        ("head_stride", ctypes.c_int64),
    ]


class Scale(_Struct):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("value", ctypes.c_float),
        ("address", ctypes.c_uint64),
        ("batch", ctypes.c_int64),
        ("heads", ctypes.c_int64),
        ("batch_stride", ctypes.c_int64),
        ("head_stride", ctypes.c_int64),
    ]


class Attention(_Struct):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("mask", ctypes.c_uint32),
        ("query", _P(Tensor)),
        ("key", _P(Tensor)),
        ("value", _P(Tensor)),
        ("output", _P(Tensor)),
        ("lse", _P(Tokens)),
        ("softmax_scale", _P(ctypes.c_float)),
        ("variant", ctypes.c_char_p),
        ("query_descale", _P(Scale)),
        ("key_descale", _P(Scale)),
        ("value_descale", _P(Scale)),
        ("output_scale", _P(Scale)),
        ("query_shift", _P(Tokens)),
        ("key_multiplier", _P(Tokens)),
    ]


class QuantizedAttention(_Struct):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("mask", ctypes.c_uint32),
        ("query", _P(Tensor)),
        ("key", _P(Tensor)),
        ("value", _P(Tensor)),
        ("output", _P(Tensor)),
        ("lse", _P(Tokens)),
        ("lse_correction", _P(Tokens)),
        ("softmax_scale", _P(ctypes.c_float)),
        ("precision", ctypes.c_uint32),
        ("rotate", ctypes.c_uint32),
        ("subtract_mean", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("workspace", ctypes.c_uint64),
    ]


_DEVICE = ctypes.c_void_p

# Of functions that return a zyfa_status.
_ARGUMENTS = {
    "zyfa_open_hip": [ctypes.c_int32, _P(_DEVICE)],
    "zyfa_open_emulator": [_P(_DEVICE)],
    "zyfa_allocate": [_DEVICE, ctypes.c_size_t, _P(ctypes.c_uint64)],
    "zyfa_free": [_DEVICE, ctypes.c_uint64],
    "zyfa_copy_to_device": [_DEVICE, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t],
    "zyfa_copy_from_device": [_DEVICE, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t],
    "zyfa_synchronize": [_DEVICE],
    "zyfa_attention_forward": [_DEVICE, _P(Attention), ctypes.c_void_p],
    "zyfa_quantized_attention_workspace": [_P(QuantizedAttention), _P(ctypes.c_size_t)],
    "zyfa_quantized_attention_forward": [_DEVICE, _P(QuantizedAttention), ctypes.c_void_p],
}


class Library:
    """One of the two shared libraries. `call` turns a status into an exception."""

    def __init__(self, name):
        path = pathlib.Path(__file__).parent / name
        if not path.is_file():
            raise RuntimeError(f"{path} does not exist; it is part of zyfa's wheel")
        try:
            self._library = ctypes.CDLL(os.fspath(path))
        except OSError as error:
            raise RuntimeError(f"{name} cannot be loaded: {error}") from error
        version = self._library.zyfa_api_version
        version.restype = ctypes.c_uint32
        if version() < API_VERSION:
            raise RuntimeError(
                f"{path} has version {version()} of the C interface; allowed: {API_VERSION} and later"
            )
        self._last_error = self._library.zyfa_last_error
        self._last_error.restype = ctypes.c_char_p

    @functools.lru_cache(maxsize=None)
    def _function(self, name):
        function = getattr(self._library, name)
        function.argtypes = _ARGUMENTS[name]
        function.restype = ctypes.c_int
        return function

    def call(self, name, *arguments):
        """ValueError for a refusal, MemoryError, or else RuntimeError, with the library's words."""
        status = self._function(name)(*arguments)
        if status == 0:
            return
        words = self._last_error().decode(errors="replace")
        if status in (_INVALID_ARGUMENT, _NOT_FOUND):
            raise ValueError(words)
        raise (MemoryError if status == _RESOURCE_EXHAUSTED else RuntimeError)(words)

    def open_hip(self, ordinal):
        device = _DEVICE()
        self.call("zyfa_open_hip", ordinal, ctypes.byref(device))
        return device

    def open_emulator(self):
        device = _DEVICE()
        self.call("zyfa_open_emulator", ctypes.byref(device))
        return device
