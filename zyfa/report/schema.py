"""The fields of record.proto, from what protoc makes of it."""
import dataclasses
import pathlib

from zyfa.report import wire

DESCRIPTORS = pathlib.Path(__file__).parent.parent / "proto" / "record_proto-descriptor-set.proto.bin"

TIMESTAMP = ".google.protobuf.Timestamp"
# FieldDescriptorProto.Type, those that record.proto uses.
DOUBLE, UINT64, INT32, BOOL, STRING, MESSAGE, UINT32, ENUM = 1, 4, 5, 8, 9, 11, 13, 14
REPEATED = 3


@dataclasses.dataclass
class Field:
    name: str
    number: int
    type: int
    type_name: str  # of a message or an enum, with the package
    repeated: bool


@dataclasses.dataclass
class Message:
    by_name: dict
    by_number: dict
    is_map_entry: bool


@dataclasses.dataclass
class Schema:
    messages: dict  # by name with the package, ".zyfa.proto.Record"
    enums: dict  # likewise; numbers by name


def _parts(data):
    """The values of each field of a message, by number."""
    parts = {}
    for number, _, value in wire.fields(data):
        parts.setdefault(number, []).append(value)
    return parts


def _field(data):
    parts = _parts(data)
    return Field(
        name=parts[1][0].decode(),
        number=parts[3][0],
        type=parts[5][0],
        type_name=parts.get(6, [b""])[0].decode(),
        repeated=parts[4][0] == REPEATED,
    )


def _add_message(data, scope, schema):
    parts = _parts(data)
    name = scope + "." + parts[1][0].decode()
    fields = [_field(f) for f in parts.get(2, [])]
    options = _parts(parts.get(7, [b""])[0])
    schema.messages[name] = Message(
        {f.name: f for f in fields}, {f.number: f for f in fields}, options.get(7, [0])[0] == 1
    )
    for nested in parts.get(3, []):
        _add_message(nested, name, schema)


def load(path=DESCRIPTORS):
    """The Schema of a FileDescriptorSet."""
    schema = Schema({}, {})
    for file in _parts(path.read_bytes())[1]:
        parts = _parts(file)
        scope = "." + parts[2][0].decode()
        for message in parts.get(4, []):
            _add_message(message, scope, schema)
        for enum in parts.get(5, []):
            values = _parts(enum)
            schema.enums[scope + "." + values[1][0].decode()] = {
                value[1][0].decode(): value[2][0] if 2 in value else 0 for value in map(_parts, values[2])
            }
    return schema
