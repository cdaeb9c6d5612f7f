#include "zyfa/bench/loss_records.h"

#include <cstdint>

#include "zyfa/bench/estimate.h"

namespace zyfa::bench {
namespace {

std::vector<double> Figures(const std::vector<SegmentLoss>& losses,
                            double SegmentLoss::* figure) {
  std::vector<double> figures;
  for (const SegmentLoss& loss : losses) figures.push_back(loss.*figure);
  return figures;
}

}  // namespace

void SetLoss(const std::vector<SegmentLoss>& losses,
             const std::vector<SegmentLoss>& exact, proto::ModelLoss& loss) {
  const Estimate kl = MeanOf(Figures(losses, &SegmentLoss::kl));
  const Estimate to_bf16 = MeanOf(Figures(losses, &SegmentLoss::kl_to_bf16));
  const std::vector<double> bits = Figures(losses, &SegmentLoss::bits_per_byte);
  const Estimate added =
      PairedDifference(bits, Figures(exact, &SegmentLoss::bits_per_byte));
  loss.set_segments(static_cast<int32_t>(losses.size()));
  loss.set_kl(kl.mean);
  loss.set_kl_to_bf16(to_bf16.mean);
  loss.set_bits_per_byte(MeanOf(bits).mean);
  loss.set_added_bits_per_byte(added.mean);
  if (!kl.standard_error.has_value()) return;
  loss.set_kl_standard_error(*kl.standard_error);
  loss.set_kl_to_bf16_standard_error(*to_bf16.standard_error);
  loss.set_added_bits_per_byte_standard_error(*added.standard_error);
}

void SetDifference(const std::vector<SegmentLoss>& of,
                   const std::vector<SegmentLoss>& from,
                   proto::ModelLoss& loss) {
  const Estimate difference = PairedDifference(Figures(of, &SegmentLoss::kl),
                                               Figures(from, &SegmentLoss::kl));
  loss.set_segments(static_cast<int32_t>(of.size()));
  loss.set_kl_difference(difference.mean);
  if (!difference.standard_error.has_value()) return;
  loss.set_kl_difference_standard_error(*difference.standard_error);
}

}  // namespace zyfa::bench
