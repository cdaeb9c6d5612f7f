"""What is read, and what is refused with which words."""
import json
import math
import os
import pathlib
import struct
import unittest

from zyfa.report import record_files, schema

FOLDER = pathlib.Path(os.environ["TEST_TMPDIR"])


def write(data, name="records.json"):
    path = FOLDER / name
    path.write_bytes(data)
    return str(path)


def read(data, name="records.json"):
    return record_files.read(write(data, name))


def tagged(number, kind):
    return bytes([number << 3 & 0x7F | kind | 0x80, number >> 4]) if number > 15 else bytes([number << 3 | kind])


def sized(number, data):
    return tagged(number, 2) + bytes([len(data)]) + data


class RecordFilesTest(unittest.TestCase):
    def refused(self, words, data, name="records.json"):
        path = write(data, name)
        with self.assertRaises(record_files.BadRecords) as caught:
            record_files.read(path)
        self.assertIn(path, str(caught.exception))
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_all_kinds_of_fields(self):
        record = {
            "variant": "bf16_d128_causal",
            "modelled": True,
            "start_time": "2026-12-01T02:00:43Z",
            "seqlen_q": 16384,
            "seed": 4294967295,
            "mask": "MASK_CAUSAL",
            "tflops": 1.25e3,
            "instructions": {"mfma": "18446744073709551615"},
            "modelled_time": {"changed_constants": ["a = 1", "b = 2"], "clock": "line"},
            "study": "STUDY_MODEL_LOSS",
            "model_loss": {"kl": 0, "model": "gqa"},
        }
        line = json.dumps(record).encode()
        expected = record | {"instructions": {"mfma": 2**64 - 1}}
        self.assertEqual(read(line + b"\n" + line), [expected, expected])
        self.assertEqual(read(b""), [])
        # Unset.
        self.assertEqual(read(b'{"variant":null}\n'), [{}])

    def test_numbers_that_are_none(self):
        got = read(b'{"tflops":"NaN","clocks":"Infinity","busy":"-Infinity"}\n{"tflops":NaN}\n{"tflops":1e999}')
        self.assertTrue(math.isnan(got[0]["tflops"]) and math.isnan(got[1]["tflops"]))
        self.assertEqual([got[0]["clocks"], got[0]["busy"], got[2]["tflops"]], [math.inf, -math.inf, math.inf])

    def test_broken_lines_are_named(self):
        good = b'{"variant":"a"}\n'
        for line, words in {
            b'{"variant":"a"': ["is no record", "delimiter"],
            b"": ["line 2 is no record"],
            b"[]": ["the record is []", "an object"],
            b'{"varaint":"a"}': ["'varaint' is no field"],
            b'{"model_loss":{"kll":1}}': ["'model_loss.kll' is no field"],
            b'{"model_loss":1}': ["model_loss is 1", "an object"],
            b'{"variant":1}': ["variant is 1", "a string"],
            b'{"modelled":1}': ["modelled is 1", "true, false"],
            b'{"tflops":"fast"}': ["tflops is 'fast'", "a number"],
            b'{"tflops":true}': ["tflops is true"],
            b'{"tflops":1' + b"0" * 400 + b"}": ["tflops is too large"],
            b'{"seqlen_q":1.5}': ["seqlen_q is 1.5", "whole numbers"],
            b'{"seqlen_q":2147483648}': ["seqlen_q is 2147483648", "2147483647"],
            b'{"seed":-1}': ["seed is -1", "0 to 4294967295"],
            b'{"mask":"MASK_HALF"}': ["mask is 'MASK_HALF'", "MASK_CAUSAL"],
            b'{"mask":[]}': ["mask is []"],
            b'{"start_time":"yesterday"}': ["start_time is 'yesterday'"],
            b'{"instructions":[]}': ["instructions is []"],
            b'{"instructions":{"mfma":"many"}}': ["instructions.mfma is 'many'"],
            b'{"modelled_time":{"changed_constants":"x"}}': ["changed_constants is 'x'", "a list"],
            b'{"variant":"a","variant":"b"}': ["'variant' occurs twice"],
            b'{"variant":"\xff"}': ["utf-8"],
            b"[" * 100000: ["is nested too deeply"],
        }.items():
            with self.subTest(line[:40]):
                self.refused(["line 2", *words], good + line + b"\n" + good)

    def test_files_that_cannot_be_read(self):
        for path, words in ((str(FOLDER / "absent.json"), "No such file"), (str(FOLDER), "Is a directory")):
            with self.assertRaisesRegex(record_files.BadRecords, f"{path} cannot be read: {words}"):
                record_files.read(path)
        with self.assertRaisesRegex(record_files.BadRecords, "null byte"):
            record_files.read("a\0b")

    def test_binary(self):
        record = (
            sized(1, b"a")
            + tagged(4, 0) + b"\1"
            + sized(7, b"\x08" + b"\x80\xe7\x84\x0f")  # 31536000: a year
            + tagged(13, 0) + b"\x80\x80\x01"
            + tagged(17, 0) + b"\1"
            + tagged(30, 1) + struct.pack("<d", 0.125)
            + sized(40, sized(1, b"mfma") + b"\x10\7")
            + sized(62, sized(20, b"a = 1") + sized(20, b"b = 2"))
        )  # fmt: skip
        expected = {
            "variant": "a",
            "modelled": True,
            "start_time": "1971-01-01T00:00:00Z",
            "seqlen_q": 16384,
            "mask": "MASK_CAUSAL",
            "rel_rmse": 0.125,
            "instructions": {"mfma": 7},
            "modelled_time": {"changed_constants": ["a = 1", "b = 2"]},
        }
        framed = bytes([len(record)]) + record
        self.assertEqual(read(framed * 2, "a.binpb"), [expected, expected])
        at = f"record at byte {len(framed)} "
        for tail, words in {
            bytes([len(record)]) + record[:-1]: "is cut off",
            b"\xff" * 11: "more than 10 bytes",
            b"\x80": "is cut off",
            b"\3" + tagged(99, 0) + b"\1": "field 99",
            b"\2" + tagged(1, 0) + b"\1": "variant of wire type 0",
            b"\1" + b"\7": "wire type 7",
            b"\4" + sized(1, b"\xff\xfe"): "utf-8",
            b"\3" + tagged(17, 0) + b"\x63": "mask of 99",
            bytes([9 - 2]) + tagged(13, 0) + b"\x80\x80\x80\x80\x80\1": "seqlen_q of",
        }.items():
            with self.subTest(words):
                self.refused([at, words], framed + tail, "a.binpb")

    def test_the_schema_is_that_of_the_proto(self):
        loaded = schema.load()
        record = loaded.messages[".zyfa.proto.Record"]
        self.assertEqual(record.by_number[81].name, "model_loss")
        self.assertEqual(record.by_name["rel_rmse"].type, schema.DOUBLE)
        self.assertEqual(loaded.enums[".zyfa.proto.Study"]["STUDY_CAPTURED_SPEED"], 6)
        known = {*record_files.RANGES, schema.DOUBLE, schema.BOOL, schema.STRING, schema.MESSAGE, schema.ENUM}
        for name, message in loaded.messages.items():
            for field in message.by_name.values():
                self.assertIn(field.type, known, f"{name}.{field.name}")


if __name__ == "__main__":
    unittest.main()
