"""Protobuf's wire format: the fields of an encoded message."""
import struct

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(data, at):
    """The number at `at` and where it ends. ValueError if there is none."""
    number = 0
    for i in range(10):
        if at + i >= len(data):
            raise ValueError("is cut off")
        number |= (data[at + i] & 0x7F) << 7 * i
        if data[at + i] < 0x80:
            return number & (1 << 64) - 1, at + i + 1
    raise ValueError("has a number of more than 10 bytes")


def take(data, at, size):
    """`size` bytes at `at` and where they end. ValueError if there are fewer."""
    if size > len(data) - at:
        raise ValueError("is cut off")
    return data[at : at + size], at + size


def fields(data):
    """Yields (field number, wire type, value) of each field. ValueError if `data` is no message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = varint(data, at)
        elif kind == FIXED64:
            value, at = take(data, at, 8)
        elif kind == FIXED32:
            value, at = take(data, at, 4)
        elif kind == BYTES:
            size, at = varint(data, at)
            value, at = take(data, at, size)
        else:
            raise ValueError(f"has a field of wire type {kind}")
        yield number, kind, value


def double(data):
    return struct.unpack("<d", data)[0]


def signed(number):
    """A varint as a 64-bit number with a sign."""
    return number - (1 << 64) if number >> 63 else number
