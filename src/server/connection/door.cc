#include "server/connection/door.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell::server {
namespace {

using std::chrono::milliseconds;

constexpr size_t kCallersAtOnce = 64;
constexpr milliseconds kFarewell{2000};
constexpr milliseconds kPause{1000};

}  // namespace

Result<std::unique_ptr<Transport>> Door::open(std::unique_ptr<Listener> listener, DoorRules rules) {
  if (!listener->is_local() && rules.admission.widened() && !rules.admission.any())
    return Error{Errc::InvalidArgument,
                 "--allow-users: whoever reaches this address is admitted, since who that is "
                 "cannot be known; listen on localhost or at unix:PATH",
                 {}};
  std::unique_ptr<Door> door(new Door(std::move(listener), std::move(rules)));
  door->events_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  door->timer_ = UniqueFd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!door->events_.valid() || !door->timer_.valid() || !door->watch(door->timer_.get()) ||
      !door->watch(door->listener_->fd()))
    return errno_error("cannot wait for connections");
  return std::unique_ptr<Transport>(std::move(door));
}

std::string Door::warning() const {
  if (!listener_->is_local())
    return "warning: whoever reaches this address can do here what you can do; localhost:PORT and "
           "unix:PATH are for you alone";
  if (rules_.admission.any())
    return "warning: every user of this machine can do here what you can do (--allow-users any)";
  return "";
}

bool Door::watch(int fd) {
  struct epoll_event event {};
  event.events = EPOLLIN;
  event.data.fd = fd;
  return ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Door::ignore(int fd) const { (void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, fd, nullptr); }

/// Others decide how often there is something to say.
void Door::say(const std::string& text) {
  if (rules_.notice) notices_.say(text, rules_.notice, Clock::now());
}

Door::~Door() {
  if (rules_.notice) notices_.tell_left_out(rules_.notice);
}

Result<Connection> Door::accept() {
  take_callers();
  const auto now = Clock::now();
  if (const auto due = notices_.due(); due && now >= *due) notices_.tell_left_out(rules_.notice);
  for (Waiting& one : waiting_) {
    if (!one.spoke || one.decoder.in_doubt()) listen_to(one);
    if (one.gone || one.spoke || now < one.until) continue;
    one.gone = true;
    if (one.refusal.empty())
      say(fmt::format("{}: closed, since it has not sent a packet", one.caller.name));
  }
  waiting_.remove_if([](const Waiting& one) { return one.gone; });
  const auto first = std::ranges::find_if(waiting_, &Waiting::spoke);
  if (first == waiting_.end()) {
    set_timer();
    return Error{Errc::NotFound, "nobody yet", {}};
  }
  Connection connection;
  connection.input = std::move(first->caller.fd);
  connection.peer = std::move(first->caller.name);
  connection.early = std::move(first->early);
  waiting_.erase(first);
  set_timer();
  return connection;
}

void Door::take_callers() {
  if (paused_ && Clock::now() < pause_until_) return;
  if (std::exchange(paused_, false)) (void)watch(listener_->fd());
  std::vector<Caller> callers;
  for (size_t i = 0; i < kCallersAtOnce; ++i) {
    auto caller = listener_->accept();
    if (caller) {
      callers.push_back(*std::move(caller));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    if (errno == ECONNABORTED || errno == EINTR || errno == EPROTO) continue;
    // Too many files, or no memory: it stays readable, and that must not keep us busy.
    ignore(listener_->fd());
    paused_ = true;
    pause_until_ = Clock::now() + kPause;
    break;
  }
  if (callers.empty()) return;
  listener_->identify(callers);
  for (Caller& caller : callers) enter(std::move(caller));
}

void Door::enter(Caller caller) {
  std::string refusal;
  if (listener_->is_local())
    if (Status status = rules_.admission.admits(caller.user); !status)
      refusal = std::move(status).error().message;
  if (!refusal.empty()) say(fmt::format("{}: refused: {}", caller.name, refusal));
  if (!make_room(!refusal.empty()) || !watch(caller.fd.get())) return;
  Waiting& one = waiting_.emplace_back();
  one.caller = std::move(caller);
  one.refusal = std::move(refusal);
  one.until = Clock::now() + rules_.patience;
  one.decoder.tell_junk(true);
}

/// Those who are refused take no place from others. Many may come between two looks: what one has
/// said that nobody has read yet counts.
bool Door::make_room(bool refused) {
  const auto same = [&](const Waiting& one) { return one.refusal.empty() != refused; };
  if (std::cmp_less(std::ranges::count_if(waiting_, same), kWaitingMax)) return true;
  for (auto one = waiting_.begin(); one != waiting_.end(); ++one) {
    if (!same(*one) || one->spoke) continue;
    if (!one->gone) listen_to(*one);
    if (one->spoke) continue;
    waiting_.erase(one);
    return true;
  }
  return false;
}

/// In doubt, all that has come is looked at before somebody is let in.
void Door::listen_to(Waiting& one) {
  uint8_t buffer[1 << 14];
  do {
    const ssize_t size = ::recv(one.caller.fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      one.gone = size < 0 || !one.spoke;  // who has spoken may listen still
      return;
    }
    if (one.told) return;
    hear(one, {buffer, static_cast<size_t>(size)});
  } while (!one.gone && !one.told && one.decoder.in_doubt());
}

void Door::hear(Waiting& one, Bytes bytes) {
  if (!understand(one, bytes)) {
    one.gone = true;
    return say(fmt::format("{}: closed: it does not speak GDB's remote protocol", one.caller.name));
  }
  if (one.too_soon && one.refusal.empty()) {
    say(fmt::format("{}: closed: it begins with a packet that a web page can send",
                    one.caller.name));
    one.refusal = rsp::kTooSoonText;
  }
  if (!one.refusal.empty() && (one.spoke || one.too_soon)) {
    refuse(one);
    one.spoke = false;
    one.told = true;
    one.until = Clock::now() + kFarewell;
  } else if (one.spoke) {
    ignore(one.caller.fd.get());  // it is its turn, or it waits for that
  }
}

/// A request of a browser is no debugger's, however it begins: what has come so far is looked at as
/// a whole, and none of it is obeyed before.
bool Door::understand(Waiting& one, Bytes bytes) {
  one.early += as_text(bytes);
  one.decoder.feed(bytes);
  while (const auto item = one.decoder.next()) {
    using Kind = rsp::Item::Kind;
    if (item->kind == Kind::Junk) return false;
    one.too_soon |= item->kind == Kind::TooSoon;
    one.spoke |= item->kind == Kind::Packet || item->kind == Kind::Oversized;
  }
  return one.spoke || one.early.size() < kEarlyMax;
}

/// As the answer to the first packet, so that GDB shows it.
void Door::refuse(Waiting& one) const {
  const std::string reply = "+" + rsp::frame("E." + rsp::plain_text(one.refusal), false);
  (void)!::send(one.caller.fd.get(), reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  // To close it at once, with what else it said unread, would take the answer back.
  ::shutdown(one.caller.fd.get(), SHUT_WR);
}

/// To be woken when patience ends, or notices that were left out are to be told; at once, if
/// somebody's turn has come.
void Door::set_timer() {
  auto next = Clock::time_point::max();
  for (const Waiting& one : waiting_)
    next = std::min(next, one.spoke ? Clock::time_point::min() : one.until);
  if (paused_) next = std::min(next, pause_until_);
  if (const auto due = notices_.due()) next = std::min(next, *due);
  struct itimerspec when {};
  if (next != Clock::time_point::max()) {
    const auto left = next == Clock::time_point::min()
                          ? std::chrono::nanoseconds(1)
                          : std::max(std::chrono::nanoseconds(1),
                                     std::chrono::nanoseconds(next - Clock::now()));
    when.it_value.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
    when.it_value.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
  }
  (void)::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

}  // namespace tracewell::server
