#include "timeline/diff/cause.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/endian.h"
#include "machine/usage.h"
#include "timeline/diff/steps.h"

namespace tracewell::timeline {
namespace {

constexpr size_t kCausesMax = 32;
constexpr uint64_t kLowestAddress = 0x10000;  // what is below is no pointer

Spot spot_of(const Event& event) { return {event.seq, std::get<Step>(event.body).pc}; }

/// Steps that are the same, as numbers in LastSteps of both.
struct Pair {
  size_t a = 0, b = 0;
  bool operator==(const Pair&) const = default;
};

/// Who made a value different.
struct Writer {
  std::optional<size_t> pair;        // number of the steps that wrote it in both runs
  std::optional<size_t> own_a, own_b;  // steps that only one run has, in LastSteps
  std::optional<size_t> difference;  // the number of the one that these are of
};

class CauseFinder {
 public:
  CauseFinder(const DiffSide& a, const DiffSide& b, LastSteps last_a, LastSteps last_b,
              const SameRun& run, Bases& bases, std::span<const std::string> ignored)
      : side_a_(a),
        side_b_(b),
        a_(std::move(last_a)),
        b_(std::move(last_b)),
        told_(run.told),
        is_x86_(a.catalog.machine == "x86-64" || a.catalog.machine == "i386"),
        bases_(bases),
        ignored_(ignored) {
    line_up(run);
  }

  std::vector<Cause> find() {
    if (pairs_.empty()) return {};
    learn_distances();
    examine(0, std::nullopt);
    for (size_t i = 0; i < out_.size() && out_.size() < kCausesMax; ++i)
      if (writers_[i]) examine(*writers_[i], i);
    return std::move(out_);
  }

 private:
  struct Seam {
    size_t pair = 0;  // the number of the first pair in front of it
    std::optional<size_t> difference;
  };

  void line_up(const SameRun& run) {
    size_t a = 0, b = 0;
    const auto add = [&](uint64_t steps) {
      const size_t there = std::min(a_.size() - std::min(a, a_.size()),
                                    b_.size() - std::min(b, b_.size()));
      for (uint64_t n = std::min<uint64_t>(steps, there); n > 0; --n) pairs_.push_back({a++, b++});
      return steps <= there;
    };
    bool more = add(run.steps);
    for (auto met = run.met.rbegin(); met != run.met.rend() && more; ++met) {
      if (met->own_a > a_.size() || met->own_b > b_.size()) return;
      a += static_cast<size_t>(met->own_a);
      b += static_cast<size_t>(met->own_b);
      seams_.push_back({pairs_.size(), met->difference});
      more = add(met->same);
    }
    // What is in front of all that is there nobody has seen.
    if (!seams_.empty() && seams_.back().pair == pairs_.size()) seams_.pop_back();
  }

  const Step& step_a(size_t pair) const { return a_.step(pairs_[pair].a); }
  const Step& step_b(size_t pair) const { return b_.step(pairs_[pair].b); }

  /// Of the step's instruction, which one of the traces may not tell.
  machine::Usage usage(size_t pair) const {
    Bytes opcode = step_a(pair).opcode;
    if (opcode.empty()) opcode = step_b(pair).opcode;
    return machine::usage_of(opcode, side_a_.catalog.address_bytes);
  }

  /// Stacks and heaps: addresses that the same steps used, and the stack pointer.
  void learn_distances() {
    for (size_t k = 0; k < pairs_.size(); ++k) {
      const auto of_a = step_a(k).memory, of_b = step_b(k).memory;
      for (size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) {
        const uint64_t distance = of_b[i].address - of_a[i].address;
        if (distance != 0 && distance % Bases::kPage == 0) bases_.note(distance);
      }
    }
    const auto& sp = side_a_.catalog.registers.sp_index;
    if (!sp) return;
    const Bytes one = a_.register_before(pairs_.back().a, *sp);
    const Bytes other = b_.register_before(pairs_.back().b, *sp);
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
    const auto of_a = step_a(back).memory, of_b = step_b(back).memory;
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
    const Bytes one = a_.register_before(pairs_[back].a, index_a),
                other = b_.register_before(pairs_[back].b, index_b);
    if (one.empty() || other.empty() || same_value(one, other)) return;
    if (bytes != 0 && first + bytes <= std::min(one.size(), other.size()) &&
        same_value(one.subspan(first, bytes), other.subspan(first, bytes)))
      return;
    const auto writer = find_writer(
        back, [&](size_t k) { return writes_register(k, name); },
        [&](size_t at) { return a_.changes_register(at, index_a); },
        [&](size_t at) { return b_.changes_register(at, index_b); });
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
    const Bytes one = a_.register_before(pairs_[back].a, index_a),
                other = b_.register_before(pairs_[back].b, index_b);
    // Flags that nobody recorded must have been different where they decided.
    const bool known = !one.empty() && !other.empty();
    if (known ? ((number(one) ^ number(other)) & mask) == 0 : back != 0) return;
    const auto in = [&](const LastSteps& steps) {
      return [&, mask](size_t at) {
        const machine::Usage used =
            machine::usage_of(steps.step(at).opcode, side_a_.catalog.address_bytes);
        return (used.flags_written & mask) != 0;
      };
    };
    const auto nobody = [](size_t) { return false; };
    const auto writer = find_writer(
        back, [&](size_t k) { return (usage(k).flags_written & mask) != 0; }, nobody, nobody,
        in(a_), in(b_));
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
    const auto writer = find_writer(
        back, [](size_t) { return false; },
        [&](size_t at) { return a_.writes(at, one.address, one.size); },
        [&](size_t at) { return b_.writes(at, other.address, other.size); });
    Cause cause = cause_at(back, one.old_bytes, other.old_bytes, because);
    cause.a.address = one.address;
    cause.b.address = other.address;
    if (tell_other_thread(back, cause, writer, one.size)) return;
    add(std::move(cause), writer);
  }

  /// What another thread wrote since this one did, in either run. Which of its steps belong
  /// together in both runs nobody knows, so nothing is looked for behind that.
  bool tell_other_thread(size_t back, Cause& cause, const Writer& writer, uint64_t size) {
    const Event* const in_a = a_.last_writer(pairs_[back].a, cause.a.address, size);
    const Event* const in_b = b_.last_writer(pairs_[back].b, cause.b.address, size);
    const auto is_other = [&](const Event* one, const LastSteps& steps) {
      return one != nullptr && one->tid != steps.event(0).tid;
    };
    if (!is_other(in_a, a_) && !is_other(in_b, b_)) return false;
    const auto tell = [&](const Event* one, const LastSteps& steps, Cause::Side& side) {
      const bool is_a = &steps == &a_;
      if (one == nullptr && writer.pair)
        one = &steps.event(is_a ? pairs_[*writer.pair].a : pairs_[*writer.pair].b);
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

  /// The nearest steps in front of pair `back` that `writes` says of a pair, or `in_a` or `in_b`
  /// of a run's own step, wherever that stands; `own_a` and `own_b`: of steps that only one has.
  Writer find_writer(size_t back, const auto& writes, const auto& in_a, const auto& in_b,
                     const auto& own_a, const auto& own_b) const {
    auto seam = std::ranges::upper_bound(seams_, back, {}, &Seam::pair);
    for (size_t k = back + 1; k < pairs_.size(); ++k) {
      if (seam != seams_.end() && seam->pair == k) {
        const auto find = [](size_t from, size_t to, const auto& is) {
          std::optional<size_t> out;
          for (size_t at = from; at < to && !out; ++at)
            if (is(at)) out = at;
          return out;
        };
        Writer out;
        // Somebody else may have changed it behind the last step that is the same.
        out.own_a = find(pairs_[k - 1].a + 1, pairs_[k].a, own_a);
        out.own_b = find(pairs_[k - 1].b + 1, pairs_[k].b, own_b);
        out.difference = seam->difference;
        if (out.own_a || out.own_b) return out.difference ? out : Writer();
        ++seam;
      }
      if (writes(k) || in_a(pairs_[k].a) || in_b(pairs_[k].b)) return Writer{k, {}, {}, {}};
    }
    return {};
  }
  Writer find_writer(size_t back, const auto& writes, const auto& in_a, const auto& in_b) const {
    return find_writer(back, writes, in_a, in_b, in_a, in_b);
  }

  /// Was this very value a cause of an earlier difference? Nobody has written it since then.
  std::optional<Cause::Earlier> find_earlier(const Cause& cause, const Writer& writer) const {
    if (writer.difference) return Cause::Earlier{*writer.difference, std::nullopt};
    const size_t oldest = writer.pair.value_or(pairs_.size() - 1);
    const uint64_t from = a_.event(pairs_[oldest].a).seq + (writer.pair ? 1 : 0);
    const auto is_same = [&](const Cause& one) {
      return one.reg == cause.reg && one.flags == cause.flags && !one.a.value.empty() &&
             one.a.address == cause.a.address && one.b.address == cause.b.address &&
             one.a.value == cause.a.value && one.b.value == cause.b.value &&
             one.a.reader.seq >= from;
    };
    for (size_t i = told_.size(); i-- > 0;) {
      const auto found = std::ranges::find_if(told_[i].causes, is_same);
      if (found != told_[i].causes.end())
        return Cause::Earlier{i, static_cast<size_t>(found - told_[i].causes.begin())};
    }
    return std::nullopt;
  }

  Cause cause_at(size_t back, Bytes one, Bytes other, std::optional<size_t> because) const {
    Cause cause;
    cause.a.reader = spot_of(a_.event(pairs_[back].a));
    cause.b.reader = spot_of(b_.event(pairs_[back].b));
    cause.a.value.assign(one.begin(), one.end());
    cause.b.value.assign(other.begin(), other.end());
    cause.because = because;
    return cause;
  }

  void add(Cause cause, const Writer& writer) {
    if (out_.size() >= kCausesMax) return;
    if (writer.pair) {
      cause.a.writer = spot_of(a_.event(pairs_[*writer.pair].a));
      cause.b.writer = spot_of(b_.event(pairs_[*writer.pair].b));
    }
    if (writer.own_a) cause.a.writer = spot_of(a_.event(*writer.own_a));
    if (writer.own_b) cause.b.writer = spot_of(b_.event(*writer.own_b));
    cause.earlier = find_earlier(cause, writer);
    // What made that different is told there.
    writers_.push_back(cause.earlier ? std::nullopt : writer.pair);
    out_.push_back(std::move(cause));
  }

  const DiffSide& side_a_;
  const DiffSide& side_b_;
  LastSteps a_, b_;
  std::span<const Difference> told_;
  std::vector<Pair> pairs_;  // the nearest first
  std::vector<Seam> seams_;  // between them: steps that only one run has
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
  CauseFinder finder(a, b, std::move(of_a), std::move(of_b), run, bases, ignored);
  return finder.find();
}

}  // namespace tracewell::timeline
