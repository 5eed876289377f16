// A file of notes beside a trace that is always the same: what is read goes in and out once more.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "format_fuzz.h"
#include "trace/notes_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tracewell;
  static const std::string name = std::filesystem::temp_directory_path() /
                                  ("fuzz_notes." + std::to_string(getpid()));
  static const struct Removed {
    ~Removed() { unlink(name.c_str()); }
  } removed_at_exit;
  static const std::string beside = name + ".notes";
  static const std::shared_ptr<InputFile> trace = [] {
    std::ofstream(name) << "TRACE";
    auto file = InputFile::open(name);
    fuzz::require(file.ok());
    return *std::move(file);
  }();
  {
    const UniqueFd fd(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    fuzz::require(fd.valid() && write(fd.get(), data, size) == static_cast<ssize_t>(size));
  }
  ProblemLog problems;
  const auto read = trace::read_notes(beside, *trace, problems);
  unlink(beside.c_str());
  fuzz::require(read.ok() && read->there);
  fuzz::require(read->fits || read->notes.empty());
  if (read->notes.empty()) return 0;
  fuzz::require(trace::write_notes(beside, *trace, read->notes).ok());
  ProblemLog none;
  const auto again = trace::read_notes(beside, *trace, none);
  unlink(beside.c_str());
  fuzz::require(again.ok() && again->fits && none.empty());
  fuzz::require(again->notes.size() == read->notes.size());
  for (size_t i = 0; i < again->notes.size(); ++i)
    fuzz::require(again->notes[i].step == read->notes[i].step &&
                  again->notes[i].text == read->notes[i].text);
  return 0;
}
