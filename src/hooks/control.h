// The control file of a user's trace hooks, for those who start and stop tracing.
#pragma once

#include <tracewell/hook_layout.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace tracewell::hooks {

/// $XDG_RUNTIME_DIR/tracewell; /run/user/UID/tracewell where that variable is not set; and
/// /tmp/tracewell-UID where there is no such folder. Programs look in the same order.
std::string control_folder();

/// The mapped file. Programs see at once what is stored here.
class Control {
 public:
  /// Makes the file if there is none. Folder and file must be the user's alone.
  static Result<Control> open();
  Control(Control&& other) noexcept;
  Control& operator=(Control&&) = delete;
  ~Control();

  /// Held by a command while it changes anything, so that two do not meet. Waits.
  Result<UniqueFd> lock() const;

  uint32_t state(unsigned channel) const;
  /// Comes after all that was written before.
  void set_state(unsigned channel, uint32_t state);
  tracewell_channel& channel(unsigned channel) const;
  /// A bit for each hook id, least significant first.
  std::span<uint8_t> filter(unsigned channel) const;
  uint64_t& failures(unsigned channel) const;

 private:
  Control() = default;
  uint8_t* data_ = nullptr;
  std::string path_;
};

}  // namespace tracewell::hooks
