#include "formats/trace64/scan/chain.h"

#include <algorithm>

#include "formats/trace64/blocks/user.h"

namespace tracewell::formats::trace64 {

BlockChain::BlockChain(const Contents& contents)
    : contents_(&contents), bytes_(contents.file->bytes()), shape_(contents.scan.shape()) {}

/// From the block at `from` on, which is behind that of step `seq`.
void BlockChain::find_plain(uint64_t from, uint64_t seq) {
  const Scan& scan = contents_->scan;
  plain_from_ = from;
  plain_to_ = scan.plain_to(from);
  const auto& sessions = scan.sessions();
  const auto session = std::upper_bound(sessions.begin(), sessions.end(), seq);
  plain_to_seq_ = session == sessions.end() ? scan.count() : *session;
}

Border BlockChain::find_border(uint64_t from, uint64_t seq, Block& block, uint64_t& gap) const {
  const Scan& scan = contents_->scan;
  Border border = Border::None;
  Bytes unknown, told;
  bool behind_gap = false;
  while (true) {
    const auto& gaps = scan.gaps();
    const auto broken =
        std::lower_bound(gaps.begin(), gaps.end(), from,
                         [](const Gap& one, uint64_t offset) { return one.from < offset; });
    if (broken != gaps.end() && broken->from == from) {
      gap = static_cast<uint64_t>(broken - gaps.begin());
      border = Border::Gap;
      from = broken->to;
      unknown = told = {};
      behind_gap = false;
      continue;
    }
    if (from >= scan.end() || seq >= scan.count()) return Border::End;
    if (read_block(bytes_, from, shape_, scan.is_hidden(from), block) != Reading::Whole)
      return Border::End;  // the file shrank
    if (!block.is_user()) break;
    if (const auto own = read_own_block(block.type, block.user_data)) {
      if (own->kind == OwnKind::Unknown) unknown = own->data;
      if (own->kind == OwnKind::Accesses) told = own->data;
      behind_gap |= own->kind == OwnKind::Gap;
    }
    from += block.size;
  }
  block.unknown = unknown;
  block.told = told;
  block.behind_gap = behind_gap;
  const auto& sessions = scan.sessions();
  if (seq != 0 && std::binary_search(sessions.begin(), sessions.end(), seq))
    return Border::Session;
  return border;
}

}  // namespace tracewell::formats::trace64
