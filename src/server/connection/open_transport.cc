// Transport::open(), and what is neither TCP nor a Unix socket: standard input and output, a serial
// device.
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "base/files/named.h"
#include "base/files/open.h"
#include "server/connection/door.h"
#include "server/connection/listener.h"
#include "server/connection/transport.h"

namespace tracewell::server {
namespace {

/// Standard input and output, moved away so that nothing else reads or writes them: what the
/// program or a library prints goes to standard error.
class StdioTransport final : public Transport {
 public:
  std::string announcement() const override { return ""; }
  int listen_fd() const override { return -1; }
  Result<Connection> accept() override {
    Connection connection;
    connection.input = UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    connection.output = UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!connection.input.valid() || !connection.output.valid())
      return errno_error("standard input and output");
    TW_ASSIGN_OR_RETURN(const UniqueFd null, open_named("/dev/null"));
    ::dup2(null.get(), STDIN_FILENO);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    connection.peer = "Remote debugging using stdio";
    return connection;
  }
};

class SerialTransport final : public Transport {
 public:
  SerialTransport(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  std::string announcement() const override { return ""; }
  int listen_fd() const override { return -1; }
  Result<Connection> accept() override {
    Connection connection;
    connection.input = std::move(fd_);
    connection.peer = "Remote debugging using " + path_;
    return connection;
  }

 private:
  UniqueFd fd_;
  std::string path_;
};

/// Eight bits, no echo, no translation, no flow control; the speed stays as it was set.
Result<std::unique_ptr<Transport>> open_serial(const std::string& path) {
  TW_ASSIGN_OR_RETURN(UniqueFd fd, open_named_for(path, {.write = true, .wait = false}));
  struct termios settings;
  if (::tcgetattr(fd.get(), &settings) != 0) return errno_error(path + " is no serial device");
  ::cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cflag &= ~static_cast<tcflag_t>(CRTSCTS);
  if (::tcsetattr(fd.get(), TCSANOW, &settings) != 0) return errno_error("cannot set up " + path);
  return std::unique_ptr<Transport>(std::make_unique<SerialTransport>(std::move(fd), path));
}

}  // namespace

Result<std::unique_ptr<Transport>> Transport::open(const Comm& comm, DoorRules rules) {
  const bool socket = comm.kind == Comm::Kind::Tcp || comm.kind == Comm::Kind::Unix;
  if (!socket && rules.admission.widened())
    return Error{Errc::InvalidArgument, "--allow-users is for sockets only", {}};
  switch (comm.kind) {
    case Comm::Kind::Tcp: {
      TW_ASSIGN_OR_RETURN(auto listener, listen_tcp(comm));
      return Door::open(std::move(listener), std::move(rules));
    }
    case Comm::Kind::Unix: {
      TW_ASSIGN_OR_RETURN(auto listener, listen_unix(comm.path, rules.admission.widened()));
      return Door::open(std::move(listener), std::move(rules));
    }
    case Comm::Kind::Serial: return open_serial(comm.path);
    case Comm::Kind::Stdio: break;
  }
  return std::unique_ptr<Transport>(std::make_unique<StdioTransport>());
}

}  // namespace tracewell::server
