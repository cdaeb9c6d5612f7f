#include "zyfa/bench/run_case.h"

#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "zyfa/bench/check_accuracy.h"
#include "zyfa/bench/emulator_access.h"
#include "zyfa/bench/flops.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/versions.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/bf16.h"

namespace zyfa::bench {
namespace {

using numerics::Bf16;

absl::StatusOr<DeviceBuffer> Upload(Device& device,
                                    absl::Span<const uint8_t> bytes) {
  absl::StatusOr<DeviceBuffer> buffer =
      DeviceBuffer::Create(device, bytes.size());
  if (!buffer.ok()) return buffer.status();
  if (absl::Status status = device.CopyToDevice(buffer->address(), bytes);
      !status.ok()) {
    return status;
  }
  return buffer;
}

// The tensors of a case in device memory, and the call that uses them.
struct DeviceCall {
  DeviceBuffer query, key, value, output, shifts, multipliers;
  AttentionParams params;
};

// The view of a tensor [batch, seqlen, heads, head_dim] all of whose heads lie
// upon the one at `address`.
TensorView SharedHead(uint64_t address, int64_t batch, int64_t seqlen,
                      int64_t heads, int64_t head_dim, DataType type) {
  TensorView view = DenseTensor(address, 1, seqlen, 1, head_dim, type);
  view.batch = batch;
  view.heads = heads;
  view.batch_stride = view.head_stride = 0;
  return view;
}

// What INT8 variants take besides.
absl::Status UploadInt8(const Case& c, const Inputs& inputs, bool shared,
                        Device& device, DeviceCall& call) {
  if (c.variant.data_type != DataType::kInt8) return absl::OkStatus();
  const auto view = [&](const DeviceBuffer& buffer, int64_t heads,
                        int64_t seqlen, int64_t bytes) {
    TokenView tokens =
        DenseTokens(buffer.address(), c.batch, heads, seqlen, bytes);
    if (shared) tokens.batch_stride = tokens.head_stride = 0;
    return tokens;
  };
  absl::StatusOr<DeviceBuffer> shifts = Upload(device, inputs.query_shifts);
  if (!shifts.ok()) return shifts.status();
  call.shifts = *std::move(shifts);
  call.params.query_shift = view(call.shifts, c.heads_q, c.seqlen_q, 1);
  if (inputs.key_multipliers.empty()) return absl::OkStatus();
  absl::StatusOr<DeviceBuffer> multipliers =
      Upload(device, BytesOf(inputs.key_multipliers));
  if (!multipliers.ok()) return multipliers.status();
  call.multipliers = *std::move(multipliers);
  call.params.key_multiplier =
      view(call.multipliers, c.heads_kv, c.seqlen_kv, 4);
  return absl::OkStatus();
}

// `inputs` are those of the whole case or, with `shared`, of one head that
// stands for all; then the output's memory is left untouched.
absl::StatusOr<DeviceCall> Prepare(const Case& c, const Inputs& inputs,
                                   bool shared, Device& device) {
  DeviceCall call;
  const auto view = shared ? SharedHead : DenseTensor;
  const size_t output_size = size_t{1} * c.batch * c.seqlen_q * c.heads_q *
                             c.variant.head_dim_v * sizeof(Bf16);
  absl::StatusOr<DeviceBuffer> query = Upload(device, inputs.query.bytes());
  if (!query.ok()) return query.status();
  absl::StatusOr<DeviceBuffer> key = Upload(device, inputs.key.bytes());
  if (!key.ok()) return key.status();
  absl::StatusOr<DeviceBuffer> value = Upload(device, inputs.value.bytes());
  if (!value.ok()) return value.status();
  absl::StatusOr<DeviceBuffer> output =
      DeviceBuffer::Create(device, output_size);
  if (!output.ok()) return output.status();
  // All ones is a NaN: an element that the kernel leaves out shows.
  if (!shared) {
    absl::Status status = device.Fill(output->address(), 0xff, output_size);
    if (!status.ok()) return status;
  }
  const Variant& v = c.variant;
  AttentionParams& params = call.params;
  params.query = view(query->address(), c.batch, c.seqlen_q, c.heads_q,
                      v.head_dim_qk, v.data_type);
  params.key = view(key->address(), c.batch, c.seqlen_kv, c.heads_kv,
                    v.head_dim_qk, v.data_type);
  params.value = view(value->address(), c.batch, c.seqlen_kv, c.heads_kv,
                      v.head_dim_v, ValueType(v));
  params.output = DenseTensor(output->address(), c.batch, c.seqlen_q, c.heads_q,
                              v.head_dim_v);
  inputs.SetScales(v, params);
  params.mask = v.mask;
  params.variant = VariantName(v);
  const absl::Status status = UploadInt8(c, inputs, shared, device, call);
  if (!status.ok()) return status;
  call.query = *std::move(query);
  call.key = *std::move(key);
  call.value = *std::move(value);
  call.output = *std::move(output);
  return call;
}

// Mean device time of a call in milliseconds, by the field's protocol: warm-ups
// that do not count, then the runs between two events.
absl::StatusOr<double> TimeOnGpu(const AttentionParams& params, Device& device,
                                 int warmups, int runs) {
  const absl::StatusOr<Event> begin = device.CreateEvent();
  if (!begin.ok()) return begin.status();
  const absl::StatusOr<Event> end = device.CreateEvent();
  absl::StatusOr<double> elapsed = [&]() -> absl::StatusOr<double> {
    if (!end.ok()) return end.status();
    for (int i = -warmups; i < runs; ++i) {
      if (i == 0) {
        absl::Status status = device.RecordEvent(*begin, Stream());
        if (!status.ok()) return status;
      }
      absl::Status status = AttentionForward(params, device);
      if (!status.ok()) return status;
    }
    absl::Status status = device.RecordEvent(*end, Stream());
    if (!status.ok()) return status;
    return device.ElapsedMilliseconds(*begin, *end);
  }();
  absl::Status status = device.DestroyEvent(*begin);
  if (end.ok()) status.Update(device.DestroyEvent(*end));
  if (!elapsed.ok()) return elapsed.status();
  if (!status.ok()) return status;
  return *elapsed / runs;
}

void Describe(const Case& c, const Device& device, const KernelEntry* kernel,
              const RunCaseOptions& options, proto::Record& record) {
  const DeviceProperties& properties = device.properties();
  record.set_variant(VariantName(c.variant));
  record.set_device(properties.kind);
  record.set_device_description(properties.name);
  record.set_modelled(properties.modelled);
  if (kernel != nullptr) {
    record.set_code_object_sha256(std::string(kernel->digest));
  }
  *record.mutable_versions() = BuildVersions();
  record.mutable_versions()->set_device_runtime(properties.runtime);
  record.mutable_start_time()->set_seconds(std::time(nullptr));
  record.set_batch(c.batch);
  record.set_heads_q(c.heads_q);
  record.set_heads_kv(c.heads_kv);
  record.set_seqlen_q(c.seqlen_q);
  record.set_seqlen_kv(c.seqlen_kv);
  record.set_head_dim_qk(c.variant.head_dim_qk);
  record.set_head_dim_v(c.variant.head_dim_v);
  record.set_mask(c.variant.mask == Mask::kCausal ? proto::MASK_CAUSAL
                                                  : proto::MASK_FULL);
  if (options.inputs == nullptr) {
    record.set_input_distribution(GaussianDistribution(c.variant));
    record.set_seed(options.seed);
  }
  record.set_flops(AttentionFlops(c.variant, int64_t{c.batch} * c.heads_q,
                                  c.seqlen_q, c.seqlen_kv));
}

// Once through the kernel; the output comes back to the host.
absl::StatusOr<std::vector<Bf16>> RunOnce(const DeviceCall& call,
                                          Device& device,
                                          proto::Record& record) {
  absl::Status status = AttentionForward(call.params, device);
  if (status.ok()) status = device.Synchronize();
  RecordEmulatorReport(device, record);
  if (!status.ok()) return status;
  std::vector<Bf16> output(call.output.size() / sizeof(Bf16));
  status = device.CopyFromDevice(
      absl::Span<uint8_t>(reinterpret_cast<uint8_t*>(output.data()),
                          call.output.size()),
      call.output.address());
  if (!status.ok()) return status;
  return output;
}

// One head of a case.
Case OneHead(const Case& c) {
  Case one = c;
  one.batch = one.heads_q = one.heads_kv = 1;
  return one;
}

absl::Status CheckSizes(const Case& c, const Inputs& inputs) {
  const int64_t query_rows = int64_t{1} * c.batch * c.seqlen_q * c.heads_q;
  const int64_t key_rows = int64_t{1} * c.batch * c.seqlen_kv * c.heads_kv;
  const bool int8 = c.variant.data_type == DataType::kInt8;
  const struct {
    const char* name;
    size_t size;
    int64_t wanted;
  } sizes[] = {
      {"query", inputs.query.size(), query_rows * c.variant.head_dim_qk},
      {"key", inputs.key.size(), key_rows * c.variant.head_dim_qk},
      {"value", inputs.value.size(), key_rows * c.variant.head_dim_v},
      {"query_shifts", inputs.query_shifts.size(), int8 ? query_rows : 0},
      {"key_multipliers", inputs.key_multipliers.size(),
       c.variant.probability == Probability::kMultiply ? key_rows : 0}};
  for (const auto& [name, size, wanted] : sizes) {
    if (size == static_cast<size_t>(wanted)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "inputs.", name, " has ", size, " elements; allowed: ", wanted));
  }
  return absl::OkStatus();
}

absl::Status Measure(const Case& c, Device& device,
                     const RunCaseOptions& options, proto::Record& record) {
  const bool modelled = device.properties().modelled;
  const bool time_only = options.timing.only;
  if (time_only && !modelled) {
    record.set_outcome(proto::OUTCOME_REFUSED);
    return absl::InvalidArgumentError(
        absl::StrCat("timing.only is set on device ", device.properties().kind,
                     "; allowed: devices whose time is modelled"));
  }
  if (absl::Status status = CheckInputsFit(time_only ? OneHead(c) : c);
      !status.ok()) {
    record.set_outcome(proto::OUTCOME_REFUSED);
    return status;
  }
  const Case of_inputs = time_only ? OneHead(c) : c;
  std::optional<Inputs> gaussian;
  if (options.inputs == nullptr) {
    absl::StatusOr<Inputs> made = GaussianInputs(of_inputs, options.seed);
    if (!made.ok()) return made.status();
    gaussian = *std::move(made);
  } else if (absl::Status status = CheckSizes(of_inputs, *options.inputs);
             !status.ok()) {
    return status;
  }
  const Inputs& inputs = gaussian.has_value() ? *gaussian : *options.inputs;
  const absl::StatusOr<DeviceCall> call = Prepare(c, inputs, time_only, device);
  if (!call.ok()) return call.status();
  record.set_softmax_scale(*call->params.softmax_scale);
  if (absl::Status status = Supports(call->params); !status.ok()) {
    record.set_outcome(proto::OUTCOME_REFUSED);
    return status;
  }
  if (absl::Status status = StartEmulatorTiming(
          device, options.timing, c.variant.data_type, record.flops());
      !status.ok()) {
    return status;
  }
  if (time_only) {
    absl::Status status = AttentionForward(call->params, device);
    if (status.ok()) RecordEmulatorTime(device, options.timing, record);
    return status;
  }
  const absl::StatusOr<std::vector<Bf16>> output =
      RunOnce(*call, device, record);
  if (!output.ok()) return output.status();
  absl::Status status = CheckAccuracy(
      c, inputs, *output, options.reference_flops, options.threads, record);
  if (!status.ok()) return status;
  if (modelled) {
    RecordEmulatorTime(device, options.timing, record);
    return absl::OkStatus();
  }

  const absl::StatusOr<double> milliseconds =
      TimeOnGpu(call->params, device, options.warmups, options.runs);
  if (!milliseconds.ok()) return milliseconds.status();
  record.set_gpu_time_ms(*milliseconds);
  record.set_warmups(options.warmups);
  record.set_runs(options.runs);
  record.set_tflops(record.flops() / (*milliseconds * 1e-3) / 1e12);
  return absl::OkStatus();
}

}  // namespace

proto::Record RunCase(const Case& c, Device& device,
                      const RunCaseOptions& options) {
  proto::Record record;
  Describe(c, device, FindKernel(c.variant), options, record);
  const absl::Status status = Measure(c, device, options, record);
  if (status.ok()) {
    record.set_outcome(proto::OUTCOME_OK);
  } else {
    if (!record.has_outcome()) record.set_outcome(proto::OUTCOME_FAILED);
    record.set_message(status.ToString());
  }
  return record;
}

}  // namespace zyfa::bench
