#include "timeline/diff_cause.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/endian.h"
#include "machine/usage.h"
#include "timeline/diff_steps.h"

namespace tracewell::timeline {
namespace {

constexpr size_t kCausesMax = 32;
constexpr uint64_t kLowestAddress = 0x10000;  // what is below is no pointer

Spot spot_of(const Event& event) { return {event.seq, std::get<Step>(event.body).pc}; }

class CauseFinder {
 public:
  CauseFinder(const DiffSide& a, const DiffSide& b, LastSteps last_a, LastSteps last_b,
              uint64_t steps, Bases& bases, std::span<const std::string> ignored)
      : side_a_(a),
        side_b_(b),
        a_(std::move(last_a)),
        b_(std::move(last_b)),
        count_(static_cast<size_t>(std::min<uint64_t>(steps, std::min(a_.size(), b_.size())))),
        is_x86_(a.catalog.machine == "x86-64" || a.catalog.machine == "i386"),
        bases_(bases),
        ignored_(ignored) {}

  std::vector<Cause> find() {
    if (count_ == 0) return {};
    learn_distances();
    examine(0, std::nullopt);
    for (size_t i = 0; i < out_.size() && out_.size() < kCausesMax; ++i)
      if (writers_[i]) examine(*writers_[i], i);
    return std::move(out_);
  }

 private:
  /// Of the step's instruction, which one of the traces may not tell.
  machine::Usage usage(size_t back) const {
    Bytes opcode = a_.step(back).opcode;
    if (opcode.empty()) opcode = b_.step(back).opcode;
    return machine::usage_of(opcode, side_a_.catalog.address_bytes);
  }

  /// Stacks and heaps: addresses that the same steps used, and the stack pointer.
  void learn_distances() {
    for (size_t k = 0; k < count_; ++k) {
      const auto of_a = a_.step(k).memory, of_b = b_.step(k).memory;
      for (size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) {
        const uint64_t distance = of_b[i].address - of_a[i].address;
        if (distance != 0 && distance % Bases::kPage == 0) bases_.note(distance);
      }
    }
    const auto& sp = side_a_.catalog.registers.sp_index;
    if (!sp) return;
    const Bytes one = a_.register_before(count_ - 1, *sp);
    const Bytes other = b_.register_before(count_ - 1, *sp);
    if (!one.empty() && one.size() == other.size()) bases_.note(number(other) - number(one));
  }

  uint64_t number(Bytes value) const {
    return load_uint(value.data(), std::min<size_t>(value.size(), 8), side_a_.catalog.endian);
  }

  /// The same, or the same but for where things stand.
  bool same_value(Bytes one, Bytes other) const {
    if (one.size() != other.size()) return false;
    if (std::equal(one.begin(), one.end(), other.begin())) return true;
    const size_t word = side_a_.catalog.address_bytes;
    if (word == 0 || one.size() % word != 0) return false;
    for (size_t at = 0; at < one.size(); at += word) {
      const uint64_t x = number(one.subspan(at, word)), y = number(other.subspan(at, word));
      if (x == y) continue;
      if (x < kLowestAddress || y < kLowestAddress || !bases_.rebased(x, y)) return false;
    }
    return true;
  }

  void examine(size_t back, std::optional<size_t> because) {
    if (std::find(examined_.begin(), examined_.end(), back) != examined_.end()) return;
    examined_.push_back(back);
    if (is_x86_) {
      const machine::Usage used = usage(back);
      for (const machine::RegisterUse& use : used.registers)
        if (use.reads && !is_ignored(use.name))
          look_at_register(back, use.name, use.first_byte, use.bytes, because);
      if (used.flags_read != 0 && !is_ignored("eflags"))
        look_at_flags(back, used.flags_read, because);
    }
    const auto of_a = a_.step(back).memory, of_b = b_.step(back).memory;
    for (size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i)
      look_at_memory(back, of_a[i], of_b[i], because);
  }

  bool is_ignored(std::string_view name) const {
    return std::find(ignored_.begin(), ignored_.end(), name) != ignored_.end();
  }

  void look_at_register(size_t back, std::string_view name, size_t first, size_t bytes,
                        std::optional<size_t> because) {
    const RegisterLayout& layout_a = side_a_.catalog.registers;
    const RegisterLayout& layout_b = side_b_.catalog.registers;
    const Register* reg_a = layout_a.find(name);
    const Register* reg_b = layout_b.find(name);
    if (reg_a == nullptr || reg_b == nullptr) return;
    const auto index_a = static_cast<uint32_t>(reg_a - layout_a.registers.data());
    const auto index_b = static_cast<uint32_t>(reg_b - layout_b.registers.data());
    const Bytes one = a_.register_before(back, index_a), other = b_.register_before(back, index_b);
    if (one.empty() || other.empty() || same_value(one, other)) return;
    if (bytes != 0 && first + bytes <= std::min(one.size(), other.size()) &&
        same_value(one.subspan(first, bytes), other.subspan(first, bytes)))
      return;
    const auto writer = find_writer(back, [&](size_t k) {
      return a_.changes_register(k, index_a) || b_.changes_register(k, index_b) ||
             writes_register(k, name);
    });
    Cause cause = cause_at(back, one, other, because);
    cause.reg = index_a;
    add(std::move(cause), writer);
  }

  void look_at_flags(size_t back, uint64_t mask, std::optional<size_t> because) {
    const RegisterLayout& layout_a = side_a_.catalog.registers;
    const RegisterLayout& layout_b = side_b_.catalog.registers;
    const Register* reg_a = layout_a.find("eflags");
    const Register* reg_b = layout_b.find("eflags");
    if (reg_a == nullptr || reg_b == nullptr) return;
    const auto index_a = static_cast<uint32_t>(reg_a - layout_a.registers.data());
    const auto index_b = static_cast<uint32_t>(reg_b - layout_b.registers.data());
    const Bytes one = a_.register_before(back, index_a), other = b_.register_before(back, index_b);
    // Flags that nobody recorded must have been different where they decided.
    const bool known = !one.empty() && !other.empty();
    if (known ? ((number(one) ^ number(other)) & mask) == 0 : back != 0) return;
    const auto writer = find_writer(back, [&](size_t k) {
      return (usage(k).flags_written & mask) != 0;
    });
    Cause cause = cause_at(back, one, other, because);
    cause.reg = index_a;
    cause.flags = mask;
    add(std::move(cause), writer);
  }

  void look_at_memory(size_t back, const Step::MemoryAccess& one, const Step::MemoryAccess& other,
                      std::optional<size_t> because) {
    using Kind = Step::MemoryAccess::Kind;
    if (one.kind != other.kind || one.size != other.size || one.size == 0) return;
    if (one.kind != Kind::Read && one.kind != Kind::ReadWrite) return;
    if (one.old_bytes.empty() || other.old_bytes.empty() ||
        same_value(one.old_bytes, other.old_bytes))
      return;
    const auto writer = find_writer(back, [&](size_t k) {
      return a_.writes(k, one.address, one.size) || b_.writes(k, other.address, other.size);
    });
    Cause cause = cause_at(back, one.old_bytes, other.old_bytes, because);
    cause.a.address = one.address;
    cause.b.address = other.address;
    if (tell_other_thread(back, cause, writer, one.size)) return;
    add(std::move(cause), writer);
  }

  /// What another thread wrote since this one did, in either run. Which of its steps belong
  /// together in both runs nobody knows, so nothing is looked for behind that.
  bool tell_other_thread(size_t back, Cause& cause, std::optional<size_t> writer, uint64_t size) {
    const Event* const in_a = a_.last_writer(back, cause.a.address, size);
    const Event* const in_b = b_.last_writer(back, cause.b.address, size);
    const auto is_other = [&](const Event* one, const LastSteps& steps) {
      return one != nullptr && one->tid != steps.event(back).tid;
    };
    if (!is_other(in_a, a_) && !is_other(in_b, b_)) return false;
    const auto tell = [&](const Event* one, const LastSteps& steps, Cause::Side& side) {
      if (one == nullptr) one = writer ? &steps.event(*writer) : nullptr;
      if (one == nullptr) return;
      side.writer = spot_of(*one);
      if (is_other(one, steps)) side.writer_tid = one->tid;
    };
    tell(in_a, a_, cause.a);
    tell(in_b, b_, cause.b);
    if (out_.size() >= kCausesMax) return true;
    out_.push_back(std::move(cause));
    writers_.push_back(std::nullopt);
    return true;
  }

  bool writes_register(size_t back, std::string_view name) const {
    const machine::Usage used = usage(back);
    return std::any_of(used.registers.begin(), used.registers.end(), [&](const auto& use) {
      return use.writes && use.name == name;
    });
  }

  std::optional<size_t> find_writer(size_t back, const auto& writes) const {
    for (size_t k = back + 1; k < count_; ++k)
      if (writes(k)) return k;
    return std::nullopt;
  }

  Cause cause_at(size_t back, Bytes one, Bytes other, std::optional<size_t> because) const {
    Cause cause;
    cause.a.reader = spot_of(a_.event(back));
    cause.b.reader = spot_of(b_.event(back));
    cause.a.value.assign(one.begin(), one.end());
    cause.b.value.assign(other.begin(), other.end());
    cause.because = because;
    return cause;
  }

  void add(Cause cause, std::optional<size_t> writer) {
    if (out_.size() >= kCausesMax) return;
    if (writer) {
      cause.a.writer = spot_of(a_.event(*writer));
      cause.b.writer = spot_of(b_.event(*writer));
    }
    out_.push_back(std::move(cause));
    writers_.push_back(writer);
  }

  const DiffSide& side_a_;
  const DiffSide& side_b_;
  LastSteps a_, b_;
  size_t count_ = 0;
  bool is_x86_ = false;
  Bases& bases_;
  std::span<const std::string> ignored_;
  std::vector<Cause> out_;
  std::vector<std::optional<size_t>> writers_;  // of out_
  std::vector<size_t> examined_;
};

}  // namespace

Result<std::vector<Cause>> find_causes(const DiffSide& a, const DiffSide& b, const SameRun& run,
                                       size_t look_back, Bases& bases,
                                       std::span<const std::string> ignored) {
  TW_ASSIGN_OR_RETURN(LastSteps of_a,
                      LastSteps::read(a.steps, run.tid_a, run.seq_a, look_back));
  TW_ASSIGN_OR_RETURN(LastSteps of_b,
                      LastSteps::read(b.steps, run.tid_b, run.seq_b, look_back));
  CauseFinder finder(a, b, std::move(of_a), std::move(of_b), run.steps, bases, ignored);
  return finder.find();
}

}  // namespace tracewell::timeline
