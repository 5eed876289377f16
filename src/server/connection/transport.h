// Where a debugger comes from: gdbserver's COMM argument, and what it opens.
//
//   HOST:PORT  [IPv6]:PORT  :PORT   TCP; without a host, on 127.0.0.1 and ::1. Port 0: any free one
//   unix:PATH                       a socket that only its owner may use
//   /dev/…                          a serial device, raw
//   - or stdio                      standard input and output
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/result.h"
#include "server/connection/admission.h"

namespace tracewell::server {

struct Comm {
  enum class Kind : uint8_t { Tcp, Unix, Serial, Stdio };
  Kind kind = Kind::Tcp;
  std::string host;  // Tcp; "" = loopback
  std::string port;  // Tcp; a number
  std::string path;  // Unix, Serial
};
/// Does nobody come there from another machine, unless something forwards it?
bool is_of_this_machine(const Comm& comm);
/// InvalidArgument, with a text for people.
Result<Comm> parse_comm(std::string_view text);

/// One debugger's byte stream. The descriptors are non-blocking.
struct Connection {
  UniqueFd input;
  UniqueFd output;  // none: the input is both
  std::string peer; // "Remote debugging from host 127.0.0.1, port 51324"
  std::string early;  // what has been read of it already
  int write_fd() const { return output.valid() ? output.get() : input.get(); }
};

/// Whom a socket lets in, and who is told of the others.
struct DoorRules {
  Admission admission;
  std::function<void(std::string_view)> notice;  // may be empty
  /// So long a caller may take for the first packet.
  std::chrono::milliseconds patience{30'000};
  /// Of so long a time, only the first notices are listed, and the others counted.
  std::chrono::milliseconds notice_period{600'000};
};

/// An open COMM.
class Transport {
 public:
  /// Listens, or opens the device. InvalidArgument when the rules cannot be kept there.
  static Result<std::unique_ptr<Transport>> open(const Comm& comm, DoorRules rules = {});
  /// Removes the socket that it made in the file system.
  virtual ~Transport() = default;

  /// What to tell whoever waits for us; "" = nothing.
  virtual std::string announcement() const = 0;
  /// What the user should know of who can connect; "" = nothing.
  virtual std::string warning() const { return ""; }
  /// Readable when accept() may have something; -1: it has something now, and only once.
  virtual int listen_fd() const = 0;
  /// A debugger. An error of a transport that listens: nobody yet.
  virtual Result<Connection> accept() = 0;
};

/// Nobody reads what is sent, as far as can be told. `ended`: the debugger sends nothing more; it
/// may still listen.
bool is_unheard(const Connection& connection, bool ended);

/// As much as is taken at once, without waiting: so many bytes.
Result<size_t> send_some(int fd, std::string_view bytes);

/// Waits for the debugger to take it all; gives up when `quit_fd` becomes readable.
Status send_all(const Connection& connection, std::string_view bytes, int quit_fd);

}  // namespace tracewell::server
