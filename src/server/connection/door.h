// Door: what stands between a socket that listens and the server. Of those who connect it lets one
// in after the other, and only debuggers: who are admitted, and whose first packet has come. Who
// says nothing waits here, and keeps nobody out; docs/threat-model.md has the reasons.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>

#include "rsp/framing.h"
#include "server/connection/listener.h"
#include "server/connection/notice_limit.h"

namespace tracewell::server {

class Door final : public Transport {
 public:
  /// So many may wait, of those who are admitted and of the others. Then the one who has said
  /// nothing for longest loses its place.
  static constexpr size_t kWaitingMax = 32;
  /// So many notices are listed in each period.
  static constexpr int kNoticesMax = 200;

  /// InvalidArgument when the listener cannot know users, and some are to be allowed.
  static Result<std::unique_ptr<Transport>> open(std::unique_ptr<Listener> listener,
                                                 DoorRules rules);
  /// Tells how many notices were left out.
  ~Door() override;

  std::string announcement() const override { return listener_->announcement(); }
  std::string warning() const override;
  int listen_fd() const override { return events_.get(); }
  /// The first of those who have spoken.
  Result<Connection> accept() override;

 private:
  using Clock = std::chrono::steady_clock;
  /// Somebody who has connected, and is no debugger yet.
  struct Waiting {
    Caller caller;
    std::string refusal;  // "" = admitted
    Clock::time_point until;
    std::string early;
    rsp::Decoder decoder{rsp::Sender::Client, kFirstPacketMax};
    bool spoke = false;  // a whole packet
    bool too_soon = false;  // such a packet, as it was none to begin with
    bool told = false;   // the refusal, and only the end is waited for
    bool gone = false;
  };
  static constexpr size_t kFirstPacketMax = 1 << 16;
  static constexpr size_t kEarlyMax = 4 * kFirstPacketMax;

  Door(std::unique_ptr<Listener> listener, DoorRules rules)
      : listener_(std::move(listener)), rules_(std::move(rules)) {}
  void take_callers();
  bool make_room(bool refused);
  void enter(Caller caller);
  void listen_to(Waiting& one);
  void hear(Waiting& one, Bytes bytes);
  static bool understand(Waiting& one, Bytes bytes);
  void refuse(Waiting& one) const;
  void set_timer();
  void say(const std::string& text);
  bool watch(int fd);
  void ignore(int fd) const;

  std::unique_ptr<Listener> listener_;
  DoorRules rules_;
  UniqueFd events_, timer_;  // an epoll of the listener, the timer and those who wait
  std::list<Waiting> waiting_;  // in the order in which they came
  Clock::time_point pause_until_{};  // the system cannot give us more connections
  bool paused_ = false;
  NoticeLimit notices_{kNoticesMax, rules_.notice_period};
};

}  // namespace tracewell::server
