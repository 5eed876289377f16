// The description section of a GDB trace file: lines of text between the header and the frames.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/format.h"
#include "model/catalog.h"
#include "model/problem.h"

namespace tracewell::formats {

inline constexpr std::string_view kTfileMagic = "\x7fTRACE0\n";
/// GDB gives up on a file with a longer line (the newline not counted).
inline constexpr size_t kTfileLineMax = 999;

/// Keys of Catalog::extras. The raw section is kept when writing it anew would give other bytes;
/// it counts only as long as reading it still gives the catalog's definitions.
inline constexpr std::string_view kTfileRaw = "tfile.description";
inline constexpr std::string_view kTfileLine = "tfile.line";  // not understood, one each
inline constexpr std::string_view kTfileTail = "tfile.tail";  // what stands behind the end

struct TfileDescription {
  Catalog catalog;
  bool endian_known = false;  // by the architecture; otherwise the frames have to tell
  bool gdb_reads = true;      // has an R line that GDB takes for the same number, no overlong line
  /// All of its lines, fields and options are known, in the form that GDB gives them, and none
  /// comes after another that it takes back: so GDB is told what the catalog has, and no more.
  bool is_plain = true;
  /// Of an R block. Usually one value; two when the line is hex or decimal for all we know, the
  /// likelier first.
  std::vector<uint32_t> register_block_bytes;
  uint64_t block_size_offset = 0;  // of the line that says so, in the file; 0 = there is none
};

/// Reads the text, which ends before the empty line (its last line has its newline). `offset`: of
/// the text in the file, for the problems. Nothing in it is fatal.
TfileDescription read_tfile_description(std::string_view text, uint64_t offset,
                                        ProblemLog& problems);

/// Once R's size and the byte order are decided: cuts or fills the layout to the size, or takes
/// GDB's default, which is a little-endian machine's. Of a larger block than
/// machine::kRegisterBlockBytesMax, the layout has as many of the first bytes.
void settle_tfile_layout(TfileDescription& description, Endian endian,
                         uint32_t register_block_bytes);

/// Tells of a block that is cut by that.
void tell_cut_block(uint64_t offset, uint32_t register_block_bytes, ProblemLog& problems);

/// The section as GDB would write it, without the empty line. Lines that GDB could not read are
/// left out and told in `left_out`, one sentence each, if that is given.
std::string render_tfile_description(const Catalog& catalog,
                                     std::vector<std::string>* left_out = nullptr);

/// The section for this catalog: its raw text if that still says the same, else rendered.
std::string tfile_description_for(const Catalog& catalog);

}  // namespace tracewell::formats
