// A source that reads another one and changes some of what it says.
#pragma once

#include <memory>
#include <utility>

#include "model/stream.h"

namespace tracewell {

/// Hands on everything; who derives from it overrides what is to be different. Events that are
/// added, left out or moved make the other's frames() and steps() wrong: override these, too.
class SourceOver : public Source {
 public:
  explicit SourceOver(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  const Catalog& catalog() const override { return source_->catalog(); }
  Result<bool> next(Batch& batch) override { return source_->next(batch); }
  Seekable* seekable() override { return source_->seekable(); }
  FrameIndex* frames() override { return source_->frames(); }
  StepIndex* steps() override { return source_->steps(); }
  const Summary* summary() const override { return source_->summary(); }
  const ReaderNotes* reader_notes() const override { return source_->reader_notes(); }
  const Folder* folder() const override { return source_->folder(); }

 protected:
  std::unique_ptr<Source> source_;
};

}  // namespace tracewell
