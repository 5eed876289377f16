// build: -O2 -g -fno-inline -Wno-psabi
// Arithmetic of every kind, in functions that are called work_…, by eight threads, while a signal
// arrives so many microseconds after the last one's handler, which computes as well: however slow
// handlers become, there is something between them. Prints one line, which is the same in every
// run: all bits of all results, folded. It is the same traced, or it is not.
//   arithmetic ROUNDS MICROSECONDS
#include <immintrin.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define WORK extern "C" __attribute__((noinline, noclone))

namespace {

constexpr int kThreads = 8;

uint64_t fold(uint64_t sum, uint64_t more) { return (sum ^ more) * 0x9e3779b97f4a7c15u + 1; }

template <class Value>
uint64_t bits(const Value& value) {
  uint64_t words[(sizeof(Value) + 7) / 8] = {};
  memcpy(words, &value, sizeof value < 10 || sizeof value > 16 ? sizeof value : 10);
  uint64_t sum = 0;
  for (const uint64_t word : words) sum = fold(sum, word);
  return sum;
}

struct Thrown {
  uint64_t value;
};

}  // namespace

WORK double work_double(double a, double b) { return a * b + b / (a + 1.5) - (a > b ? a : b); }
WORK float work_float(float a, float b) { return a * 0.75f + b * b - a / (b + 2); }
WORK long double work_x87(long double a, long double b) { return a * b - b / (a + 3) + a; }
WORK unsigned __int128 work_wide(unsigned __int128 a, uint64_t b) {
  return a * b + (a >> 31) / (b | 1) + (a % (b | 3));
}
// A leaf: what it keeps is below the stack pointer.
WORK uint64_t work_red_zone(uint64_t a) {
  volatile uint64_t kept[12];
  for (int i = 0; i < 12; ++i) kept[i] = a * (2 * i + 1);
  uint64_t sum = 0;
  for (int i = 0; i < 12; ++i) sum = fold(sum, kept[(i * 5) % 12]);
  return sum;
}
WORK uint64_t work_flags(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  for (int i = 0; i < 6; ++i) {
    unsigned long long out;
    sum += __builtin_add_overflow(a, b << i, &out);
    sum = (sum << 3) | (sum >> 61);
    sum += out < b ? 3 : a > out ? 5 : 7;
  }
  return sum;
}
WORK uint64_t work_text(const char* text, uint64_t bytes) {
  char copy[256];
  memcpy(copy, text, bytes);
  memmove(copy + 3, copy, bytes - 3);
  return fold(strnlen(copy, bytes), static_cast<unsigned char>(copy[bytes / 2]));
}
WORK __m128i work_sse(__m128i a, __m128i b) {
  return _mm_add_epi32(_mm_shuffle_epi32(a, 0x1b), _mm_xor_si128(b, _mm_slli_epi64(a, 7)));
}
WORK __attribute__((target("avx2"))) __m256i work_avx2(__m256i a, __m256i b) {
  const __m256i product = _mm256_mul_epu32(a, b);
  return _mm256_add_epi64(_mm256_permute4x64_epi64(product, 0x39), _mm256_srli_epi64(a, 3));
}
WORK __attribute__((target("avx512f,avx512dq"))) __m512i work_avx512(__m512i a, __m512i b) {
  const __mmask8 mask = _mm512_cmpgt_epu64_mask(a, b);
  const __m512i mixed = _mm512_mask_add_epi64(a, mask, a, b);
  const __m512i product = _mm512_maskz_mullo_epi64(mask, a, b);
  return _mm512_xor_si512(_mm512_maskz_rol_epi64(0xff, mixed, 13), product);
}
WORK uint64_t work_deep(uint64_t a, int depth) {
  if (depth == 0) throw Thrown{a * 3};
  const uint64_t kept = work_red_zone(a + depth);
  return work_deep(a ^ kept, depth - 1) + 1;
}
WORK uint64_t work_catch(uint64_t a) {
  try {
    return work_deep(a, 5);
  } catch (const Thrown& thrown) {
    return fold(a, thrown.value);
  }
}
WORK void work_jump(jmp_buf& back, uint64_t a) {
  if (a % 3 != 0) longjmp(back, static_cast<int>(a % 3));
}
WORK uint64_t work_setjmp(uint64_t a) {
  jmp_buf back;
  const volatile uint64_t kept = a * 5;
  const int came = setjmp(back);
  if (came == 0) work_jump(back, a);
  return fold(kept, static_cast<uint64_t>(came));
}
WORK uint64_t work_switch(uint64_t a) {
  switch (a % 11) {
    case 0: return a * 3;
    case 1: return a ^ 77;
    case 2: return ~a;
    case 3: return a >> 3;
    case 4: return a + 12345;
    case 5: return a * a;
    case 6: return a | 0xff00;
    case 7: return a & 0xffff'0000'ffff;
    case 8: return a - 99;
    default: return a / 7;
  }
}

namespace {

__attribute__((target("avx512f,avx512dq"))) uint64_t with_avx512(uint64_t a) {
  const __m512i x = _mm512_set_epi64(a, a * 3, a * 5, ~a, a >> 5, a << 9, a + 1, a ^ 0xf0f0);
  return bits(work_avx512(x, _mm512_set1_epi64(static_cast<int64_t>(a * 7))));
}
__attribute__((target("avx2"))) uint64_t with_avx2(uint64_t a) {
  const __m256i x = _mm256_set_epi64x(a, a * 3, ~a, a >> 7);
  return bits(work_avx2(x, _mm256_set1_epi64x(static_cast<int64_t>(a * 11))));
}

/// Without what throws, which allocates memory.
uint64_t round_of_handlers(uint64_t a) {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  static const bool avx512 = __builtin_cpu_supports("avx512dq");
  static const char text[] =
      "Enough of a text that whoever copies it has a reason to take more than a word at a time, "
      "and registers that nobody else has a use for, whatever their number is at the moment.";
  const double d = static_cast<double>(a % 1000003) / 97;
  uint64_t sum = bits(work_double(d, d * 0.5 + 1));
  sum = fold(sum, bits(work_float(static_cast<float>(d), 3.25f)));
  sum = fold(sum, bits(work_x87(d, d / 3)));
  sum = fold(sum, bits(work_wide(static_cast<unsigned __int128>(a) << 40 | a, a >> 3)));
  sum = fold(sum, work_red_zone(a));
  sum = fold(sum, work_flags(a, ~a >> 1));
  sum = fold(sum, work_text(text, 100 + a % 60));
  sum = fold(sum, bits(work_sse(_mm_set_epi64x(a, ~a), _mm_set1_epi32(static_cast<int>(a)))));
  if (avx2) sum = fold(sum, with_avx2(a));
  if (avx512) sum = fold(sum, with_avx512(a));
  sum = fold(sum, work_setjmp(a));
  return fold(sum, work_switch(a));
}

uint64_t round(uint64_t a) { return fold(round_of_handlers(a), work_catch(a)); }

volatile uint64_t from_handler;

itimerval once;

void on_signal(int) {
  from_handler = round_of_handlers(from_handler);
  setitimer(ITIMER_REAL, &once, nullptr);
}

long rounds;

void* thread(void* argument) {
  auto& sum = *static_cast<uint64_t*>(argument);
  for (long i = 0; i < rounds; ++i) sum = fold(sum, round(sum));
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  rounds = atol(argv[1]);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  once.it_value.tv_usec = atol(argv[2]);
  setitimer(ITIMER_REAL, &once, nullptr);
  pthread_t ids[kThreads];
  uint64_t sums[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    sums[i] = static_cast<uint64_t>(i) + 1;
    pthread_create(&ids[i], nullptr, thread, &sums[i]);
  }
  for (pthread_t id : ids) pthread_join(id, nullptr);
  signal(SIGALRM, SIG_IGN);
  uint64_t all = 0;
  for (const uint64_t sum : sums) all = fold(all, sum);
  printf("%016llx\n", static_cast<unsigned long long>(all));
  return 0;
}
