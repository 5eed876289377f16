// TraceBufferSource: the frames of a live trace as a Source, for sinks such as a trace file.
#pragma once

#include "agent/buffer/trace_buffer.h"
#include "model/stream.h"

namespace tracewell::agent {

/// Borrows the buffer, which must not change meanwhile. Batches borrow nothing.
class TraceBufferSource final : public Source, private Seekable {
 public:
  TraceBufferSource(TraceBuffer& buffer, Catalog catalog)
      : buffer_(buffer), catalog_(std::move(catalog)) {}

  const Catalog& catalog() const override { return catalog_; }
  Result<bool> next(Batch& batch) override;
  Seekable* seekable() override { return this; }

 private:
  uint64_t count() const override { return buffer_.count(); }
  Status seek(uint64_t seq) override;

  TraceBuffer& buffer_;
  Catalog catalog_;
  uint64_t next_ = 0;
};

}  // namespace tracewell::agent
