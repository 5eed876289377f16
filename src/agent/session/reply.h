// Reply: the answer to one packet, under construction.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace tracewell::agent {

/// Nothing written = the empty reply ("I do not know this packet").
class Reply {
 public:
  Reply& text(std::string_view part) {
    out_ += part;
    return *this;
  }
  Reply& hex(Bytes bytes);
  /// Escaped.
  Reply& binary(Bytes bytes);
  void ok() { out_ = "OK"; }
  /// `E01`: for packets whose replies may be data, where a client tells errors by their length.
  void error(int code);
  /// `E.text`: GDB shows the text.
  void error(const Error& error);
  /// `E01`; but where such a thing can never be done, as in a recording, the error's text.
  void failed(const Error& error);
  /// OK, or the error's text.
  void status(const Status& status);
  /// The packet has no reply now (vCont: the stop reply comes later).
  void none() { silent_ = true; }
  bool silent() const { return silent_; }
  /// FrameStore::settled() is not yet: the packet is obeyed anew once it is. Nothing has been said.
  void later() { later_ = true; }
  bool is_later() const { return later_; }
  const std::string& str() const { return out_; }

 private:
  std::string out_;
  bool silent_ = false, later_ = false;
};

}  // namespace tracewell::agent
