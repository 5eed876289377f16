#include "world.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "random_program.h"

namespace tracewell::axjit {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSpaceBytes = size_t{1} << 30;
constexpr size_t kFirstPage = kSpaceBytes / 2 / kPage;
constexpr size_t kPages = 11;
constexpr size_t kEventsMax = 100000;

constexpr bool is_missing(size_t page) {
  return page % 5 == 4;
}

World& world_of(tracewell_native_context* context) {
  EXPECT_EQ(reinterpret_cast<uint64_t>(__builtin_frame_address(0)) % 16, 0u);
  return *reinterpret_cast<World*>(reinterpret_cast<uint8_t*>(context) -
                                   offsetof(World, context));
}

constexpr tracewell_native_calls kWorldCalls = {
    .trace_memory = [](tracewell_native_context* context, uint64_t address, uint64_t size) {
      return int{world_of(context).trace_memory(address, size)};
    },
    .trace_string = [](tracewell_native_context* context, uint64_t address, uint64_t max) {
      return int{world_of(context).trace_string(address, max)};
    },
    .trace_variable = [](tracewell_native_context* context, uint64_t number, uint64_t value) {
      return int{world_of(context).trace_variable(number, value)};
    },
    .get_variable = [](tracewell_native_context* context, uint64_t number) {
      World& world = world_of(context);
      return number == World::kClock ? world.tick() : 0;
    },
    .read_memory = [](tracewell_native_context* context, uint64_t address, void* to,
                      uint64_t size) {
      World& world = world_of(context);
      const bool done = world.read(address, to, size);
      if (!done) context->fault_address = world.fault_address;
      return int{done};
    },
    .print = [](tracewell_native_context* context, uint64_t function, uint64_t channel,
                const char* format, const uint64_t* arguments, uint64_t count) {
      return int{world_of(context).print(function, channel, format, {arguments, count})};
    },
};

/// Of memory that is not the arena's: asks the kernel, as a tracer does.
size_t readable_elsewhere(uint64_t address, size_t size) {
  uint8_t bytes[8];
  const iovec local = {bytes, size};
  const size_t here = std::min<size_t>(size, kPage - address % kPage);
  const iovec remote[2] = {{reinterpret_cast<void*>(address), here},
                           {reinterpret_cast<void*>(address + here), size - here}};
  const ssize_t got = process_vm_readv(getpid(), &local, 1, remote, here < size ? 2 : 1, 0);
  return got < 0 ? 0 : static_cast<size_t>(got);
}

}  // namespace

// Words are small numbers, addresses of the arena, or anything.
Arena::Arena() {
  void* space = mmap(nullptr, kSpaceBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                     -1, 0);
  if (space == MAP_FAILED) std::abort();
  space_ = static_cast<uint8_t*>(space);
  uint8_t* first = space_ + kFirstPage * kPage;
  if (mprotect(first, kPages * kPage, PROT_READ | PROT_WRITE) != 0) std::abort();
  for (size_t at = 0; at <= kPages * kPage; at += kPage / 2) {
    const auto address = reinterpret_cast<uint64_t>(first + at);
    for (const int around : {-64, -8, -4, -1, 0, 8, 72})
      addresses_.push_back(address + static_cast<uint64_t>(int64_t{around}));
  }
  Random random(1);
  for (size_t at = 0; at < kPages * kPage; at += 8) {
    const uint64_t kind = random.below(4);
    uint64_t word = random();
    if (kind == 0) word = random.below(10);
    if (kind == 1) word = addresses_[random.below(addresses_.size())];
    if (kind == 2) word &= random();
    std::memcpy(first + at, &word, sizeof word);
  }
  for (size_t page = 0; page < kPages; ++page)
    if (is_missing(page) && mprotect(first + page * kPage, kPage, PROT_NONE) != 0) std::abort();
}

Arena::~Arena() {
  munmap(space_, kSpaceBytes);
}

size_t Arena::readable(uint64_t address, size_t size, bool& stray) const {
  const auto start = reinterpret_cast<uint64_t>(space_);
  const uint64_t offset = address - start;
  if (offset >= kSpaceBytes - kPage) {
    const size_t got = readable_elsewhere(address, size);
    stray |= got > 0;
    return got;
  }
  size_t got = 0;
  for (uint64_t at = offset; got < size; ++got, ++at) {
    const size_t page = at / kPage - kFirstPage;
    if (page >= kPages || is_missing(page)) break;
  }
  return got;
}

std::vector<RegisterPlace> World::registers() {
  std::vector<RegisterPlace> places;
  const uint8_t sizes[] = {8, 8, 8, 8, 4, 2, 1, 8};
  for (uint32_t i = 0; i < std::size(sizes); ++i) {
    const size_t at = offsetof(World, saved) - offsetof(World, context) + 8 * i;
    places.push_back({i, static_cast<int32_t>(at), sizes[i]});
  }
  const auto back = static_cast<int32_t>(offsetof(World, context) - offsetof(World, before));
  places.push_back({8, -back, 8});
  return places;
}

std::vector<VariablePlace> World::variables() {
  std::vector<VariablePlace> places;
  for (const uint32_t number : {1u, 2u, 3u, 4u, kSecret})
    places.push_back({number, VariablePlace::Kind::Cell, 8 * number});
  places.push_back({kClock, VariablePlace::Kind::Computed, 0});
  return places;
}

void World::connect() {
  context.calls = &kWorldCalls;
  context.variables = cells;
}

// As a buffer is full at some time.
bool World::may() {
  return asked++ != fails_at && events.size() < kEventsMax;
}

bool World::trace_memory(uint64_t address, uint64_t size) {
  EXPECT_GT(size, 0u);
  if (!may()) return false;
  events.push_back({Event::Kind::Memory, address, size});
  return true;
}

bool World::trace_string(uint64_t address, uint64_t max) {
  EXPECT_GT(max, 0u);
  if (!may()) return false;
  events.push_back({Event::Kind::String, address, max});
  return true;
}

bool World::trace_variable(uint64_t number, uint64_t value) {
  if (number == kSecret || !may()) return false;
  events.push_back({Event::Kind::Variable, number, value});
  return true;
}

bool World::read(uint64_t address, void* to, size_t size) {
  const size_t got = arena->readable(address, size, stray);
  if (got < size || stray) {
    fault_address = address + got;
    return false;
  }
  std::memcpy(to, reinterpret_cast<const void*>(address), size);
  return true;
}

bool World::print(uint64_t function, uint64_t channel, const char* format,
                  std::span<const uint64_t> arguments) {
  if (!may()) return false;
  events.push_back({Event::Kind::Print, function, channel, arguments.size()});
  uint64_t text = 0;
  std::memcpy(&text, format, std::min<size_t>(std::strlen(format), sizeof text));
  events.push_back({Event::Kind::Print, text, 0, 0});
  for (const uint64_t argument : arguments)
    events.push_back({Event::Kind::Print, argument, 0, 0});
  return true;
}

bool WorldHost::read_register(unsigned number, uint64_t& value) const {
  static const std::vector<RegisterPlace> places = World::registers();
  if (number >= places.size()) return false;
  const auto* at = reinterpret_cast<const uint8_t*>(&world.context) + places[number].offset;
  value = load_uint(at, places[number].size_bytes, Endian::Little);
  return true;
}

uint64_t WorldHost::get_variable(unsigned number) {
  if (number == World::kClock) return world.tick();
  return (number >= 1 && number <= 4) || number == World::kSecret ? world.cells[number] : 0;
}

void WorldHost::set_variable(unsigned number, uint64_t value) {
  if ((number >= 1 && number <= 4) || number == World::kSecret) world.cells[number] = value;
}

bool WorldHost::trace_variable(unsigned number) {
  if (number == 0 || number > World::kSecret) return false;
  return world.trace_variable(number, get_variable(number));
}

TEST(World, KnowsWhatCanBeRead) {
  const Arena arena;
  bool stray = false;
  const uint64_t first = arena.addresses()[4];  // the first byte of the first page
  EXPECT_EQ(arena.readable(first, 8, stray), 8u);
  EXPECT_EQ(arena.readable(first - 1, 8, stray), 0u);
  EXPECT_EQ(arena.readable(first + 4 * kPage - 3, 8, stray), 3u);
  EXPECT_EQ(arena.readable(0x7fff00000000000, 8, stray), 0u);
  EXPECT_FALSE(stray);
  const uint64_t own = 1;
  EXPECT_EQ(arena.readable(reinterpret_cast<uint64_t>(&own), 8, stray), 8u);
  EXPECT_TRUE(stray);
}

}  // namespace tracewell::axjit
