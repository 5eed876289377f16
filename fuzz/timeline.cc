// The parts of an index from outside, as a damaged or forged sidecar has them: whatever they are,
// each question gets an answer, and nothing is read that is not there. The same parts in an index
// of a trace that has grown since: it is extended, or made anew. Before each part stands its size.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format_fuzz.h"
#include "timeline/calls/call_tree.h"
#include "timeline/index/build.h"
#include "timeline/search.h"
#include "timeline/store/step_store.h"
#include "timeline/timeline.h"

namespace {

using namespace tracewell;
using namespace tracewell::timeline;

constexpr uint64_t kSteps = 5000;

Segment segment_of(ByteReader& in, uint64_t first) {
  Segment segment;
  segment.first = first;
  segment.count = kSteps;
  const auto piece = [&in] {
    const uint64_t wanted = in.uint(2).value_or(0);
    return *in.take(wanted < in.left() ? wanted : in.left());
  };
  for (Bytes& part : segment.parts) part = piece();
  segment.seams = piece();
  segment.call_marks = piece();
  segment.opened = in.uint(1).value_or(0) % 2 != 0;
  return segment;
}

void ask(const Timeline& timeline, uint64_t at) {
  std::vector<uint8_t> bytes(64);
  std::vector<ByteState> states(64);
  const AddressRange range = {0x7000, 0x7100}, all = {0, UINT64_MAX};
  timeline.memory(at, 0x7000, bytes, states);
  for (const uint8_t kinds : {kReads, kWrites, kAccesses, kOthers}) {
    timeline.next_access(range, kinds, at);
    timeline.last_access(all, kinds, at);
  }
  timeline.changes_by_others(at, range);
  timeline.next_execution(all, at);
  timeline.last_execution(range, at);
  for (uint32_t index = 0; index < 20; ++index) {
    timeline.next_change(index, ChangedBy::Instruction, at);
    timeline.last_change(index, ChangedBy::Others, at);
  }
  timeline.next_step_of(timeline.thread_of(at), at);
  timeline.last_step_of(100, at);
  timeline.open_calls(at, timeline.thread_of(at), 100);
}

class BytesOfIndex final : public IndexSink {
 public:
  Status append(Bytes bytes) override {
    out.insert(out.end(), bytes.begin(), bytes.end());
    return {};
  }
  Status rewrite_head(Bytes bytes) override {
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return {};
  }
  uint64_t size() const override { return out.size(); }
  std::vector<uint8_t> out;
};

/// A trace of some steps of three threads.
Source& small_trace() {
  static const std::unique_ptr<fuzz::Opened> opened = [] {
    std::string text = "{\"catalog\":{\"machine\":\"x86-64\"}}\n";
    for (int i = 0; i < 100; ++i)
      text += "{\"kind\":\"step\",\"tid\":" + std::to_string(1 + i % 3) + ",\"pc\":\"0x" +
              std::to_string(4000 + i % 7 * 5) +
              "\",\"opcode\":\"e800000000\",\"before\":{},\"registers\":{\"rsp\":\"0x" +
              std::to_string(i) + "\"},\"memory\":[]}\n";
    auto out = fuzz::open(as_bytes(text), "jsonl");
    fuzz::require(out != nullptr);
    return out;
  }();
  return *opened->source;
}

/// As a file: with sums and hashes that are right.
std::vector<uint8_t> file_of(const std::vector<Segment>& segments) {
  std::vector<uint8_t> out(kIndexHeaderBytes);
  std::vector<SegmentPlace> places;
  const auto put = [&out](Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); };
  for (const Segment& one : segments) {
    SegmentPlace place;
    place.first = one.first;
    place.count = one.count;
    place.opened = one.opened;
    place.offset = out.size();
    SumWriter sums;
    for (size_t i = 0; i < kParts; ++i) {
      place.sizes[i] = one.parts[i].size();
      put(one.parts[i]);
      sums.add(one.parts[i]);
    }
    put(sums.finish());
    place.seams_offset = out.size();
    place.seams_bytes = one.seams.size();
    place.seams_hash = index_hash(one.seams);
    put(one.seams);
    places.push_back(place);
  }
  const std::vector<uint8_t> directory = make_directory(places, out.size(), {});
  const std::vector<uint8_t> header = make_header({}, out.size(), directory);
  std::copy(header.begin(), header.end(), out.begin());
  put(directory);
  return out;
}

/// What is beside a trace that has grown.
void extend(std::vector<Segment> segments) {
  static const std::unique_ptr<StepStore> steps = *StepStore::read(small_trace());
  fuzz::require(steps->count() == 100);
  segments.resize(3);
  for (size_t i = 0; i < segments.size(); ++i) {
    segments[i].first = i * 30;
    segments[i].count = 30;
  }
  const std::vector<uint8_t> old_file = file_of(segments);
  const auto old = read_index(old_file, nullptr);
  fuzz::require(old.has_value());
  BytesOfIndex sink;
  const Catalog& catalog = small_trace().catalog();
  BuildOptions options;
  options.workers = 1;
  fuzz::require(build_index(*steps, catalog, {}, &*old, options, sink).ok());
  const auto made = read_index(sink.out, nullptr);
  fuzz::require(made && made->steps() == 100);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteReader in({data, size}, Endian::Little);
  Index index;
  index.segments.push_back(segment_of(in, 0));
  index.segments.push_back(segment_of(in, kSteps));
  extend(index.segments);
  const Timeline timeline(std::move(index));
  for (const uint64_t at : {uint64_t{0}, uint64_t{63}, kSteps, 2 * kSteps}) ask(timeline, at);
  timeline.threads();
  timeline.address_hits();
  timeline.block_hits();
  call_tree(timeline);
  const uint8_t pattern[] = {1, 2};
  size_t hits = 0;
  if (!find_bytes(timeline, pattern, [&](const BytesHit&) { return ++hits < 1000; })) std::abort();
  return 0;
}
