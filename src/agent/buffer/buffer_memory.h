// BufferMemory: the memory of a trace buffer, in ring/layout.h's layout: in a file that outlives us
// once there is one, else our own.
//
// A file's pages are asked for in steps, before they are touched for the first time: where the file
// system is full, touching them would kill us (SIGBUS).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "agent/buffer/buffer_file.h"
#include "agent/buffer/pages_ahead.h"
#include "agent/buffer/pages_back.h"
#include "base/bytes.h"
#include "base/endian.h"
#include "base/result.h"
#include "ring/layout.h"

namespace tracewell::agent {

class BufferMemory {
 public:
  BufferMemory() = default;
  ~BufferMemory();
  BufferMemory(const BufferMemory&) = delete;
  BufferMemory& operator=(const BufferMemory&) = delete;

  /// Memory for that many bytes of frames, and nothing in it. On failure nothing changed.
  /// `position`: see begin_clear().
  Status create(uint64_t data_bytes, uint64_t position = 0);
  /// Would create() fail? Changes nothing but the length of the file.
  Status can_be(uint64_t data_bytes);
  /// The same size again, in that file and in no other from now on.
  Status move_into(BufferFile file);
  /// No frames, no description; memory begins to go back to the system, and the rest of it goes in
  /// a thread. Positions in the ring of frames go on at `position`, which is where its memory
  /// begins: who reads the file meanwhile finds that what it looks for has gone.
  void begin_clear(uint64_t position);
  /// Has all of it gone? Until then whatever needs memory waits for it.
  bool settled();
  void settle();
  /// Told, in another thread, when it may be asked again whether it is settled().
  void on_settled(std::function<void()> tell) { back_.on_piece(std::move(tell)); }
  void set_machine(uint32_t register_block_bytes, Endian endian);

  /// May data bytes 0..data-1 be written to? Asks the system where it was not asked yet.
  bool ready(uint64_t data) { return data <= data_ready_ || make_ready(data); }
  /// Pages are about to be needed, one after the other: they are made ahead of that, as long as
  /// this is a file's memory that is as large as it was.
  void make_ahead();
  /// Why ready() or add_shape() said no.
  const std::string& refusal() const { return refusal_; }

  /// Of the memory for frames, what the system has yet to give: none where they are in a file on a
  /// disk.
  uint64_t bytes_to_come() const;

  uint64_t shape_count() const { return header().shapes; }
  const ring::FrameShape& shape(uint64_t number) const { return shapes()[number]; }
  /// False: there is no room.
  bool add_shape(const ring::FrameShape& shape);

  ring::Header& header() { return *reinterpret_cast<ring::Header*>(memory_); }
  const ring::Header& header() const { return *reinterpret_cast<const ring::Header*>(memory_); }
  uint8_t* data() const { return memory_ + geometry_.data_offset; }
  uint64_t data_bytes() const { return geometry_.data_bytes; }

  /// What readers of the file shall know of the frames; replaces what was there in one step. Does
  /// nothing without a file.
  Status describe(Bytes text);

  /// The process that the user knows as the server; ours if nothing was said. For create().
  void set_server(int64_t pid) { server_ = pid; }
  /// Hits of the run that are no frames.
  void set_lost(uint64_t hits);
  /// The file stays when we end, and says that this was not how it should have been.
  void abandon();

  BufferFile* file() { return file_ ? &*file_ : nullptr; }

 private:
  static Result<uint8_t*> map(const ring::Geometry& geometry, const BufferFile* file);
  void adopt(uint8_t* memory, const ring::Geometry& geometry);
  void begin_header();
  uint64_t bytes_taken() const;
  bool give_back(uint64_t& at);
  bool make_ready(uint64_t data);
  bool reserve(uint64_t offset, uint64_t size);
  static constexpr uint64_t kStepBytes = 1 << 20;
  bool extend(uint64_t area, uint64_t area_bytes, uint64_t wanted, uint64_t& ready,
              uint64_t step_bytes = kStepBytes);
  ring::FrameShape* shapes() const {
    return reinterpret_cast<ring::FrameShape*>(memory_ + geometry_.table_offset);
  }

  uint8_t* memory_ = nullptr;
  ring::Geometry geometry_;
  uint64_t shapes_ready_ = 0, data_ready_ = 0;  // bytes
  uint64_t file_end_ = 0;       // where the next text that needs room may stand
  uint64_t length_ = 0;         // of the file, which readers have mapped: it is never cut
  uint32_t register_block_bytes_ = 0;
  Endian endian_ = Endian::Little;
  int64_t server_ = 0;
  std::optional<BufferFile> file_;
  bool on_disk_ = false;        // file_
  bool settled_ = true, can_punch_ = true;
  uint64_t position_ = 0;       // where the next frames begin, once it is settled
  std::string refusal_;
  PagesAhead ahead_;
  PagesBack back_;
};

}  // namespace tracewell::agent
