// A file of this machine that a debugger may read by its name. Its bytes are those of the file that
// was opened when the name was first looked at; what has the name by now is not opened again.
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/files/file.h"

namespace tracewell::target {

struct ListedFile {
  std::string path;  // absolute
  Bytes bytes;
  FileFacts facts;   // as it was opened
  std::shared_ptr<const void> owner;  // of the bytes
};

}  // namespace tracewell::target
