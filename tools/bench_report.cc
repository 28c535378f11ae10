#include "tools/bench_report.h"

#include <algorithm>

namespace tboost {
namespace {

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

void PrintMeasurement(const std::string& job, int threads, const Measurement& measured,
                      double limit) {
  const double median = Median(measured.values);
  const auto [least, most] = std::ranges::minmax(measured.values);
  OrderedJson json = {{"job", job},
                      {"case", measured.name},
                      {"threads", threads},
                      {measured.unit, Round(median, 3)},
                      {"min", Round(least, 3)},
                      {"max", Round(most, 3)},
                      {"peak_rss_mb", Round(measured.peak_rss_mb, 1)}};
  if (measured.planned_mb > 0) json["planned_mb"] = Round(measured.planned_mb, 1);
  if (measured.operations > 0) json["gflop_s"] = Round(measured.operations / median * 1e-6, 1);
  if (limit > 0) {
    json["limit"] = Round(limit, 3);
    json["of_limit"] = Round(measured.is_time() ? limit / median : median / limit, 4);
  }
  PrintJson(json);
  std::fflush(stdout);
}

std::string LimitsTable(const Limits& limits) {
  std::string out = fmt::format("{} thread{}\n", limits.threads, limits.threads > 1 ? "s" : "");
  for (const PeakRate& peak : limits.peaks)
    out += fmt::format("multiply-add  {:<5} {:<12} {:>8.1f} G{}/s\n", DTypeName(peak.type),
                       IsaName(peak.isa), peak.per_second * 1e-9,
                       peak.type == DType::kI8 ? "OP" : "FLOP");
  for (const ReadRate& read : limits.reads) {
    const bool bounded = read.holds != UINT64_MAX;
    out += fmt::format("read          {:<18} {:>8.1f} GB/s{}\n", read.level,
                       read.bytes_per_second * 1e-9,
                       bounded ? fmt::format("  up to {}", FormatBytes(read.holds)) : "");
  }
  return out + fmt::format("barrier       {:<18} {:>8.2f} us\n", "", limits.barrier_seconds * 1e6);
}

OrderedJson LimitsJson(const Limits& limits) {
  OrderedJson peaks = OrderedJson::array(), reads = OrderedJson::array();
  for (const PeakRate& peak : limits.peaks)
    peaks.push_back({{"type", DTypeName(peak.type)},
                     {"isa", IsaName(peak.isa)},
                     {"gop_s", Round(peak.per_second * 1e-9, 1)}});
  for (const ReadRate& read : limits.reads) {
    OrderedJson level = {{"level", read.level}, {"gb_s", Round(read.bytes_per_second * 1e-9, 1)}};
    if (read.holds != UINT64_MAX) level["holds_bytes"] = read.holds;
    reads.push_back(level);
  }
  return {{"threads", limits.threads},
          {"peaks", peaks},
          {"reads", reads},
          {"barrier_us", Round(limits.barrier_seconds * 1e6, 3)}};
}

}  // namespace tboost
