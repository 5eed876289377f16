// A trace of x64dbg's, 100 000 000 steps (about 4.5 GB; TRACEWELL_BENCH_STEPS for another number),
// in the page cache. The limits stand for peers: nothing else opens such a file.
//   x64dbg-scan          opening it: blocks found and counted, one thread; against memcpy
//   x64dbg-index         the whole index, all cores; x64dbg-index-memory: private memory meanwhile
//   x64dbg-index-size    the index beside the trace
//   x64dbg-info          `tracewell info`, with the index at hand
//   x64dbg-registers-at, x64dbg-memory-at   random places, median
//   x64dbg-reverse-continue   GDB, at the end: back to the first step's write of a watched byte
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "formats/format.h"
#include "timeline/timeline.h"
#include "trace64_file.h"

namespace {

using namespace tracewell;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 3, kQuestions = 20'000;

template <class Do>
double seconds(Do&& what) {
  const auto begin = Clock::now();
  what();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <class Value>
Value median(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Megabytes that are this process's alone.
double private_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::atof(line.c_str() + 8) / 1024;
  return 0;
}

struct Trace {
  std::shared_ptr<InputFile> file;
  std::unique_ptr<Source> source;
};

Result<Trace> open(const std::string& path) {
  ProblemLog problems;
  Trace trace;
  TW_ASSIGN_OR_RETURN(trace.file, InputFile::open(path));
  TW_ASSIGN_OR_RETURN(trace.source, formats::open_source(trace.file, "", {}, problems));
  if (!problems.empty() || trace.source->steps() == nullptr)
    return Error{Errc::Corrupt, "the file does not read as it was written", {}};
  return trace;
}

Status scan(const std::string& path, uint64_t steps) {
  std::vector<double> ours, peers;
  double gigabytes = 0;
  for (int i = 0; i < kRounds; ++i) {
    Status status;
    ours.push_back(seconds([&] {
      auto trace = open(path);
      if (!trace) status = trace.error();
      else if (trace->source->steps()->count() != steps)
        status = Error{Errc::Corrupt, "steps are missing", {}};
    }));
    TW_RETURN_IF_ERROR(std::move(status));
    TW_ASSIGN_OR_RETURN(const auto file, InputFile::open(path));
    const Bytes bytes = file->bytes();
    gigabytes = static_cast<double>(bytes.size()) / 1e9;
    std::vector<uint8_t> into(64 << 20);
    peers.push_back(seconds([&] {
      for (size_t at = 0; at < bytes.size(); at += into.size())
        std::memcpy(into.data(), bytes.data() + at, std::min(into.size(), bytes.size() - at));
    }));
  }
  fmt::print("bench x64dbg-scan ours={:.2f}GB/s peer={:.2f}GB/s ratio={:.2f}\n",
             gigabytes / median(ours), gigabytes / median(peers), median(peers) / median(ours));
  return {};
}

Result<timeline::Timeline> index(const std::string& path, const Trace& trace) {
  std::atomic<bool> done = false;
  double most = 0;
  std::thread watch([&] {
    while (!done) {
      most = std::max(most, private_megabytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  timeline::TimelineOptions options;
  options.sidecar = path + ".tidx";
  // As the commands do it, which are to find this index.
  options.trace_file = {path, trace.file->facts()};
  options.trace_changed_ns = options.trace_file.facts.changed_ns;
  const ReaderNotes* const noted = trace.source->reader_notes();
  const std::vector<uint8_t> notes = noted != nullptr ? noted->notes() : std::vector<uint8_t>();
  options.build.notes = notes;
  Result<timeline::Timeline> built = Error{Errc::Io, "", {}};
  const double took = seconds([&] {
    built = timeline::Timeline::open(*trace.source->steps(), trace.source->catalog(),
                                     trace.file->bytes(), options);
  });
  done = true;
  watch.join();
  if (!built) return built;
  struct stat about {};
  stat(options.sidecar.c_str(), &about);
  const double speed = static_cast<double>(trace.file->bytes().size()) / 1e9 / took;
  const double share =
      static_cast<double>(about.st_size) / static_cast<double>(trace.file->bytes().size());
  fmt::print("bench x64dbg-index ours={:.3f}GB/s limit=0.4GB/s ratio={:.2f}\n", speed, speed / 0.4);
  fmt::print("bench x64dbg-index-memory ours={:.0f}MB limit=512MB ratio={:.1f}\n", most,
             512 / most);
  fmt::print("bench x64dbg-index-size ours={:.3f} limit=0.25 ratio={:.2f}\n", share, 0.25 / share);
  return built;
}

void questions(const Trace& trace, const timeline::Timeline& timeline) {
  std::mt19937_64 random(1);
  const uint64_t steps = timeline.steps();
  std::vector<double> registers, memory;
  StepIndex::Moment moment;
  for (int i = 0; i < kQuestions; ++i) {
    const uint64_t at = random() % steps;
    registers.push_back(
        seconds([&] { (void)trace.source->steps()->state_before(at, moment); }) * 1e6);
    const uint64_t address = 0x20000000 + (random() & 0xffff8);
    uint8_t bytes[8];
    ByteState states[8];
    memory.push_back(seconds([&] { timeline.memory(at, address, bytes, states); }) * 1e6);
  }
  fmt::print("bench x64dbg-registers-at ours={:.2f}us limit=5us ratio={:.2f}\n", median(registers),
             5 / median(registers));
  fmt::print("bench x64dbg-memory-at ours={:.2f}us limit=3us ratio={:.2f}\n", median(memory),
             3 / median(memory));
}

/// Milliseconds, as the command prints them on a line that begins with `took`; the median.
Result<double> timed(const std::string& command) {
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) return errno_error("popen");
    double took = -1;
    char line[512];
    const double all = seconds([&] {
      while (std::fgets(line, sizeof line, pipe)) std::sscanf(line, "took %lf", &took);
    });
    if (pclose(pipe) != 0) return Error{Errc::Target, command, {}};
    times.push_back(took >= 0 ? took : all * 1000);
  }
  return median(times);
}

Status programs(const std::string& bin, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const double info, timed(fmt::format("{}/tracewell info {}", bin, path)));
  fmt::print("bench x64dbg-info ours={:.0f}ms limit=50ms ratio={:.2f}\n", info, 50 / info);
  const std::string script = path + ".gdb";
  std::ofstream(script) << fmt::format(
      "set pagination off\nset confirm off\ntarget remote | {}/tracewell replay {} -\n"
      "watch *(char *) {:#x}\ncontinue\ndelete\ncontinue\nwatch *(char *) {:#x}\n"
      "python\nimport time\nbegin = time.perf_counter()\n"
      "said = gdb.execute('reverse-continue', to_string=True)\n"
      "took = (time.perf_counter() - begin) * 1000\n"
      "if int(gdb.parse_and_eval('$pc')) != {:#x}: raise gdb.GdbError('elsewhere: ' + said)\n"
      "print('took', took)\nend\n",
      bin, path, bench::kOnceWritten, bench::kOnceWritten, bench::kImage);
  const auto back = timed(fmt::format("gdb -nx -q -batch -x {} 2>/dev/null", script));
  unlink(script.c_str());
  if (!back) return back.error();
  fmt::print("bench x64dbg-reverse-continue ours={:.0f}ms limit=100ms ratio={:.2f}\n", *back,
             100 / *back);
  return {};
}

Status run(const std::string& bin, const std::string& path) {
  const char* wanted = std::getenv("TRACEWELL_BENCH_STEPS");
  const uint64_t steps = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 100'000'000;
  TW_RETURN_IF_ERROR(bench::Trace64File::write(path, steps));
  TW_RETURN_IF_ERROR(scan(path, steps));
  TW_ASSIGN_OR_RETURN(const Trace trace, open(path));
  TW_ASSIGN_OR_RETURN(const timeline::Timeline timeline, index(path, trace));
  questions(trace, timeline);
  return programs(bin, path);
}

}  // namespace

int main(int, char** argv) {
  const char* folder = std::getenv("TMPDIR");
  const std::string path = fmt::format("{}/bench_x64dbg.{}.trace64", folder ? folder : "/tmp",
                                       getpid());
  const Status status = run(argv[1] != nullptr ? argv[1] : "", path);
  unlink(path.c_str());
  unlink((path + ".tidx").c_str());
  if (status.ok()) return 0;
  fmt::print(stderr, "bench_x64dbg: {}\n", status.error().text());
  return 1;
}
