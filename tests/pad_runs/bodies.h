// Small functions whose every instruction is led through a pad: what compilers make of loops,
// calls, tables, the red zone and exceptions, and by hand what they do not make.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <immintrin.h>

#include "pad_runs/body_by_hand.h"

namespace tracewell::pads {
namespace {

#ifdef __clang__
#define BODY __attribute__((noinline, used))
#else
#define BODY __attribute__((noinline, noclone, used))
#endif

uint64_t mixed(uint64_t seed, uint64_t value) {
  return (seed ^ value) * 0x9e37'79b9'7f4a'7c15 + (seed >> 29);
}

BODY uint64_t red_zone(uint64_t a, uint64_t b) {
  volatile uint64_t local[12];
  for (int i = 0; i < 12; ++i) local[i] = a * (static_cast<uint64_t>(i) + 3) ^ b;
  uint64_t sum = 0;
  for (int i = 11; i >= 0; --i) sum = sum * 31 + local[i];
  return sum;
}

BODY uint64_t short_loop(const char* text) {
  uint64_t hash = 5381;
  while (*text != 0) hash = hash * 33 ^ static_cast<uint8_t>(*text++);
  return hash;
}

BODY uint64_t fibonacci(uint64_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

BODY uint64_t through_pointers(uint64_t (*first)(uint64_t), uint64_t n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; ++i) sum += first(i) * (i + 1);
  return sum;
}

BODY uint64_t switch_table(uint64_t seed, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    switch (seed % 13) {
      case 0: seed = seed * 3 + 1; break;
      case 1: seed ^= seed >> 7; break;
      case 2: seed += 0x1234567; break;
      case 3: seed = seed << 9 | seed >> 55; break;
      case 4: seed -= static_cast<uint64_t>(i); [[fallthrough]];
      case 5: seed = ~seed; break;
      case 6: seed *= 0x10001; break;
      case 7: seed ^= 0xff00ff; break;
      case 8: seed = seed / 3 + 7; break;
      case 9: seed += seed >> 3; break;
      case 10: seed ^= static_cast<uint64_t>(i) << 32; break;
      case 11: seed = __builtin_bswap64(seed); break;
      default: seed += 5; break;
    }
  }
  return seed;
}

BODY uint64_t computed_goto(const uint8_t* program) {
  static const void* const kLabels[] = {&&stop, &&add, &&twice, &&flip, &&less};
  uint64_t value = 1;
  goto* kLabels[*program++];
add:
  value += *program++;
  goto* kLabels[*program++];
twice:
  value *= 2;
  goto* kLabels[*program++];
flip:
  value ^= 0x5555;
  goto* kLabels[*program++];
less:
  if (value > 1000) value -= 999;
  goto* kLabels[*program++];
stop:
  return value;
}

jmp_buf landing;
BODY void jumper(int depth) {
  if (depth == 0) longjmp(landing, 7);
  if (depth > 0) jumper(depth - 1);
}
BODY uint64_t set_jump(int depth) {
  volatile uint64_t before = static_cast<uint64_t>(depth) * 5;
  const int how = setjmp(landing);
  if (how == 0) jumper(depth);
  return before + static_cast<uint64_t>(how);
}

BODY uint64_t thrower(uint64_t n) {
  if (n % 3 == 0) throw std::runtime_error("three");
  if (n % 5 == 0) throw n;
  return n * 2;
}
BODY uint64_t catcher(uint64_t n) {
  struct Count {
    uint64_t* at;
    ~Count() { *at += 1000; }
  };
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n; ++i) {
    try {
      const Count count{&sum};
      sum += thrower(i);
    } catch (const std::runtime_error& error) {
      sum = mixed(sum, std::strlen(error.what()));
    } catch (uint64_t value) {
      sum = mixed(sum, value);
    }
  }
  return sum;
}

BODY double doubles(double x, int n) {
  double sum = 0;
  for (int i = 1; i <= n; ++i) sum += x / i - sum * 0.25 + (sum > 3 ? 1.5 : x);
  return sum;
}
BODY long double extended(long double x, int n) {
  for (int i = 0; i < n; ++i) x = x * 1.0000001L + 1.0L / (x + i);
  return x;
}
BODY __int128 wide(__int128 a, int n) {
  for (int i = 0; i < n; ++i) a = a * 1000003 + (a >> 77) - i;
  return a;
}
BODY float vectors(const float* from, int n) {
  __m128 sum = _mm_setzero_ps();
  for (int i = 0; i + 4 <= n; i += 4)
    sum = _mm_add_ps(_mm_mul_ps(sum, _mm_set1_ps(0.5F)), _mm_loadu_ps(from + i));
  float out[4];
  _mm_storeu_ps(out, sum);
  return out[0] + 2 * out[1] + 3 * out[2] + 4 * out[3];
}
BODY void sort(std::vector<int>& numbers, size_t from, size_t to) {
  if (to - from < 2) return;
  const int pivot = numbers[from + (to - from) / 2];
  size_t low = from, high = to - 1;
  while (low <= high) {
    while (numbers[low] < pivot) ++low;
    while (numbers[high] > pivot) --high;
    if (low > high) break;
    std::swap(numbers[low], numbers[high]);
    ++low;
    if (high == 0) break;
    --high;
  }
  sort(numbers, from, high + 1);
  sort(numbers, low, to);
}

BODY uint64_t all_of_them() {
  uint64_t digest = 1;
  for (uint64_t i = 0; i < 6; ++i) digest = mixed(digest, red_zone(i * 77, ~i));
  digest = mixed(digest, short_loop("the quick brown fox jumps over"));
  digest = mixed(digest, fibonacci(7));
  digest = mixed(digest, through_pointers(fibonacci, 4));
  digest = mixed(digest, switch_table(12345, 60));
  const uint8_t program[] = {1, 9, 2, 3, 2, 4, 1, 200, 2, 2, 4, 3, 0};
  digest = mixed(digest, computed_goto(program));
  digest = mixed(digest, set_jump(3));
  digest = mixed(digest, static_cast<uint64_t>(doubles(1.25, 30) * 1e9));
  digest = mixed(digest, static_cast<uint64_t>(extended(1.25L, 30) * 1e9L));
  const __int128 wider = wide(987654321, 25);
  digest = mixed(digest, static_cast<uint64_t>(wider) ^ static_cast<uint64_t>(wider >> 64));
  const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  digest = mixed(digest, static_cast<uint64_t>(vectors(numbers, 12) * 1000));
  std::vector<int> sorted = {5, 3, 9, -4, 7, 7, 0, 12, -9, 1};
  sort(sorted, 0, sorted.size());
  for (const int number : sorted) digest = mixed(digest, static_cast<uint64_t>(number));
  for (uint64_t i = 0; i < 6; ++i) digest = mixed(digest, by_hand(i, i * i + 3));
  return digest;
}

BODY uint64_t with_exceptions() { return catcher(7); }

#undef BODY

}  // namespace
}  // namespace tracewell::pads
