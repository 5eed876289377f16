// A recording that can be served: a trace, and all that it takes to answer for it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "agent/trace.h"
#include "base/result.h"
#include "model/catalog.h"
#include "model/stream.h"
#include "symbols/image_map.h"
#include "target/listed_file.h"
#include "target/recorded/history.h"
#include "target/target.h"

namespace tracewell::server {

class Recording {
 public:
  virtual ~Recording() = default;
  virtual target::Target& target() = 0;
  /// For the next debugger all is as it was for the first.
  virtual void rewind() {}
  virtual agent::Trace* trace() { return nullptr; }  // null: no frames to look at
  /// What a debugger may read of this machine.
  virtual std::vector<target::ListedFile> files() const = 0;
};

/// Registers travel in one packet, two digits a byte. A file may state any size: Limit.
Status fits_a_packet(const Catalog& catalog);

/// Of a trace of frames, between which nothing is known. All are looked at. `notice` is told what
/// its user should know.
Result<std::unique_ptr<Recording>> recording_of_frames(
    std::shared_ptr<Source> frames, symbols::ImageMap images,
    const std::function<void(std::string_view)>& notice);

/// Of a run that was recorded step by step: the debugger goes forwards and backwards in it. The
/// history has a step; `catalog` is that of its trace.
std::unique_ptr<Recording> recording_of_steps(std::unique_ptr<target::History> history,
                                              const Catalog& catalog, symbols::ImageMap images,
                                              std::vector<Note> notes);

}  // namespace tracewell::server
