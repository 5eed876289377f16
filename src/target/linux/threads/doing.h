// What a traced thread is in the middle of, and which hit of it is counted already. Either is one
// of a few states, and a table says what may follow what, by which turn. A turn that is in no table
// is refused: the state stays as it is, and the refusal is kept until somebody tells of it.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tracewell::target::live {

struct Lent;

/// What was refused, in which state. Both are words for a sentence.
struct Refusal {
  std::string_view turn, state;
};

template <typename Turn, typename State>
struct Transition {
  Turn turn;
  State from, to;
  std::string_view by;  // the start, the stop or the event that it belongs to
};

/// It runs as the program would, or stands behind a stop that has ended what there was.
struct Freely {};

/// Its last start was a single step.
struct SingleStep {
  std::optional<uint64_t> from;  // where the program was before it
  bool enters_handler = false;   // started with a signal: stops at the handler's start, if one runs
  bool pushes_flags = false;     // the instruction would show the trap flag
  bool own_trap_flag = false;    // the program had set it before that instruction
  std::optional<uint64_t> replaces_flags;  // pc of that instruction, if it may set it
  bool programs_int3 = false;    // it has run into one that is the program's own
};

/// In a system call that a site's instruction makes in its place, up to the call's exit.
struct SiteCall {
  uint64_t site = 0;
  std::optional<SingleStep> step;  // its last start was one
};

/// What is interrupted where a thread is led out of code of ours, or lent.
using OwnDoing = std::variant<Freely, SingleStep>;

/// Led out of code of ours by single steps: what it is to have again behind it.
struct LeavingCode {
  int status = 0;
  bool has_signal = false;
  siginfo_t signal{};
  uint64_t blocked = 0;
  std::vector<siginfo_t> sent;  // by somebody, meanwhile
  bool left_group_stop = false;
  bool sleeps = false;      // in a step, and was interrupted there
  bool has_waited = false;  // as long as it may for what others have to do
  bool undecided = false;   // nobody has decided about `status`
  OwnDoing before;
};

/// It runs a system call for us.
struct LentOut {
  std::shared_ptr<Lent> lent;  // what it is to have again
  OwnDoing before;
};

class Doing {
 public:
  enum class State : uint8_t { Freely, SingleStep, SiteCall, LeavingCode, LentOut };
  enum class Turn : uint8_t {
    Run, Step, EnterSite, MissSite, EndCall, LeaveCode, ComeOut, Lend, GiveBack
  };
  using Row = Transition<Turn, State>;
  static std::span<const Row> table();

  State state() const { return static_cast<State>(now_.index()); }
  bool may(Turn turn) const;
  std::optional<Refusal> take_refusal() { return std::exchange(refusal_, std::nullopt); }

  /// Null: its last start was none; that was before it was led out or lent.
  SingleStep* step();
  const SingleStep* step() const { return const_cast<Doing*>(this)->step(); }
  const SiteCall* site_call() const { return std::get_if<SiteCall>(&now_); }
  LeavingCode* leaving_code() { return std::get_if<LeavingCode>(&now_); }
  const LeavingCode* leaving_code() const { return std::get_if<LeavingCode>(&now_); }
  std::shared_ptr<Lent> lent() const;
  void enters_no_handler();

  // The turns. False: refused.
  bool run();
  bool begin_step(const SingleStep& step);
  bool enter_site(uint64_t site);
  bool miss_site();
  bool end_call();
  bool leave_code(LeavingCode out);
  std::optional<LeavingCode> come_out();
  bool lend(std::shared_ptr<Lent> lent);
  std::shared_ptr<Lent> give_back();

 private:
  using Now = std::variant<Freely, SingleStep, SiteCall, LeavingCode, LentOut>;
  bool take(Turn turn, Now next);
  OwnDoing own() const;
  Now now_;
  std::optional<Refusal> refusal_;
};

/// The hit of a site that is not to be counted again when the thread runs into its int3. `decided`:
/// the debugger's breakpoint there was hit too, and is not to be told.
class Counted {
 public:
  enum class State : uint8_t {
    Nothing,
    Here,        // it stands at the site, and passes it when it goes on
    Passing,     // it runs the site's instruction, from a copy or in place; or is past that by now
    MayComeBack  // the kernel may move the pc back to the site, to make its call again
  };
  enum class Turn : uint8_t {
    Count, Forget, Drop, Pass, Settle, BePast, Restart, EnterCall, EnterHandler, Move
  };
  using Row = Transition<Turn, State>;
  static std::span<const Row> table();

  State state() const { return state_; }
  bool decided() const { return decided_; }
  std::optional<Refusal> take_refusal() { return std::exchange(refusal_, std::nullopt); }
  /// The site where it stands.
  std::optional<uint64_t> here() const;
  /// The site whose int3 would be no hit.
  std::optional<uint64_t> site() const;

  // The turns. False: refused.
  bool count(uint64_t site, bool decided);
  bool forget() { return take(Turn::Forget, State::Nothing); }
  bool drop() { return take(Turn::Drop, State::Nothing); }
  bool pass(bool decided);
  bool settle(uint64_t site);
  bool be_past() { return take(Turn::BePast, State::Nothing); }
  bool restart() { return take(Turn::Restart, State::MayComeBack); }
  bool enter_call();
  bool enter_handler();
  bool move();

 private:
  bool take(Turn turn, State next);
  State state_ = State::Nothing;
  uint64_t site_ = 0;
  bool decided_ = false;
  std::optional<Refusal> refusal_;
};

}  // namespace tracewell::target::live
