#include "server/replay/replay_loop.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "rsp/framing.h"
#include "server/keep_waiting.h"

namespace tracewell::server {
namespace {

// GDB waits two seconds for an answer, and for each character before one. So a `+` now and then,
// which it passes over, keeps it waiting for as long as it takes.
constexpr int kPatienceMs = 500;
// Of what a debugger says before it can be answered.
constexpr size_t kEarlyBytesMax = size_t{1} << 16;

enum class Ready : uint8_t { Input, Nothing, Gone, Quit };

/// Blocks, if told to, until `fd` or `quit_fd` is readable.
Result<Ready> readable(int fd, int quit_fd, bool block = true) {
  struct pollfd fds[] = {{fd, POLLIN, 0}, {quit_fd, POLLIN, 0}};
  while (::poll(fds, 2, block ? -1 : 0) < 0)
    if (errno != EINTR) return errno_error("poll");
  if (fds[1].revents != 0) return Ready::Quit;
  return fds[0].revents != 0 ? Ready::Input : Ready::Nothing;
}

bool is_to_quit(int quit_fd) {
  pollfd one{quit_fd, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

/// How waiting for the recording ended.
enum class Awaited : uint8_t { There, Gone, Quit };

/// Waits with a debugger until the recording is there. What it says meanwhile is kept. One that has
/// said something and says no more may still listen: whether it does, the next `+` tells.
Result<Awaited> await(const Connection& connection, const Opening& opening, int quit_fd,
                      std::string& early) {
  uint8_t buffer[4096];
  bool ended = false;
  while (true) {
    const bool heard = ended || early.size() >= kEarlyBytesMax;
    struct pollfd fds[] = {{opening.done_fd(), POLLIN, 0},
                           {quit_fd, POLLIN, 0},
                           {heard ? -1 : connection.input.get(), POLLIN, 0}};
    const int ready = ::poll(fds, 3, kPatienceMs);
    if (ready < 0 && errno != EINTR) return errno_error("poll");
    if (ready < 0) continue;
    if (fds[1].revents != 0) return Awaited::Quit;
    if (fds[0].revents != 0) return Awaited::There;
    if (ready == 0 && !send_all(connection, "+", quit_fd)) return Awaited::Gone;
    if (fds[2].revents == 0) continue;
    const ssize_t size = ::read(connection.input.get(), buffer, sizeof buffer);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size < 0 || (size == 0 && early.empty())) return Awaited::Gone;
    ended = size == 0;
    early.append(reinterpret_cast<const char*>(buffer), static_cast<size_t>(size));
  }
}

/// Has it said what only a debugger says (Session::in_doubt())?
bool is_a_debuggers(const std::string& early) {
  rsp::Decoder decoder(rsp::Sender::Client);
  decoder.tell_junk(true);
  decoder.feed(early);
  while (decoder.in_doubt()) {
    const auto item = decoder.next();
    if (!item || item->kind == rsp::Item::Kind::Junk) return false;
  }
  return true;
}

/// What a debugger has said while a packet is answered; nullopt: nobody waits for the answer. Who
/// has sent everything may. `more`: false = to be left where it is.
std::optional<std::string> look_up(const Connection& connection, int quit_fd,
                                   KeepWaiting& keep_waiting, bool more) {
  const auto ready = readable(connection.input.get(), quit_fd, false);
  if (!ready || *ready == Ready::Quit) return std::nullopt;
  if (keep_waiting.is_time() && !send_all(connection, "+", quit_fd)) return std::nullopt;
  std::string said;
  bool ended = false;
  if (*ready == Ready::Input && more) {
    said.resize(kEarlyBytesMax);
    const ssize_t size = ::read(connection.input.get(), said.data(), said.size());
    ended = size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
    said.resize(size > 0 ? static_cast<size_t>(size) : 0);
  }
  if (is_unheard(connection, ended)) return std::nullopt;
  return said;
}

/// A while of what was resumed.
void run(target::Target& target, agent::Session& session) {
  auto event = target.wait();
  if (!event) session.on_target_error(event.error());
  else if (*event) session.on_event(**event);
}

/// What a debugger sent that is not yet looked at, or what happens next.
Result<Ready> take(const Connection& connection, agent::Session& session, int quit_fd,
                   std::string& early) {
  if (!early.empty()) {
    session.feed(as_bytes(std::exchange(early, {})));
    return Ready::Input;
  }
  uint8_t buffer[1 << 16];
  TW_ASSIGN_OR_RETURN(const Ready ready,
                      readable(connection.input.get(), quit_fd, !session.running()));
  if (ready != Ready::Input) return ready;
  const ssize_t size = ::read(connection.input.get(), buffer, sizeof buffer);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Ready::Input;
  if (size <= 0) return Ready::Gone;
  session.feed({buffer, static_cast<size_t>(size)});
  return Ready::Input;
}

/// True when the next debugger may come.
Result<bool> converse(const Connection& connection, target::Target& target,
                      agent::Session& session, int quit_fd, KeepWaiting& keep_waiting,
                      std::string early) {
  while (!session.finished()) {
    TW_ASSIGN_OR_RETURN(const Ready ready, take(connection, session, quit_fd, early));
    keep_waiting.begin_anew();
    if (ready == Ready::Quit) return false;
    if (ready == Ready::Gone) break;
    if (ready == Ready::Nothing) run(target, session);
    do {
      if (!send_all(connection, session.take_output(), quit_fd)) return !session.server_exit();
    } while (session.proceed());
  }
  return !session.server_exit();
}

/// The next debugger; nullopt = to end. A trace that cannot be opened is known before one comes.
Result<std::optional<Connection>> next_debugger(Transport& transport, Opening& opening,
                                                int quit_fd) {
  bool opened = false;
  while (true) {
    if (const int fd = transport.listen_fd(); fd >= 0) {
      struct pollfd fds[] = {
          {fd, POLLIN, 0}, {quit_fd, POLLIN, 0}, {opened ? -1 : opening.done_fd(), POLLIN, 0}};
      while (::poll(fds, 3, -1) < 0)
        if (errno != EINTR) return errno_error("poll");
      if (fds[1].revents != 0) return std::optional<Connection>();
      if (fds[2].revents != 0) {
        TW_RETURN_IF_ERROR(opening.result());
        opened = true;
      }
      if (fds[0].revents == 0) continue;
    }
    auto connection = transport.accept();
    if (connection) return std::optional(*std::move(connection));
    if (transport.listen_fd() < 0) return std::move(connection).error();
    // Else nobody who is a debugger, yet.
  }
}

}  // namespace

Status serve_recorded(Transport& transport, Opening& opening, agent::SessionOptions options,
                      bool once, int quit_fd) {
  const bool last = once || transport.listen_fd() < 0;
  options.refuse_junk = transport.listen_fd() >= 0;
  while (true) {
    TW_ASSIGN_OR_RETURN(std::optional<Connection> connection,
                        next_debugger(transport, opening, quit_fd));
    if (!connection) return {};
    if (options.notice) options.notice(connection->peer);
    std::string early = std::exchange(connection->early, {});
    TW_ASSIGN_OR_RETURN(const Awaited awaited, await(*connection, opening, quit_fd, early));
    if (awaited == Awaited::Quit) return {};
    const bool others_may_come = transport.listen_fd() >= 0;
    if (awaited == Awaited::Gone && others_may_come && !(last && is_a_debuggers(early))) continue;
    // If nobody was there at all, somebody may want to know what is wrong with the trace.
    if (awaited == Awaited::Gone) return early.empty() ? opening.outcome(quit_fd) : Status();
    TW_ASSIGN_OR_RETURN(Recording* const recording, opening.result());
    recording->rewind();
    options.listed_files = recording->files();
    KeepWaiting keep_waiting;
    options.look_up = [&](bool more) {
      return look_up(*connection, quit_fd, keep_waiting, more);
    };
    if (target::ProcessFacts* const facts = recording->target().facts())
      facts->give_up = [quit_fd] { return is_to_quit(quit_fd); };
    agent::Session session(recording->target(), recording->trace(), options);
    TW_ASSIGN_OR_RETURN(const bool next, converse(*connection, recording->target(), session,
                                                  quit_fd, keep_waiting, std::move(early)));
    session.on_disconnect(false);
    // Who was none uses up nobody's turn.
    if (!next || (last && !session.in_doubt())) return {};
  }
}

}  // namespace tracewell::server
