#include "formats/hooklog_follow.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "formats/hooklog_reader.h"

namespace tracewell::formats {

Result<std::unique_ptr<HooklogFollow>> HooklogFollow::open(const std::string& folder,
                                                           Session session,
                                                           ProblemLog& problems) {
  TW_ASSIGN_OR_RETURN(Folder log, Folder::named(folder));
  TW_ASSIGN_OR_RETURN(const auto metadata, log.read("metadata", kHooklogMetadataMax));
  std::unique_ptr<HooklogFollow> out(
      new HooklogFollow(std::move(log), std::move(session), problems));
  const std::string_view text = as_text(metadata->bytes());
  if (!text.starts_with("/* CTF"))
    return {Errc::Unsupported,
            printable(folder) + " is no log of trace hooks; nothing else can be followed"};
  out->clock_ = read_hooklog_clock(text);
  out->uuid_ = read_hooklog_uuid(text);
  out->catalog_.source_path = metadata->path();
  describe_hooklog(text, out->catalog_);
  return out;
}

/// `unclear`: keys of those whose ids were used again. From here on only their events say whose
/// they are.
void HooklogFollow::meet_threads(const HooklogStream& stream, std::set<std::string>& unclear) {
  for (const HooklogPacket& packet : stream.packets) {
    const auto& [tid, pid] = std::pair(packet.head.tid, packet.head.pid);
    if (tid == 0) continue;
    const auto [at, is_new] = threads_.try_emplace(tid, pid);
    const auto key = [&] { return fmt::format("hooklog.thread.{}", tid); };
    if (is_new)
      catalog_.extras.emplace_back(key(), fmt::format("{}", pid));
    else if (std::exchange(at->second, at->second == pid ? pid : 0) != at->second)
      unclear.insert(key());
  }
}

/// Of a file that cannot be read, in whatever round that is found. One that went meanwhile, as the
/// oldest part of a log that is full does, is nothing to tell.
void HooklogFollow::tell_once(const std::string& name, const Error& error) {
  if (error.code == Errc::NotFound || !told_.insert(name).second) return;
  problems_.add({std::nullopt, Problem::Severity::Damage, "stream-file", error.text()});
}

bool HooklogFollow::begin_round() {
  const auto stopped = [this] { return session_.stop && session_.stop(); };
  round_ = std::make_unique<Round>();
  Round& round = *round_;
  round.log.session = uuid_;
  // Asked before anything is looked at: what was written until then will be found.
  round.last = !session_.runs();
  round.until = round.last ? UINT64_MAX : session_.ticks();
  // A packet moves from its ring to the log: whoever looks in that order, too, does not miss it.
  if (const auto rings = hooklog_rings(folder_))
    for (const std::string& name : hooklog_files(*rings)) {
      if (stopped()) return false;
      auto file = rings->read(name, kHooklogRingMax);
      if (file.ok())
        round.log.add_ring_file(*std::move(file), problems_);
      else
        tell_once(name, file.error());
    }
  for (const std::string& name : hooklog_files(folder_)) {
    if (stopped()) return false;
    auto file = folder_.read(name, kHooklogFileMax);
    if (!file.ok()) tell_once(name, file.error());
    uint64_t& read = read_[name];
    if (!file.ok() || (*file)->bytes().size() <= read) continue;
    const uint64_t size = (*file)->bytes().size();
    read = round.log.add_whole_packets(*std::move(file), read);
    if (round.last && read < size)
      problems_.add({read, Problem::Severity::Damage, "packet-cut",
                     fmt::format("{}: {} bytes are no whole packet", name, size - read)});
  }
  round.log.settle(problems_);
  std::set<std::string> unclear;
  round.cursors.reserve(round.log.streams.size());
  for (const auto& [id, stream] : round.log.streams) {
    meet_threads(stream, unclear);
    round.streams.push_back(id);
    round.cursors.emplace_back(round.log, stream, problems_, &places_[id]);
    queue(round.cursors.size() - 1);
  }
  // All at once: there may be as many as threads.
  if (!unclear.empty())
    std::erase_if(catalog_.extras, [&](const auto& one) { return unclear.contains(one.first); });
  return true;
}

/// Losses are told at once: their times are those of packets, and not exact.
void HooklogFollow::queue(size_t index) {
  const HooklogCursor& cursor = round_->cursors[index];
  if (cursor.at_end()) return;
  if (cursor.is_loss())
    round_->queue.emplace(std::min(cursor.ticks(), round_->until), index);
  else if (cursor.ticks() <= round_->until)
    round_->queue.emplace(cursor.ticks(), index);
}

Result<bool> HooklogFollow::next(Batch& batch) {
  batch.clear();
  if (over_) return false;
  if (!round_ && !begin_round()) {
    round_.reset();
    over_ = true;
    return false;
  }
  Round& round = *round_;
  while (!round.queue.empty() && batch.size() < kHooklogBatchEvents) {
    const auto [ticks, index] = round.queue.top();
    round.queue.pop();
    round.cursors[index].take(batch);
    Event& event = batch.events().back();
    event.seq = seq_++;
    if (clock_) event.time_ns = clock_->time_ns(ticks);
    queue(index);
  }
  if (!batch.empty()) return true;
  end_round();
  return false;
}

/// What was left of packets in files is looked for again.
void HooklogFollow::end_round() {
  for (size_t i = 0; i < round_->cursors.size(); ++i) {
    const uint64_t id = round_->streams[i];
    const HooklogPlace& place = places_[id] = round_->cursors[i].place();
    for (const HooklogPacket& packet : round_->log.streams[id].packets) {
      if (packet.in_ring || packet.head.number < place.number) continue;
      const std::string& path = round_->log.files[packet.file]->path();
      uint64_t& read = read_[path.substr(path.rfind('/') + 1)];
      read = std::min(read, packet.offset);
    }
  }
  over_ = round_->last;
  round_.reset();
}

}  // namespace tracewell::formats
