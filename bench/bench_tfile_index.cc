// A trace file of 1 000 000 small frames (21 bytes each). Ours: the file is opened and indexed, in
// this process. Peer: GDB, which has the file open, goes to the last frame once (`tfind 999999`);
// it has no index and looks at each frame before it. Both with the file in the page cache, in turn.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "formats/format.h"

namespace {

using namespace tracewell;

constexpr int kRounds = 5;
constexpr int kFrames = 1'000'000;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Status make_file(const std::string& path) {
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path));
  TW_RETURN_IF_ERROR(file.write("\x7fTRACE0\nR 230\n"
                                "tdesc <target><architecture>i386:x86-64</architecture></target>\n"
                                "status 0;tstop::0;tframes:f4240\ntp T1:401000:E:0:0\n"
                                "tp Z1:401000:at:0:9:2a3078343031303030\n\n"));
  const uint8_t frame[] = {1, 0, 15, 0, 0, 0, 'M', 0, 0x40, 0x40, 0, 0, 0, 0, 0, 4, 0, 1, 2, 3, 4};
  for (int i = 0; i < kFrames; ++i) TW_RETURN_IF_ERROR(file.write(Bytes(frame)));
  TW_RETURN_IF_ERROR(file.write(std::string_view("\0\0\0\0", 4)));
  return file.commit();
}

/// Milliseconds.
Result<double> ours(const std::string& path) {
  const auto begin = std::chrono::steady_clock::now();
  ProblemLog problems;
  TW_ASSIGN_OR_RETURN(auto input, InputFile::open(path));
  TW_ASSIGN_OR_RETURN(auto source, formats::open_source(input, "", {}, problems));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  if (source->seekable()->count() != kFrames || !problems.empty())
    return Error{Errc::Corrupt, "the file does not read as it was written", {}};
  return took.count();
}

Result<double> gdbs(const std::string& path) {
  const std::string command = fmt::format(
      "gdb -nx -batch -ex 'target tfile {}' -ex 'python import time; t = time.perf_counter(); "
      "gdb.execute(\"tfind {}\", to_string=True); print(\"took\", time.perf_counter() - t)' "
      "</dev/null 2>/dev/null",
      path, kFrames - 1);
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return errno_error("cannot run gdb");
  double seconds = 0;
  char line[256];
  while (std::fgets(line, sizeof line, pipe)) std::sscanf(line, "took %lf", &seconds);
  pclose(pipe);
  if (seconds <= 0) return Error{Errc::Target, "gdb did not go to the frame", {}};
  return seconds * 1000;
}

Status run(const std::string& path) {
  TW_RETURN_IF_ERROR(make_file(path));
  std::vector<double> our_times, peer_times;
  for (int round = 0; round < kRounds; ++round) {
    TW_ASSIGN_OR_RETURN(const double our_time, ours(path));
    TW_ASSIGN_OR_RETURN(const double peer_time, gdbs(path));
    our_times.push_back(our_time);
    peer_times.push_back(peer_time);
  }
  fmt::print("bench tfile-index ours={:.1f}ms peer={:.0f}ms ratio={:.1f}\n", median(our_times),
             median(peer_times), median(peer_times) / median(our_times));
  return {};
}

}  // namespace

int main() {
  const char* folder = std::getenv("TMPDIR");
  const std::string path = fmt::format("{}/bench_tfile_index.{}.tf", folder ? folder : "/tmp",
                                       getpid());
  const Status status = run(path);
  unlink(path.c_str());
  if (status.ok()) return 0;
  fmt::print(stderr, "bench_tfile_index: {}\n", status.error().text());
  return 1;
}
