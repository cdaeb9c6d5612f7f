"""Reads files of records as zyfa/proto/record_file.h writes them.

A record is a dictionary with the field names of record.proto: numbers, strings, bools,
enumerators by name, times as RFC 3339 strings, messages and maps as dictionaries.
"""
import datetime
import json
import math
import re

from zyfa.report import schema, wire

RECORD = ".zyfa.proto.Record"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
RANGES = {schema.INT32: (-(2**31), 2**31 - 1), schema.UINT32: (0, 2**32 - 1), schema.UINT64: (0, 2**64 - 1)}
SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class BadRecords(Exception):
    """What is wrong with a file, with its name and where in it."""


class _Reader:
    def __init__(self):
        self.schema = schema.load()

    def json_message(self, value, type_name, where):
        if not isinstance(value, dict):
            raise ValueError(f"{where or 'the record'} is {_shown(value)}; allowed: an object")
        message = self.schema.messages[type_name]
        result = {}
        for name, content in value.items():
            path = f"{where}.{name}" if where else name
            field = message.by_name.get(name)
            if field is None:
                raise ValueError(f"{_shown(path)} is no field of record.proto")
            if content is not None:
                result[name] = self.json_field(content, field, path)
        return result

    def json_field(self, value, field, where):
        if not field.repeated:
            return self.json_value(value, field, where)
        entry = self.schema.messages.get(field.type_name)
        if entry is not None and entry.is_map_entry:
            if not isinstance(value, dict):
                raise ValueError(f"{where} is {_shown(value)}; allowed: an object")
            return {k: self.json_value(v, entry.by_name["value"], f"{where}.{k}") for k, v in value.items()}
        if not isinstance(value, list):
            raise ValueError(f"{where} is {_shown(value)}; allowed: a list")
        return [self.json_value(v, field, where) for v in value]

    def json_value(self, value, field, where):
        kind = field.type
        if field.type_name == schema.TIMESTAMP:
            if isinstance(value, str) and TIME.fullmatch(value):
                return value
            raise ValueError(f'{where} is {_shown(value)}; allowed: a time, for example "2026-01-31T12:00:00Z"')
        if kind == schema.MESSAGE:
            return self.json_message(value, field.type_name, where)
        if kind == schema.ENUM:
            names = self.schema.enums[field.type_name]
            if isinstance(value, str) and value in names:
                return value
            raise ValueError(f"{where} is {_shown(value)}; allowed: {', '.join(names)}")
        if kind == schema.STRING and isinstance(value, str):
            return value
        if kind == schema.BOOL and isinstance(value, bool):
            return value
        if kind == schema.DOUBLE:
            return _json_double(value, where)
        if kind in RANGES:
            return _json_whole(value, RANGES[kind], where)
        raise ValueError(f"{where} is {_shown(value)}; allowed: {'a string' if kind == schema.STRING else 'true, false'}")

    def wire_message(self, data, type_name):
        message = self.schema.messages[type_name]
        result = {}
        for number, kind, value in wire.fields(data):
            field = message.by_number.get(number)
            if field is None:
                raise ValueError(f"has field {number}, which record.proto has not")
            if kind != _wire_type(field):
                raise ValueError(f"has {field.name} of wire type {kind}")
            content = self.wire_value(value, field)
            entry = self.schema.messages.get(field.type_name)
            if entry is not None and entry.is_map_entry:
                result.setdefault(field.name, {})[content.get("key", "")] = content.get("value", 0)
            elif field.repeated:
                result.setdefault(field.name, []).append(content)
            else:
                result[field.name] = content
        return result

    def wire_value(self, value, field):
        if field.type_name == schema.TIMESTAMP:
            seconds = wire.signed({n: v for n, _, v in wire.fields(value)}.get(1, 0))
            try:
                return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            except (OverflowError, ValueError, OSError):
                raise ValueError(f"has a {field.name} of {seconds} seconds") from None
        if field.type == schema.MESSAGE:
            return self.wire_message(value, field.type_name)
        if field.type == schema.DOUBLE:
            return wire.double(value)
        if field.type == schema.STRING:
            return value.decode()  # UnicodeDecodeError is a ValueError
        if field.type == schema.BOOL:
            return bool(value)
        if field.type == schema.ENUM:
            for name, number in self.schema.enums[field.type_name].items():
                if number == value:
                    return name
            raise ValueError(f"has a {field.name} of {value}")
        low, high = RANGES[field.type]
        number = wire.signed(value) if low < 0 else value
        if not low <= number <= high:
            raise ValueError(f"has a {field.name} of {number}")
        return number


def _wire_type(field):
    if field.type == schema.DOUBLE:
        return wire.FIXED64
    return wire.BYTES if field.type in (schema.STRING, schema.MESSAGE) else wire.VARINT


def _shown(value):
    text = ascii(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _json_double(value, where):
    if isinstance(value, str) and value in SPECIAL:
        return SPECIAL[value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{where} is {_shown(value)}; allowed: a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{where} is too large for a double") from None


def _json_whole(value, limits, where):
    number = value
    # Proto JSON has 64-bit numbers as strings.
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value):
        number = int(value)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not limits[0] <= number <= limits[1]:
        raise ValueError(f"{where} is {_shown(value)}; allowed: whole numbers {limits[0]} to {limits[1]}")
    return number


def _object(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{_shown(next(n for n in names if names.count(n) > 1))} occurs twice")
    return result


def _read_json(data, reader):
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()  # behind the last line's end
    for number, line in enumerate(lines, 1):
        try:
            yield reader.json_message(json.loads(line.decode(), object_pairs_hook=_object), RECORD, "")
        except (ValueError, RecursionError) as error:
            what = "is nested too deeply" if isinstance(error, RecursionError) else f"is no record: {error}"
            raise ValueError(f"line {number} {what}") from None


def _read_binary(data, reader):
    at = 0
    while at < len(data):
        try:
            size, start = wire.varint(data, at)
            message, end = wire.take(data, start, size)
            yield reader.wire_message(message, RECORD)
        except (ValueError, RecursionError) as error:
            what = "is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise ValueError(f"record at byte {at} {what}") from None
        at = end


def read(path):
    """The records of a file: length-delimited binary if its name ends in .binpb, else JSON lines.

    BadRecords if it cannot be read, or anything in it is no record.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        raise BadRecords(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    decode = _read_binary if path.endswith(".binpb") else _read_json
    try:
        return list(decode(data, _Reader()))
    except ValueError as error:
        raise BadRecords(f"{path}: {error}") from None
