// Files that are kept beside another one, such as an index of it.
#pragma once

#include <string>

#include "base/files/open.h"
#include "base/result.h"

namespace tracewell {

/// The file that they are kept beside.
struct Original {
  std::string path;  // the name that it was opened by
  FileFacts facts;   // of what was opened
};

/// Where one of them is to be written: place_beside(), in a folder where the original's name is the
/// file that was opened, or a link to it of this user's or root's. InvalidArgument otherwise: one
/// may be private by its folder alone, and behind another user's link, or in a folder that has been
/// exchanged, what is kept beside it would be theirs to read.
Result<Place> place_to_keep(const std::string& path, const Original& original);

}  // namespace tracewell
