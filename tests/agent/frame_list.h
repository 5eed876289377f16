// FrameList: a Source of frames that a test made up, handed out in short runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/stream.h"

namespace tracewell {

class FrameList final : public Source, public FrameIndex {
 public:
  struct Item {
    int32_t tracepoint = 1;
    std::optional<uint64_t> pc;
    std::vector<FrameBlock> blocks;  // their bytes are the test's
    uint64_t tid = 0;
  };

  explicit FrameList(Catalog catalog = {}, std::vector<Item> all = {})
      : items(std::move(all)), catalog_(std::move(catalog)) {}

  std::vector<Item> items;
  size_t run = 3;  // frames a batch
  Bytes registers_valid;  // of all frames

  const Catalog& catalog() const override { return catalog_; }
  FrameIndex* frames() override { return this; }
  Seekable* seekable() override { return this; }
  uint64_t count() const override { return items.size(); }

  Status seek(uint64_t seq) override {
    if (seq > count()) return {Errc::NotFound, "beyond the end"};
    next_ = seq;
    return {};
  }

  Result<bool> next(Batch& batch) override {
    batch.clear();
    for (size_t i = 0; i < run && next_ < count(); ++i, ++next_) {
      const Item& item = items[next_];
      Event& event = batch.add();
      event.seq = next_;
      event.tid = item.tid;
      Frame frame;
      frame.tracepoint = item.tracepoint;
      frame.pc = item.pc;
      frame.registers_valid = registers_valid;
      frame.blocks = batch.copy_array(std::span<const FrameBlock>(item.blocks));
      event.body = frame;
    }
    return !batch.empty();
  }

  std::optional<uint64_t> find_tracepoint(uint64_t from, int32_t tracepoint) const override {
    return search(from, [&](const Item& item) { return item.tracepoint == tracepoint; });
  }
  std::optional<uint64_t> find_pc_inside(uint64_t from, uint64_t lo, uint64_t hi) const override {
    return search(from, [=](const Item& it) { return it.pc && lo <= it.pc && it.pc <= hi; });
  }
  std::optional<uint64_t> find_pc_outside(uint64_t from, uint64_t lo, uint64_t hi) const override {
    return search(from, [=](const Item& it) { return it.pc && (it.pc < lo || it.pc > hi); });
  }

 private:
  template <class Wanted>
  std::optional<uint64_t> search(uint64_t from, Wanted wanted) const {
    for (uint64_t i = from; i < items.size(); ++i)
      if (wanted(items[i])) return i;
    return std::nullopt;
  }
  Catalog catalog_;
  uint64_t next_ = 0;
};

}  // namespace tracewell
