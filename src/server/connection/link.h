// Link: the connection as the server's main thread sees it. That thread waits for the debugger by
// itself while the program stands; while it sits in the target's wait(), another one watches, reads
// into a bounded buffer and wakes it. What is sent waits in a queue until the debugger takes it.
// One that reads nothing holds nobody else.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "server/connection/transport.h"

namespace tracewell::server {

class Link {
 public:
  /// Bytes from the debugger that may wait; then the rest waits in the kernel.
  static constexpr size_t kInboxMax = 1 << 20;
  /// Bytes for the debugger that may wait; while they do, no more answers are to be made.
  static constexpr size_t kOutboxMax = 1 << 20;

  /// While one lives, something new calls `wake` from another thread. Begun and ended by the main
  /// thread, which must not wait() meanwhile.
  class Watch {
   public:
    explicit Watch(Link& link) : link_(link) { link_.watch(true); }
    ~Watch() { link_.watch(false); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Link& link_;
  };

  /// `quit_fd`: readable = end.
  Link(Transport& transport, int quit_fd, std::function<void()> wake);
  /// Why it cannot be used: the system has no descriptors or threads left.
  const Status& status() const { return status_; }
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Lets a debugger in. Before, and while one is connected, others wait.
  void open();
  /// Ends the connection, if there is one, and lets nobody in.
  void close();

  bool connected() const;
  /// The debugger sends nothing more, and what it sent before has been taken. It may still listen.
  bool lost() const;
  /// Is less than kOutboxMax waiting to be sent?
  bool has_room() const;
  /// Nothing waits to be sent, or nobody is there to take it.
  bool is_sent() const;
  /// Nobody reads what is sent, as far as can be told.
  bool unheard() const;
  /// There never will be another connection.
  bool exhausted() const;
  bool quitting() const { return quitting_; }
  std::string peer() const;
  std::string announcement() const { return transport_.announcement(); }
  std::string take_input();
  /// Never waits. False when the connection is lost.
  bool send(std::string_view bytes);
  /// The last words: waits until all is sent, until the debugger has taken nothing for
  /// `patience_ms`, for `all_ms` at most, or until the server is to end.
  void finish_sending(int patience_ms, int all_ms);
  /// Blocks until something is new: a connection, input, a loss, the end. Or for no reason, and no
  /// longer than so many milliseconds; -1 = as long as it takes.
  void wait(int most_ms = -1) { look(false, most_ms); }

 private:
  void watch(bool on);
  void run();
  bool look(bool watching, int most_ms = -1);
  bool wants_connection() const { return open_ && !connected_ && !spent_; }
  bool accept();
  bool receive();
  bool send_waiting();
  size_t waiting() const { return outbox_.size() - sent_; }
  void poke();

  Status status_;
  Transport& transport_;
  int quit_fd_;
  std::function<void()> wake_;
  UniqueFd poke_read_, poke_write_;
  mutable std::mutex mutex_;
  std::condition_variable condition_;
  Connection connection_;
  std::string inbox_, outbox_;
  size_t sent_ = 0;  // of the outbox
  bool open_ = false, connected_ = false, lost_ = false, spent_ = false;
  bool deaf_ = false;  // nobody takes what is sent any more
  bool watching_ = false, stop_ = false;
  std::atomic<bool> quitting_ = false;
  std::thread thread_;
};

}  // namespace tracewell::server
