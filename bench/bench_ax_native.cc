// A tracepoint's condition with one memory read and false once in a while, `(a & 255) == 7 &&
// p->length > 100` as GDB writes it: nanoseconds for one evaluation. Ours: compiled, called through
// a pointer. Peer: the interpreter over a host whose registers and memory are plain loads. In turn,
// in one process. `ax-compile` is what compiling it takes; peer = 100 evaluations in the
// interpreter, which is what it has to save to be worth it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>

#include "ax/interpret.h"
#include "ax/native.h"
#include "axjit/compile.h"

namespace {

using namespace tracewell;

constexpr int kRounds = 11;
constexpr uint64_t kTimes = 2'000'000;
constexpr uint64_t kCompilations = 2000;

constexpr uint8_t kCondition[] = {
    0x26, 0, 5, 0x16, 64, 0x23, 0, 255, 0x0f, 0x22, 7, 0x13, 0x20, 0, 18, 0x21, 0, 44,
    0x26, 0, 4, 0x2a, 64, 0x22, 8, 0x02, 0x1a, 0x16, 64, 0x22, 100, 0x2b, 0x14, 0x20, 0, 39,
    0x21, 0, 44, 0x22, 1, 0x21, 0, 46, 0x22, 0, 0x27};

struct Saved {
  tracewell_native_context context{};
  uint64_t registers[16] = {};
};

struct Host {
  const uint64_t* registers;

  Endian endian() const { return Endian::Little; }
  bool read_register(unsigned number, uint64_t& value) const {
    if (number >= 16) return false;
    value = registers[number];
    return true;
  }
  bool read_memory(uint64_t address, void* to, size_t size) const {
    std::memcpy(to, reinterpret_cast<const void*>(address), size);
    return true;
  }
  uint64_t get_variable(unsigned) const { return 0; }
  void set_variable(unsigned, uint64_t) {}
  bool trace_memory(uint64_t, uint64_t) const { return true; }
  bool trace_string(uint64_t, uint64_t) const { return true; }
  bool trace_variable(unsigned) const { return true; }
  bool print(uint64_t, uint64_t, const char*, std::span<const uint64_t>) const { return true; }
};

/// Nanoseconds for each of `times` calls of `one(i)`, whose results are added to `sum`.
template <class One>
double time(uint64_t times, uint64_t& sum, One one) {
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < times; ++i) sum += one(i);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(times);
}

double median(std::vector<double>& values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Result<axjit::Native> compiled() {
  std::vector<axjit::RegisterPlace> places;
  for (uint32_t i = 0; i < 16; ++i)
    places.push_back({i, static_cast<int32_t>(offsetof(Saved, registers) + 8 * i), 8});
  return axjit::compile(kCondition, ax::Purpose::Condition,
                        {.registers = places, .variables = {}});
}

Status run() {
  using Function = tracewell_native_outcome (*)(tracewell_native_context*);
  TW_ASSIGN_OR_RETURN(const axjit::Native native, compiled());
  void* memory = mmap(nullptr, native.code.size(), PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno_error("no memory for code");
  std::memcpy(memory, native.code.data(), native.code.size());
  const auto function = reinterpret_cast<Function>(memory);

  int64_t object[2] = {0, 101};
  Saved saved;
  saved.registers[4] = reinterpret_cast<uint64_t>(object);
  Host host{saved.registers};
  std::vector<double> ours, peer, compiling;
  uint64_t held = 0, peer_held = 0, bytes = 0;
  // The low byte is 7 for 15 of 16.
  const auto argument = [](uint64_t i) { return i * 256 + (i % 16 == 0 ? 8 : 7); };
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(time(kTimes, held, [&](uint64_t i) {
      saved.registers[5] = argument(i);
      return function(&saved.context).value;
    }));
    peer.push_back(time(kTimes, peer_held, [&](uint64_t i) {
      saved.registers[5] = argument(i);
      return ax::run(kCondition, host).value;
    }));
    compiling.push_back(time(kCompilations, bytes, [&](uint64_t) {
      return compiled()->code.size();
    }));
  }
  if (held != peer_held || held != kRounds * kTimes / 16 * 15)
    return Error{Errc::Corrupt, fmt::format("{} and {} held", held, peer_held), {}};
  const double native_ns = median(ours), interpreter_ns = median(peer);
  fmt::print("bench ax-native ours={:.2f}ns peer={:.2f}ns ratio={:.2f}\n", native_ns,
             interpreter_ns, interpreter_ns / native_ns);
  fmt::print("bench ax-compile ours={:.0f}ns peer={:.0f}ns ratio={:.2f}\n", median(compiling),
             100 * interpreter_ns, 100 * interpreter_ns / median(compiling));
  return {};
}

}  // namespace

int main() {
  const Status done = run();
  if (!done.ok()) fmt::print(stderr, "bench_ax_native: {}\n", done.error().text());
  return done.ok() ? 0 : 1;
}
