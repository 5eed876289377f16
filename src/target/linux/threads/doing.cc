#include "target/linux/threads/doing.h"

#include <array>

namespace tracewell::target::live {
namespace {

using DoingState = Doing::State;
using DoingTurn = Doing::Turn;
using CountedState = Counted::State;
using CountedTurn = Counted::Turn;

constexpr Doing::Row kDoing[] = {
    {DoingTurn::Run, DoingState::Freely, DoingState::Freely, "a start"},
    {DoingTurn::Run, DoingState::SingleStep, DoingState::Freely, "a start"},
    {DoingTurn::Run, DoingState::SiteCall, DoingState::SiteCall, "a start within the call"},
    {DoingTurn::Step, DoingState::Freely, DoingState::SingleStep, "a start"},
    {DoingTurn::Step, DoingState::SingleStep, DoingState::SingleStep, "a start"},
    {DoingTurn::Step, DoingState::SiteCall, DoingState::SiteCall, "a start within the call"},
    {DoingTurn::EnterSite, DoingState::Freely, DoingState::SiteCall, "a start at the site"},
    {DoingTurn::EnterSite, DoingState::SingleStep, DoingState::SiteCall, "a start at the site"},
    {DoingTurn::MissSite, DoingState::SiteCall, DoingState::Freely,
     "a stop in front of the call's entry, or none at all"},
    {DoingTurn::EndCall, DoingState::SiteCall, DoingState::Freely, "the call's exit stop"},
    {DoingTurn::EndCall, DoingState::SiteCall, DoingState::SingleStep, "the trap of a step"},
    {DoingTurn::LeaveCode, DoingState::Freely, DoingState::LeavingCode, "any stop in code of ours"},
    {DoingTurn::LeaveCode, DoingState::SingleStep, DoingState::LeavingCode,
     "any stop in code of ours"},
    {DoingTurn::ComeOut, DoingState::LeavingCode, DoingState::Freely,
     "the last step's trap, the thread's end, or the end of our patience"},
    {DoingTurn::ComeOut, DoingState::LeavingCode, DoingState::SingleStep,
     "the last step's trap, the thread's end, or the end of our patience"},
    {DoingTurn::Lend, DoingState::Freely, DoingState::LentOut, "a call for us"},
    {DoingTurn::Lend, DoingState::SingleStep, DoingState::LentOut, "a call for us"},
    {DoingTurn::GiveBack, DoingState::LentOut, DoingState::Freely,
     "the call's exit stop, or the first stop of one that was late"},
    {DoingTurn::GiveBack, DoingState::LentOut, DoingState::SingleStep,
     "the call's exit stop, or the first stop of one that was late"},
};

constexpr Counted::Row kCounted[] = {
    {CountedTurn::Count, CountedState::Nothing, CountedState::Here, "an int3, or rt_sigreturn"},
    {CountedTurn::Count, CountedState::Here, CountedState::Here, "rt_sigreturn"},
    {CountedTurn::Count, CountedState::Passing, CountedState::Here, "rt_sigreturn"},
    {CountedTurn::Count, CountedState::MayComeBack, CountedState::Here, "rt_sigreturn"},
    {CountedTurn::Forget, CountedState::Nothing, CountedState::Nothing, "an int3"},
    {CountedTurn::Forget, CountedState::Here, CountedState::Nothing, "an int3"},
    {CountedTurn::Forget, CountedState::Passing, CountedState::Nothing, "an int3"},
    {CountedTurn::Forget, CountedState::MayComeBack, CountedState::Nothing, "an int3"},
    {CountedTurn::Drop, CountedState::Here, CountedState::Nothing,
     "a start elsewhere, or where no int3 is any more"},
    {CountedTurn::Pass, CountedState::Here, CountedState::Passing, "a start at the site"},
    {CountedTurn::Settle, CountedState::Nothing, CountedState::Here, "any stop in a pad"},
    {CountedTurn::Settle, CountedState::Here, CountedState::Here, "any stop in a pad"},
    {CountedTurn::Settle, CountedState::Passing, CountedState::Here,
     "any stop in front of the instruction, or in the middle of its copy"},
    {CountedTurn::Settle, CountedState::MayComeBack, CountedState::Here, "any stop in a pad"},
    {CountedTurn::BePast, CountedState::Passing, CountedState::Nothing, "the call's exit"},
    {CountedTurn::Restart, CountedState::Passing, CountedState::MayComeBack,
     "the call's exit, if the kernel may make it again"},
    {CountedTurn::EnterCall, CountedState::Nothing, CountedState::Nothing, "a call's entry stop"},
    {CountedTurn::EnterCall, CountedState::Here, CountedState::Here,
     "the entry stop of a site's call that was late"},
    {CountedTurn::EnterCall, CountedState::Passing, CountedState::Passing, "a call's entry stop"},
    {CountedTurn::EnterCall, CountedState::MayComeBack, CountedState::Nothing,
     "the entry stop of the same call, or of another"},
    {CountedTurn::EnterHandler, CountedState::Nothing, CountedState::Nothing, "a step's trap"},
    {CountedTurn::EnterHandler, CountedState::Here, CountedState::Nothing, "a step's trap"},
    {CountedTurn::EnterHandler, CountedState::Passing, CountedState::Passing, "a step's trap"},
    {CountedTurn::EnterHandler, CountedState::MayComeBack, CountedState::Nothing, "a step's trap"},
    {CountedTurn::Move, CountedState::Nothing, CountedState::Nothing, "another pc, by a debugger"},
    {CountedTurn::Move, CountedState::Here, CountedState::Nothing, "another pc, by a debugger"},
    {CountedTurn::Move, CountedState::Passing, CountedState::Passing, "another pc, by a debugger"},
    {CountedTurn::Move, CountedState::MayComeBack, CountedState::Nothing,
     "another pc, by a debugger"},
};

constexpr std::array<std::string_view, 9> kDoingTurns = {
    "go on", "make a step", "make the call of a site", "not make it", "be behind the call",
    "be led out of code of ours", "be out", "make a call for us", "have what is its own again"};
constexpr std::array<std::string_view, 5> kDoingStates = {
    "runs freely", "makes a step", "is in the call of a site", "is led out of code of ours",
    "makes a call for us"};
constexpr std::array<std::string_view, 10> kCountedTurns = {
    "count a hit", "forget its hit", "be elsewhere", "pass a site", "stand in front of a site",
    "be past a site", "make a call again", "enter a call", "enter a handler", "be moved"};
constexpr std::array<std::string_view, 4> kCountedStates = {
    "has no hit", "stands at a site", "passes a site", "may come back to a site"};

/// For each turn and state, the states that may follow: a bit each. It is asked for at every hit.
template <size_t kTurns, size_t kStates, typename Rows>
constexpr auto followers(const Rows& rows) {
  std::array<std::array<uint8_t, kStates>, kTurns> out{};
  for (const auto& row : rows)
    out[static_cast<size_t>(row.turn)][static_cast<size_t>(row.from)] |=
        static_cast<uint8_t>(1u << static_cast<unsigned>(row.to));
  return out;
}
constexpr auto kAfterDoing = followers<kDoingTurns.size(), kDoingStates.size()>(kDoing);
constexpr auto kAfterCounted = followers<kCountedTurns.size(), kCountedStates.size()>(kCounted);

}  // namespace

std::span<const Doing::Row> Doing::table() { return kDoing; }
std::span<const Counted::Row> Counted::table() { return kCounted; }

bool Doing::may(Turn turn) const {
  return kAfterDoing[static_cast<size_t>(turn)][now_.index()] != 0;
}

bool Doing::take(Turn turn, Now next) {
  const auto number = static_cast<size_t>(turn);
  if ((kAfterDoing[number][now_.index()] >> next.index() & 1) == 0) {
    refusal_ = {kDoingTurns[number], kDoingStates[now_.index()]};
    return false;
  }
  now_ = std::move(next);
  return true;
}

OwnDoing Doing::own() const {
  if (const auto* const one = std::get_if<SingleStep>(&now_)) return *one;
  return Freely{};
}

SingleStep* Doing::step() {
  OwnDoing* before = nullptr;
  switch (state()) {
    case State::Freely: return nullptr;
    case State::SingleStep: return std::get_if<SingleStep>(&now_);
    case State::SiteCall: {
      auto& own_step = std::get<SiteCall>(now_).step;
      return own_step ? &*own_step : nullptr;
    }
    case State::LeavingCode: before = &std::get<LeavingCode>(now_).before; break;
    case State::LentOut: before = &std::get<LentOut>(now_).before; break;
  }
  return std::get_if<SingleStep>(before);
}

std::shared_ptr<Lent> Doing::lent() const {
  const auto* const out = std::get_if<LentOut>(&now_);
  return out != nullptr ? out->lent : nullptr;
}

void Doing::enters_no_handler() {
  if (SingleStep* const one = step()) one->enters_handler = false;
}

bool Doing::run() {
  if (const SiteCall* const call = site_call()) return take(Turn::Run, SiteCall{call->site, {}});
  return take(Turn::Run, Freely{});
}

bool Doing::begin_step(const SingleStep& step) {
  if (const SiteCall* const call = site_call()) return take(Turn::Step, SiteCall{call->site, step});
  return take(Turn::Step, step);
}

bool Doing::enter_site(uint64_t site) { return take(Turn::EnterSite, SiteCall{site, {}}); }

bool Doing::miss_site() { return take(Turn::MissSite, Freely{}); }

bool Doing::end_call() {
  const SingleStep* const last = site_call() != nullptr ? step() : nullptr;
  return last != nullptr ? take(Turn::EndCall, SingleStep(*last)) : take(Turn::EndCall, Freely{});
}

bool Doing::leave_code(LeavingCode out) {
  out.before = own();
  return take(Turn::LeaveCode, std::move(out));
}

std::optional<LeavingCode> Doing::come_out() {
  LeavingCode* const now = leaving_code();
  std::optional<LeavingCode> out;
  if (now != nullptr) out = std::move(*now);
  const OwnDoing before = out ? out->before : OwnDoing{};
  (void)std::visit([&](const auto& one) { return take(Turn::ComeOut, one); }, before);
  return out;
}

bool Doing::lend(std::shared_ptr<Lent> lent) {
  return take(Turn::Lend, LentOut{std::move(lent), own()});
}

std::shared_ptr<Lent> Doing::give_back() {
  const std::shared_ptr<Lent> out = lent();
  const auto* const now = std::get_if<LentOut>(&now_);
  const OwnDoing before = now != nullptr ? now->before : OwnDoing{};
  (void)std::visit([&](const auto& one) { return take(Turn::GiveBack, one); }, before);
  return out;
}

std::optional<uint64_t> Counted::here() const {
  return state_ == State::Here ? std::optional(site_) : std::nullopt;
}

std::optional<uint64_t> Counted::site() const {
  const bool would_be_none = state_ == State::Here || state_ == State::MayComeBack;
  return would_be_none ? std::optional(site_) : std::nullopt;
}

bool Counted::take(Turn turn, State next) {
  const auto number = static_cast<size_t>(turn), from = static_cast<size_t>(state_);
  if ((kAfterCounted[number][from] >> static_cast<unsigned>(next) & 1) == 0) {
    refusal_ = {kCountedTurns[number], kCountedStates[from]};
    return false;
  }
  state_ = next;
  if (next == State::Nothing) decided_ = false;
  return true;
}

bool Counted::count(uint64_t site, bool decided) {
  if (!take(Turn::Count, State::Here)) return false;
  site_ = site;
  decided_ = decided;
  return true;
}

bool Counted::pass(bool decided) {
  if (!take(Turn::Pass, State::Passing)) return false;
  decided_ = decided;
  return true;
}

bool Counted::settle(uint64_t site) {
  const bool is_the_same = state_ != State::Nothing && site_ == site;
  if (!take(Turn::Settle, State::Here)) return false;
  decided_ = is_the_same && decided_;
  site_ = site;
  return true;
}

bool Counted::enter_call() {
  return take(Turn::EnterCall, state_ == State::MayComeBack ? State::Nothing : state_);
}

bool Counted::enter_handler() {
  return take(Turn::EnterHandler, state_ == State::Passing ? State::Passing : State::Nothing);
}

bool Counted::move() {
  return take(Turn::Move, state_ == State::Passing ? State::Passing : State::Nothing);
}

}  // namespace tracewell::target::live
