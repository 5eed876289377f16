#include "formats/hooklog/follow.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/text/text.h"
#include "formats/hooklog/reader.h"

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
  if (auto host = read_hooklog_fact(text, "hostname")) out->processes_.set_host(*std::move(host));
  return out;
}

/// Where a ring was in a round before is where its stream in the log is: it was not in the log
/// then, and may have another one there.
void HooklogFollow::move_places() {
  const auto& streams = round_->log.streams;
  std::vector<std::pair<HooklogRing, HooklogRing>> moves;
  for (const auto& [ring, place] : places_) {
    if (streams.contains(ring)) continue;
    const HooklogRing logged = round_->log.in_log.in_log(ring);
    if (streams.contains(logged)) moves.emplace_back(ring, logged);
  }
  for (const auto& [from, to] : moves) {
    if (places_.contains(to)) continue;
    auto moved = places_.extract(from);
    moved.key() = to;
    places_.insert(std::move(moved));
  }
}

/// Of a file that cannot be read, in whatever round that is found. One that went meanwhile, as the
/// oldest part of a log that is full does, is nothing to tell.
void HooklogFollow::tell_once(const std::string& name, const Error& error) {
  if (error.code == Errc::NotFound || !told_.insert(name).second) return;
  problems_.add({std::nullopt, Problem::Severity::Damage, "stream-file", error.text()});
}

std::vector<std::string> HooklogFollow::files_in(const Folder& folder) {
  auto names = hooklog_files(folder);
  if (names.ok()) return *std::move(names);
  tell_once(folder.path(), names.error());
  return {};
}

bool HooklogFollow::begin_round() {
  constexpr uint64_t kOnceIn = 1024;
  const auto stopped = [this] { return session_.stop && session_.stop(); };
  round_ = std::make_unique<Round>();
  Round& round = *round_;
  round.log.session = uuid_;
  // Asked before anything is looked at: what was written until then will be found.
  // A log that somebody has removed does not grow.
  round.last = !session_.runs(uuid_) || !folder_.facts_of_name("metadata");
  round.log.stop = session_.stop;
  round.until = round.last ? UINT64_MAX : session_.ticks();
  round.log.in_log = std::move(in_log_);
  if (const auto rings = hooklog_rings(folder_); !rings.ok()) {
    tell_once(kHooklogRings, rings.error());
  } else if (*rings) {
    for (const std::string& name : files_in(**rings)) {
      if (stopped()) return false;
      auto file = (*rings)->read(name, kHooklogRingMax);
      if (file.ok())
        if (Status once = round.log.check_new(**file, name); !once) file = std::move(once).error();
      if (!file.ok()) {
        tell_once(name, file.error());
        continue;
      }
      ProblemLog found;
      round.log.add_ring_file(*std::move(file), name, found);
      for (const Problem& one : found.kept())
        if (told_.insert(fmt::format("{} {} {}", name, one.code, one.offset.value_or(0))).second)
          problems_.add(one);
    }
  }
  for (const std::string& name : files_in(folder_)) {
    if (stopped()) return false;
    auto file = folder_.read(name, kHooklogFileMax);
    if (file.ok())
      if (Status once = round.log.check_new(**file); !once) file = std::move(once).error();
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
  if (stopped()) return false;
  if (const auto begun = round.log.begun(); begun && clock_ && !catalog_.began_ns)
    catalog_.began_ns = clock_->time_ns(*begun);
  move_places();
  round.cursors.reserve(round.log.streams.size());
  for (const auto& [ring, stream] : round.log.streams) {
    if (round.cursors.size() % kOnceIn == 0 && stopped()) return false;
    round.rings.push_back(ring);
    round.of_rings.push_back(processes_.of(ring.pid, ring.run()));
    programs_.know(ring);
    round.cursors.emplace_back(round.log, stream, problems_, &places_[ring]);
    queue(round.cursors.size() - 1);
  }
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

void HooklogFollow::number_last(Batch& batch, uint64_t ticks, uint32_t process, bool foreign) {
  Event& event = batch.events().back();
  event.seq = seq_++;
  event.process = process;
  if (clock_ && !foreign) event.time_ns = clock_->time_ns(ticks);
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
    HooklogCursor& cursor = round.cursors[index];
    const bool foreign = cursor.is_foreign();
    const uint32_t process = round.of_rings[index];
    if (!processes_.is_told(process))
      processes_.tell(process, {cursor.head(), cursor.program()}, seq_, batch);
    if (programs_.add(round.rings[index], cursor, batch))
      number_last(batch, ticks, process, foreign);
    cursor.take(batch);
    number_last(batch, ticks, process, foreign);
    queue(index);
  }
  if (!batch.empty()) return true;
  end_round();
  return false;
}

/// What was left of packets in files is looked for again. Whose stream was in a ring alone, and is
/// there no more, is forgotten: a ring may say another one each time.
void HooklogFollow::end_round() {
  in_log_ = std::move(round_->log.in_log);
  const size_t gone = std::erase_if(places_, [&](const auto& one) {
    return !in_log_.has(one.first) && !round_->log.streams.contains(one.first);
  });
  if (gone != 0) {
    std::set<std::pair<uint32_t, uint64_t>> with_rings;
    for (const auto& [ring, place] : places_) with_rings.emplace(ring.pid, ring.run());
    processes_.keep(with_rings);
  }
  for (size_t i = 0; i < round_->cursors.size(); ++i) {
    const HooklogRing& ring = round_->rings[i];
    const HooklogPlace& place = places_[ring] = round_->cursors[i].place();
    for (const HooklogPacket& packet : round_->log.streams[ring].packets) {
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
