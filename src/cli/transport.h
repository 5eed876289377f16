// Where a debugger comes from: gdbserver's COMM argument, and what it opens.
//
//   HOST:PORT  [IPv6]:PORT  :PORT   TCP; without a host, on loopback. Port 0: any free one
//   unix:PATH                       a socket that only its owner may use
//   /dev/…                          a serial device, raw
//   - or stdio                      standard input and output
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace tracewell::cli {

struct Comm {
  enum class Kind : uint8_t { Tcp, Unix, Serial, Stdio };
  Kind kind = Kind::Tcp;
  std::string host;  // Tcp; "" = loopback
  std::string port;  // Tcp; a number
  std::string path;  // Unix, Serial
};
/// InvalidArgument, with a text for people.
Result<Comm> parse_comm(std::string_view text);

/// One debugger's byte stream. The descriptors are non-blocking.
struct Connection {
  UniqueFd input;
  UniqueFd output;  // none: the input is both
  std::string peer; // "Remote debugging from host 127.0.0.1, port 51324"
  int write_fd() const { return output.valid() ? output.get() : input.get(); }
};

/// An open COMM.
class Transport {
 public:
  /// Listens, or opens the device.
  static Result<std::unique_ptr<Transport>> open(const Comm& comm);
  /// Removes the socket that it made in the file system.
  virtual ~Transport() = default;

  /// What to tell whoever waits for us; "" = nothing.
  virtual std::string announcement() const = 0;
  /// Readable when accept() has something; -1: it has something now, and only once.
  virtual int listen_fd() const = 0;
  virtual Result<Connection> accept() = 0;
};

/// Waits for the debugger to take it all; gives up when `quit_fd` becomes readable.
Status send_all(const Connection& connection, std::string_view bytes, int quit_fd);

}  // namespace tracewell::cli
