"""The page against the records that it is made of."""
import json
import math
import os
import pathlib
import re
import unittest
import zlib

from zyfa.report import draw, page, page_reader, plot, record_files
from zyfa.report.page_reader import figure, legend, marks, parse, table

PREPARED = "mean key removed, Q and K rotated; e4m3: one scale"
AS_IS = "e4m3: one scale"
LAYERS = 3


def value(*key):
    """A number that follows from no other one of these, 0.001 to 0.1."""
    return 0.001 * 100 ** (zlib.crc32(repr(key).encode()) / 2**32)


def gaussian():
    for variant, modelled in ("bf16_d128_causal", True), ("fp8_lean_d128_causal", True), ("bf16_d128_causal", False):
        for length in 512, 1024, 2048:
            yield {
                "variant": variant, "device": "emulator" if modelled else "hip", "modelled": modelled, "batch": 1,
                "heads_q": 8, "heads_kv": 2, "seqlen_q": length, "seqlen_kv": length, "head_dim_qk": 128,
                "head_dim_v": 128, "mask": "MASK_CAUSAL", "tflops": length * value("g", variant + str(modelled), length),
                "rel_rmse": value("r", variant, length), "code_object_sha256": "ab12" * 16,
                "start_time": f"2026-01-0{1 + modelled}T00:00:00Z", "outcome": "OUTCOME_OK",
                "versions": {"kernel_toolchain": "clang 22", "host_compiler": "gcc 12"},
            }  # fmt: skip
    yield {"variant": "bf16_d128_full", "outcome": "OUTCOME_FAILED", "message": "out of range"}


CONTENDERS = [("fp8_lean_d128_causal", PREPARED), ("AITER-like", PREPARED), ("fp8_lean_d128_causal", AS_IS),
              ("AITER-like", AS_IS), ("bf16_d128_causal", "none")]  # fmt: skip


def layers():
    for variant, quantisation in CONTENDERS:
        # Not in order.
        for layer in 2, 0, 1:
            yield {
                "study": "STUDY_LAYERS", "variant": variant, "quantisation": quantisation, "computed_by": "model",
                "source": f"gqa layer {layer}", "rel_rmse": value("l", variant + quantisation, layer),
                "total_rel_rmse": 2 * value("t", variant + quantisation, layer),
                "p99_row_rel_rmse": 3 * value("p", variant + quantisation, layer),
            }  # fmt: skip


STAGES = {"query": "Q alone", "p": "P, on rounded inputs", "total": "total"}


def stages():
    for stage in STAGES:
        for layer in range(LAYERS):
            yield {
                "study": "STUDY_STAGES", "variant": "int8_shift_d128_causal", "quantisation": "int8", "stage": stage,
                "source": f"mla layer {layer}", "rel_rmse" if stage == "p" else "total_rel_rmse": value("s", stage, layer),
            }  # fmt: skip


STEPS = {"": "nothing", "Q and K rotated; ": "rotation", "mean key removed; ": "mean key",
         "mean key removed, Q and K rotated; ": "both"}  # fmt: skip


def preparation():
    for steps in STEPS:
        for layer in range(LAYERS):
            yield {
                "study": "STUDY_PREPARATION", "variant": "fp8_lean_d128_causal", "quantisation": steps + "e4m3: a head",
                "source": f"gqa layer {layer}", "total_rel_rmse": value("prep", steps, layer), "computed_by": "model",
            }  # fmt: skip


def statistics():
    for layer in range(LAYERS):
        yield {
            "study": "STUDY_STATISTICS", "source": f"gqa layer {layer}",
            "input_statistics": {"low_block_share": value("share", "", layer), "sink_mass": value("sink", "", layer),
                                 "query_outlier_ratio": 50 * value("ratio", "", layer)},
        }  # fmt: skip


SHARES = [0, 0.25, 0.5, 0.9]


def losses():
    for variant in "fp8_lean_d128_causal", "bf16_d128_causal":
        for share in SHARES if "fp8" in variant else [None]:
            kl = 0.01 * value("kl", variant, share)
            loss = {
                "model": "gqa", "segments": 16, "tokens_per_segment": 1024, "kl": kl, "kl_standard_error": kl / 9,
                "bits_per_byte": 1.5 + kl, "attention_clocks": 1e9 * value("clk", variant, share),
                "compared_to": "AITER-like", "kl_difference": -kl / 3, "kl_difference_standard_error": kl / 20,
            }  # fmt: skip
            if share is not None:
                loss["bf16_head_share"] = share
            yield {"study": "STUDY_MODEL_LOSS", "variant": variant, "model_loss": loss}


def captured():
    for source in [None, *range(LAYERS)]:
        record = {
            "study": "STUDY_CAPTURED_SPEED", "variant": "fp8_lean_d128_causal", "modelled": True, "seqlen_q": 512,
            "clock_ghz": 1 + value("ghz", "", source), "tflops": 1e4 * value("tf", "", source),
            "operand_flips_per_clock": 1e3 * value("flips", "", source),
        }  # fmt: skip
        if source is not None:
            record["source"] = f"gqa layer {source} head 0"
        yield record


def all_records():
    for make in gaussian, layers, stages, preparation, statistics, losses, captured:
        yield from make()


def rendered(records, name="records.json"):
    """The page of records that went through a file."""
    path = pathlib.Path(os.environ["TEST_TMPDIR"]) / name
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")
    return page.render({name: record_files.read(str(path))})


def mean(values):
    return math.prod(values) ** (1 / len(values))


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = rendered(all_records())
        cls.root = parse(cls.text)

    def near(self, got, wanted, x_tolerance=0.002, y_tolerance=0.004):
        """Points, to the hundredth of a unit that a drawing has."""
        self.assertEqual(len(got), len(wanted), (got, wanted))
        for (x, y), (at, expected) in zip(got, wanted):
            self.assertLess(abs(x - at), x_tolerance * max(1, abs(at)), (got, wanted))
            self.assertLess(abs(y - expected), y_tolerance * abs(expected), (got, wanted))

    def test_head_says_what_the_records_are(self):
        head = self.root.one("header").text()
        for words in (
            "Modelled figures are not those of a GPU", "Measured figures are device times", "ab12ab12ab12 bf16_d128_causal",
            "2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z", "clang 22", "gcc 12", "modelled: 10 records",
            "measured: 3 records", f"records.json: {len(list(all_records()))} records", "hip", "numeric models of kernels",
        ):  # fmt: skip
            self.assertIn(words, head)
        self.assertNotIn("ab12" * 4, head)
        only_modelled = rendered(r for r in gaussian() if r.get("modelled"))
        self.assertIn("Nothing on this page was measured on a GPU", only_modelled)
        only_measured = rendered(r for r in gaussian() if r.get("modelled") is False)
        self.assertNotIn("Modelled figures", only_measured)
        self.assertIn("Measured figures are device times", only_measured)

    def test_speed(self):
        # Rows of a variant and figures; each length has its own.
        region = next(r for r in self.root.all("div", role="region") if r.attributes["aria-label"] == "Kernels by length")
        rows = [[c.text() for c in tr.children if not isinstance(c, str)] for tr in region.one("tbody").all("tr")]
        exact = [[float(d.attributes["value"]) for d in tr.all("data")] for tr in region.one("tbody").all("tr")]
        records = list(gaussian())
        self.assertEqual(len(rows), len(records))
        for row, numbers, record in zip(rows, exact, records):
            self.assertEqual(row[0], record["variant"])
            if "tflops" not in record:
                self.assertIn("FAILED", row)
                self.assertIn("out of range", row)
                continue
            self.assertIn("modelled" if record["modelled"] else "measured", row)
            self.assertEqual(numbers, [1, record["rel_rmse"], record["tflops"]])
            self.assertTrue(any(abs(float(c) / record["tflops"] - 1) < 6e-4 for c in row if re.fullmatch(r"[\d.e+-]+", c)))
        node = figure(self.root, "Throughput, head dim 128, causal")
        names = ["bf16_d128_causal, modelled", "fp8_lean_d128_causal, modelled", "bf16_d128_causal, measured"]
        self.assertEqual(legend(node), names)
        for i in range(3):
            lot = records[3 * i : 3 * i + 3]
            self.near(
                marks(node, i, x_log=True, x_names={"512": 512, "1K": 1024, "2K": 2048}),
                [(r["seqlen_q"], r["tflops"]) for r in lot],
                y_tolerance=0.02,
            )
        # Modelled lines have dashes and hollow marks, measured ones neither.
        for i, hollow in enumerate((True, True, False)):
            group = next(g for g in node.all("g") if g.attributes.get("id", "").endswith(f"-series-{i}"))
            style = "".join(n.attributes.get("style", "") for n in group.all("*"))
            self.assertEqual("stroke-dasharray" in style, hollow)
            self.assertEqual("fill: var(--page)" in style, hollow)
            swatch = "".join(str(n.attributes) for n in list(node.all("li"))[i].one("svg").all("path"))
            self.assertEqual("stroke-dasharray" in swatch, hollow)
            self.assertEqual("var(--page)" in swatch, hollow)

    def test_layers(self):
        names = {
            (v, q): v if v.startswith("bf16") else v + (", mean key removed, Q and K rotated" if q == PREPARED else ", not prepared")
            for v, q in CONTENDERS
        }
        for caption, field in (
            ("Error of the kernel alone, gqa: relative RMSE against float64 attention on the same rounded inputs", "rel_rmse"),
            ("99th percentile of row errors, gqa: relative RMSE of the kernel alone, by output row", "p99_row_rel_rmse"),
            ("Total error, gqa: relative RMSE against float64 attention on the inputs before their rounding", "total_rel_rmse"),
        ):  # fmt: skip
            rows = table(self.root, caption)
            self.assertEqual(len(rows), len(CONTENDERS))
            for record in layers():
                row = rows[names[record["variant"], record["quantisation"]]]
                self.assertEqual(row["layer " + record["source"].split()[-1]], [record[field]])
            for key, name in names.items():
                values = [r[field] for r in layers() if (r["variant"], r["quantisation"]) == key]
                self.assertAlmostEqual(rows[name]["geometric mean"][0], mean(values), 12)
        by_facet = {
            "mean key removed, Q and K rotated": CONTENDERS[:2],
            "inputs not prepared": CONTENDERS[2:4],
            "each its own inputs": CONTENDERS[4:],
        }
        for title, field in ("Error of the kernel alone", "rel_rmse"), ("Total error", "total_rel_rmse"):
            for facet, contenders in by_facet.items():
                node = figure(self.root, f"{title}, gqa: {facet}")
                self.assertEqual(legend(node), [variant for variant, _ in contenders])
                for i, key in enumerate(contenders):
                    lot = sorted((r["source"], r[field]) for r in layers() if (r["variant"], r["quantisation"]) == key)
                    self.near(marks(node, i, y_log=True), [(n, v) for n, (_, v) in enumerate(lot)], x_tolerance=0.005)

    def test_stages(self):
        title = "mla, int8_shift_d128_causal"
        node = figure(self.root, title)
        rows = table(self.root, title + ": relative RMSE by stage")
        self.assertEqual(legend(node), list(STAGES.values()))
        for i, (stage, name) in enumerate(STAGES.items()):
            values = [value("s", stage, layer) for layer in range(LAYERS)]
            self.assertEqual([rows[name][f"layer {n}"] for n in range(LAYERS)], [[v] for v in values])
            self.near(marks(node, i, y_log=True), list(enumerate(values)), x_tolerance=0.005)

    def test_preparation(self):
        title = "gqa, fp8_lean_d128_causal"
        node = figure(self.root, title)
        rows = table(self.root, title + ": total relative RMSE by scales and steps")
        places = {name: i for i, name in enumerate(STEPS.values())}
        wanted = []
        for steps, name in STEPS.items():
            values = [value("prep", steps, layer) for layer in range(LAYERS)]
            row = rows[f"e4m3: a head, {name}"]
            self.assertEqual([row[f"layer {n}"] for n in range(LAYERS)], [[v] for v in values])
            wanted.append((places[name], mean(values)))
        self.near(marks(node, 0, y_log=True, x_names=places), wanted, x_tolerance=0.005)

    def test_statistics(self):
        rows = table(self.root, "Inputs, gqa")
        shares = figure(self.root, "Shares and probabilities, gqa")
        ratios = figure(self.root, "Outlier channels and the mean key, gqa")
        for name, node, series, key, factor, log in (
            ("blocks 8 binades under the row's maximum, share", shares, 0, "share", 1, False),
            ("probability on key 0, mean", shares, 1, "sink", 1, False),
            ("Q, largest channel / median", ratios, 0, "ratio", 50, True),
        ):  # fmt: skip
            values = [factor * value(key, "", layer) for layer in range(LAYERS)]
            self.assertEqual([rows[name][f"layer {n}"] for n in range(LAYERS)], [[v] for v in values])
            self.near(marks(node, series, y_log=log), list(enumerate(values)), x_tolerance=0.005, y_tolerance=0.03)

    def test_losses(self):
        region = next(r for r in self.root.all("div", role="region") if "Whole models" in r.attributes["aria-label"])
        for tr, record in zip(region.one("tbody").all("tr"), losses(), strict=True):
            loss = record["model_loss"]
            numbers = [float(d.attributes["value"]) for d in tr.all("data")]
            share = [loss["bf16_head_share"]] if "bf16_head_share" in loss else []
            self.assertEqual(
                numbers,
                share + [16, 1024] + [loss[f] for f in (
                    "kl", "kl_standard_error", "bits_per_byte", "kl_difference", "kl_difference_standard_error", "attention_clocks",
                )],
            )  # fmt: skip
        plain = [r["model_loss"] for r in losses() if r["model_loss"].get("bf16_head_share", 0) == 0]
        node = figure(self.root, "KL from exact attention, gqa")
        got = marks(node, 0, x_log=True, rows=True)
        self.near([(x, 1) for x, _ in got], [(loss["kl"], 1) for loss in plain], x_tolerance=1e-4)
        for (x, _), loss in zip(got, plain, strict=True):
            self.assertLess(abs(x / loss["kl"] - 1), 0.01)
        # Each row's name is above its mark.
        for (_, y), name in zip(got, ("fp8_lean_d128_causal", "bf16_d128_causal"), strict=True):
            text = next(t for t in node.all("text") if t.text() == name)
            self.assertTrue(0 < y - float(text.attributes["y"]) < 30, (y, text.attributes))
        # The bars reach a standard error to both sides: their ends are the ticks of the errorbar.
        ends = error_bars(node, x_log=True)
        for (low, high), loss in zip(ends, plain, strict=True):
            self.assertLess(abs(low / (loss["kl"] - loss["kl_standard_error"]) - 1), 0.01)
            self.assertLess(abs(high / (loss["kl"] + loss["kl_standard_error"]) - 1), 0.01)
        node = figure(self.root, "KL against time, gqa")
        mixes = [r["model_loss"] for r in losses()]
        self.near(
            marks(node, 0, y_log=True), [(m["attention_clocks"] / 1e6, m["kl"]) for m in mixes[: len(SHARES)]], y_tolerance=0.02
        )
        self.near(marks(node, 1, y_log=True), [(mixes[-1]["attention_clocks"] / 1e6, mixes[-1]["kl"])], y_tolerance=0.02)
        notes = {t.text() for t in node.all("text")}
        self.assertTrue({"0 %", "90 %"} <= notes, notes)

    def test_captured_speed(self):
        names = {"Gaussian": -1} | {str(n): n for n in range(LAYERS)}
        for title, field in (
            ("Throughput", "tflops"), ("Shader clock", "clock_ghz"), ("Toggling of the operands", "operand_flips_per_clock")
        ):  # fmt: skip
            node = figure(self.root, f"{title}, gqa head 0")
            records = list(captured())
            got = marks(node, 1, x_names=names) + marks(node, 0, x_names=names)
            self.near(got, [(n - 1, r[field]) for n, r in enumerate(records)], x_tolerance=0.01, y_tolerance=0.02)
        rows = table(self.root, "Speed on captured inputs")
        self.assertEqual(rows["fp8_lean_d128_causal"]["TFLOP/s"], [records[-1]["tflops"]])

    def test_needs_nothing_else(self):
        self_contained(self, self.text, self.root)

    def test_without_records(self):
        text = rendered([])
        root = parse(text)
        self.assertIn("There are no records in these files", root.one("main").text())
        self.assertIn("records.json: 0 records", root.one("header").text())
        self.assertEqual(list(root.all("section")), [])
        self_contained(self, text, root)

    def test_sections_without_records_are_left_out(self):
        root = parse(rendered(stages()))
        self.assertEqual([h.text() for h in root.all("h2")], ["Error by stage"])
        self.assertEqual([a.text() for a in root.all("a")], ["Error by stage"])
        self.assertEqual(
            [h.text() for h in self.root.all("h2")],
            ["Kernels by length", "Error by layer", "Error by stage", "Preparation of the inputs", "The inputs",
             "Whole models", "Speed on captured inputs"],
        )  # fmt: skip

    def test_hostile_texts(self):
        hostile = [
            '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "</svg></figure>", "$\\frac{$", "${style} $head",
            "a\u0000b\u202ec\ud800d\ne", "#123456; id=\"x\" url(#y)", "&lt;&amp;", "x" * 3000, "中文 ✓", "]]>", "<!--",
        ]  # fmt: skip
        records = []
        for record in all_records():
            for text in hostile:
                changed = {
                    k: v + text if isinstance(v, str) and k not in ("study", "mask", "outcome", "start_time") else v
                    for k, v in record.items()
                }
                if "model_loss" in record:
                    changed["model_loss"] = record["model_loss"] | {"model": text, "compared_to": text}
                changed["versions"] = {"host_compiler": text}
                if record.get("source", "").endswith(("1", "2", "1 head 0", "2 head 0")):
                    continue  # fewer plots
                records.append(changed)
        records = records[::7]
        text = rendered(records, "<b>&.json")
        text.encode("utf-8")
        root = parse(text)
        self_contained(self, text, root)
        tags = {node.tag for node in root.all("*")}
        self.assertFalse(tags & {"script", "img", "b"}, tags)
        self.assertFalse([n for n in root.all("*") if any(a.startswith("on") for a in n.attributes)])
        # Shown as they are, but for what is not visible.
        seen = root.text()
        for words in ("<script>alert(1)</script>", "$\\frac{$", "${style} $head", "a\ufffdb\ufffdc\ufffdd\ufffde", "中文 ✓", "<b>&.json"):
            self.assertIn(words, seen)
        self.assertFalse(set(seen) & set("\0\u202e"))

    def test_numbers_that_have_no_place(self):
        records = list(stages())
        for record, odd in zip(records, ("NaN", "Infinity", 0.0, -1.0)):
            record["total_rel_rmse" if "total_rel_rmse" in record else "rel_rmse"] = odd
        root = parse(rendered(records))
        rows = table(root, "mla, int8_shift_d128_causal: relative RMSE by stage")
        cells = {td.text() for td in root.all("td")}
        self.assertTrue({"NaN", "∞", "0", "-1"} <= cells, cells)
        self.assertEqual(rows["Q alone"]["geometric mean"], "")
        node = figure(root, "mla, int8_shift_d128_causal")
        self.assertIn("Not drawn: 4 points (not finite, or not positive on a logarithmic axis)", node.text())
        # The others are where they were.
        self.near(marks(node, 1, y_log=True), [(n, value("s", "p", n)) for n in (1, 2)], x_tolerance=0.005)

    def test_all_numbers_odd(self):
        """No plot has a point."""
        def odd(value):
            if isinstance(value, dict):
                return {k: odd(v) for k, v in value.items()}
            return "NaN" if isinstance(value, float) else value

        root = parse(rendered(map(odd, all_records())))
        self.assertEqual(len(list(root.all("figure"))), len(list(self.root.all("figure"))))

    def test_the_same_page_each_time(self):
        self.assertEqual(rendered(stages()), rendered(stages()))


def error_bars(node, x_log):
    """(low, high) of the horizontal bars of a figure, in order."""
    to_x = page_reader._map(node, 1, x_log, None)
    bars = []
    for group in node.all("g"):
        if "LineCollection" in group.attributes.get("id", ""):
            for path in group.all("path"):
                x = [float(n) for n in re.findall(r"[ML] ([\d.]+)", path.attributes["d"])]
                bars.append((to_x(x[0]), to_x(x[1])))
    return bars


def self_contained(test, text, root):
    ids = [n.attributes["id"] for n in root.all("*") if "id" in n.attributes]
    test.assertEqual(len(ids), len(set(ids)))
    for node in root.all("*"):
        test.assertNotIn(node.tag, ("script", "link", "img", "iframe", "object", "embed", "base", "form", "image"))
        for name, content in node.attributes.items():
            test.assertNotIn(name, ("src", "xlink:href", "srcset", "action", "data"))
            if name in ("href", "clip-path", "style"):
                for target in [content] if name == "href" else re.findall(r"url\(([^)]*)\)", content):
                    test.assertTrue(target.startswith("#"), (name, content))
                    test.assertIn(target[1:], ids)
    test.assertNotRegex(root.one("style").text(), r"@import|url\(|https?:")
    test.assertEqual(root.one("meta", name="viewport").attributes["content"], "width=device-width, initial-scale=1")


class StylesTest(unittest.TestCase):
    def test_series_that_look_alike_are_set_apart(self):
        series = [plot.Series(str(n), [], style=s) for n, s in enumerate([3, 11, 3, 0, 8, 5, 1, 2, 4, 6, 7])]
        plot.set_apart(series, 8, 7)
        self.assertEqual([s.style for s in series if s.name in "0 3 5 6 7 8 9 10".split()], [3, 0, 5, 1, 2, 4, 6, 7])
        self.assertEqual(len({(s.style % 8, s.style % 7) for s in series}), len(series))
        # Styles 7 and 0 have the same mark.
        series = [plot.Series(str(n), [], style=s) for n, s in enumerate([7, 7, 15])]
        plot.set_apart(series, 8, 7)
        self.assertEqual(series[0].style, 7)
        self.assertEqual(len({s.style % 8 for s in series}), 3)
        self.assertEqual(len({s.style % 7 for s in series}), 3)

    def test_texts_in_drawings_are_no_formulas(self):
        for text in "$\\frac{$", "$x$", "a_1 </svg> & $y^2$":
            one = plot.Plot(text, "x", "y", [plot.Series("", [plot.Point(1, 0)])], rows=[text])
            drawing = parse(draw.svg(one, "p-"))
            self.assertIn(text, [t.text() for t in drawing.all("text")])
            self.assertEqual(drawing.one("svg").attributes["aria-label"], text)

    def test_numbers_of_axes(self):
        for value, text in ((0, "0"), (0.001, "0.001"), (2e-4, "2e-4"), (2.5e-5, "2.5e-5"), (1200, "1200"), (2e7, "2e7")):
            self.assertEqual(draw.number_text(value), text)


if __name__ == "__main__":
    unittest.main()
