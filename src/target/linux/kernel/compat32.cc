// The 32-bit numbers and structures are those of the kernel's i386 interface: asm/unistd_32.h,
// asm/sigcontext.h, asm-generic/siginfo.h with 4-byte pointers and longs.
#include "target/linux/kernel/compat32.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include <elf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/endian.h"
#include "base/files/file.h"
#include "target/linux/images/mapped_files.h"

namespace tracewell::target::live {

bool runs_32_bit_program(Tid tid) {
  const auto fd = open_program(tid);
  Elf32_Ehdr header{};
  if (!fd.ok() || read(fd->get(), &header, sizeof header) != sizeof header) return false;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS32 && header.e_machine == EM_386;
}

const SystemCalls& system_calls(bool is_32_bit) {
  static constexpr SystemCalls kWide = {
      SYS_clone,    SYS_clone3, SYS_vfork,  -1,        SYS_rt_sigreturn, SYS_execve,
      SYS_execveat, SYS_mmap,   SYS_munmap, SYS_prctl, {0x0f, 0x05}};
  // mmap2, whose offset counts pages; int 0x80.
  static constexpr SystemCalls kNarrow = {120, 435, 190, 119, 173,         11,
                                          358, 192, 91,  172, {0xcd, 0x80}};
  return is_32_bit ? kNarrow : kWide;
}

bool is_sigreturn(const user_regs_struct& regs, bool is_32_bit) {
  const SystemCalls& numbers = system_calls(is_32_bit);
  const auto number = static_cast<int32_t>(regs.orig_rax);
  return number == numbers.rt_sigreturn || (number == numbers.sigreturn && number >= 0);
}

void set_system_call(user_regs_struct& regs, const uint64_t (&call)[7], bool is_32_bit) {
  regs.orig_rax = ~0ull;
  regs.rax = call[0];
  (is_32_bit ? regs.rbx : regs.rdi) = call[1];
  (is_32_bit ? regs.rcx : regs.rsi) = call[2];
  regs.rdx = call[3];
  (is_32_bit ? regs.rsi : regs.r10) = call[4];
  (is_32_bit ? regs.rdi : regs.r8) = call[5];
  (is_32_bit ? regs.rbp : regs.r9) = call[6];
}

int64_t system_call_result(const user_regs_struct& regs, bool is_32_bit) {
  if (!is_32_bit) return static_cast<int64_t>(regs.rax);
  constexpr uint32_t kErrnoMax = 4095;
  const auto result = static_cast<uint32_t>(regs.rax);
  return result >= -kErrnoMax ? static_cast<int32_t>(result) : static_cast<int64_t>(result);
}

/// struct rt_sigframe; 32-bit: struct sigframe, or rt_sigframe for handlers that take a siginfo,
/// which then begins with pointers to its own parts.
std::optional<Interrupted> interrupted_by_handler(const PatchedMemory& memory, uint64_t frame) {
  if (!memory.is_32_bit) {
    constexpr uint64_t kSp = 168, kPc = 176;
    const auto sp = memory.read_value<uint64_t>(frame + kSp);
    const auto pc = memory.read_value<uint64_t>(frame + kPc);
    if (!sp || !pc) return std::nullopt;
    return Interrupted{*pc, *sp};
  }
  constexpr uint64_t kContext = 8, kInfo = 16, kRtContext = 164, kSp = 28, kPc = 56;
  const bool with_info = memory.read_value<uint32_t>(frame + 8) == frame + kInfo;
  const uint64_t context = frame + (with_info ? kRtContext : kContext);
  const auto sp = memory.read_value<uint32_t>(context + kSp);
  const auto pc = memory.read_value<uint32_t>(context + kPc);
  if (!sp || !pc) return std::nullopt;
  return Interrupted{*pc, *sp};
}

namespace {

/// A field of the union, in both.
struct Field {
  uint8_t at32, bytes32, at64, bytes64;
};

using Fields = std::span<const Field>;

// The union begins at byte 12 and 16. Timers fill the same places as signals with a value.
constexpr Field kSender[] = {{12, 4, 16, 4}, {16, 4, 20, 4}};
constexpr Field kValue[] = {{12, 4, 16, 4}, {16, 4, 20, 4}, {20, 4, 24, 8}};
constexpr Field kChild[] = {
    {12, 4, 16, 4}, {16, 4, 20, 4}, {20, 4, 24, 4}, {24, 4, 32, 8}, {28, 4, 40, 8}};
constexpr Field kFault[] = {{12, 4, 16, 8}, {16, 2, 24, 2}, {20, 4, 32, 8}, {24, 4, 40, 8}};
constexpr Field kPoll[] = {{12, 4, 16, 8}, {16, 4, 24, 4}};
constexpr Field kFilter[] = {{12, 4, 16, 8}, {16, 4, 24, 4}, {20, 4, 28, 4}};

/// Who sent it decides what is in it: a process, or the kernel, by codes of the signal's own.
Fields fields_of(int signal, int code) {
  if (code == SI_SIGIO) return kPoll;
  if (code < 0 && code != SI_TKILL) return kValue;
  if (code <= SI_USER || code >= SI_KERNEL) return kSender;
  switch (signal) {
    case SIGCHLD: return kChild;
    case SIGILL: case SIGFPE: case SIGSEGV: case SIGBUS: case SIGTRAP: return kFault;
    case SIGPOLL: return kPoll;
    case SIGSYS: return kFilter;
    default: return kSender;
  }
}

constexpr size_t kSiginfoBytes = sizeof(siginfo_t);
constexpr size_t kHeadBytes = 12;  // si_signo, si_errno, si_code

}  // namespace

std::vector<uint8_t> siginfo_to_32_bit(const siginfo_t& info) {
  std::vector<uint8_t> result(kSiginfoBytes);
  const auto* from = reinterpret_cast<const uint8_t*>(&info);
  std::copy_n(from, kHeadBytes, result.begin());
  for (const Field& field : fields_of(info.si_signo, info.si_code))
    store_uint(&result[field.at32], load_uint(from + field.at64, field.bytes64, Endian::Little),
               field.bytes32, Endian::Little);
  return result;
}

void siginfo_from_32_bit(Bytes bytes, siginfo_t& info) {
  if (bytes.size() < kSiginfoBytes) return;
  auto* to = reinterpret_cast<uint8_t*>(&info);
  std::copy_n(bytes.begin(), kHeadBytes, to);
  for (const Field& field : fields_of(info.si_signo, info.si_code)) {
    const uint64_t narrow = load_uint(&bytes[field.at32], field.bytes32, Endian::Little);
    // Upper halves that the program cannot see stay, unless it is another value now.
    if (static_cast<uint32_t>(load_uint(to + field.at64, field.bytes64, Endian::Little)) == narrow)
      continue;
    store_uint(to + field.at64, narrow, field.bytes64, Endian::Little);
  }
}

}  // namespace tracewell::target::live
