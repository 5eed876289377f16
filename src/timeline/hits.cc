#include <algorithm>
#include <map>
#include <optional>

#include "timeline/timeline.h"

namespace tracewell::timeline {
namespace {

struct Seen {
  uint64_t count = 0;
  std::optional<uint64_t> last;
  PlaceHead head;
};
using PlaceMap = std::map<uint64_t, Seen>;

/// Segments come in order: who looked for the last step afterwards would look through all of them
/// for each place.
void count_steps(const Segment& segment, const Postings& steps, uint64_t& count,
                 std::optional<uint64_t>& last) {
  count += steps.count();
  if (const auto here = steps.last(segment.count)) last = segment.first + *here;
}

/// A segment cannot know whether a thread's first step in it came from the instruction before.
void note_entries(const Segment& segment, std::map<uint64_t, ThreadEnds>& left, PlaceMap& places) {
  segment.table(Part::Threads).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
    const auto thread = read_thread(item.stream);
    if (!thread || !thread->ends) return true;
    const ThreadEnds& now = *thread->ends;
    const auto before = left.find(item.key);
    const bool fell_through =
        before != left.end() && before->second.last_flow.flow == machine::Flow::Onward &&
        before->second.last_pc + before->second.last_flow.length == now.first_pc;
    if (!fell_through) places[now.first_pc].head.entered = true;
    left[item.key] = now;
    return true;
  });
}

PlaceMap executed_places(const Index& index) {
  PlaceMap places;
  std::map<uint64_t, ThreadEnds> left;
  uint64_t session = 0;
  for (const Segment& segment : index.segments) {
    if (segment.session != session) left.clear();
    session = segment.session;
    segment.table(Part::Executions).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
      const auto place = read_place(item.stream);
      if (!place) return true;
      Seen& seen = places[item.key];
      const bool entered = seen.head.entered || place->head.entered;
      count_steps(segment, place->steps, seen.count, seen.last);
      seen.head = {place->head.flow, entered};
      return true;
    });
    note_entries(segment, left, places);
  }
  return places;
}

}  // namespace

std::vector<Timeline::Hits> Timeline::address_hits() const {
  std::map<uint64_t, Hits> places;
  whole_index([&](const Index& index) {
    places.clear();
    for (const Segment& segment : index.segments)
      segment.table(Part::Executions).each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
        const auto place = read_place(item.stream);
        if (!place) return true;
        Hits& here = places.try_emplace(item.key, Hits{item.key, 0, {}}).first->second;
        count_steps(segment, place->steps, here.count, here.last);
        return true;
      });
  });
  std::vector<Hits> out;
  for (const auto& [address, hits] : places) out.push_back(hits);
  return out;
}

std::vector<Timeline::BlockHits> Timeline::block_hits() const {
  PlaceMap places;
  whole_index([&](const Index& index) { places = executed_places(index); });
  std::vector<BlockHits> out;
  bool ended = true;
  for (const auto& [address, seen] : places) {
    if (ended || seen.head.entered || out.back().address + out.back().size_bytes != address)
      out.push_back({address, 0, 0, seen.count, seen.last});
    out.back().size_bytes += seen.head.flow.length;
    ++out.back().instructions;
    ended = seen.head.flow.flow != machine::Flow::Onward;
  }
  return out;
}

}  // namespace tracewell::timeline
