// What the tests of formats share: bytes to events and back, through files in a folder of their
// own.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "formats/format.h"
#include "formats/jsonl/lines.h"
#include "list_source.h"

namespace tracewell::formats::test {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "formats-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// One of the samples of x64dbg traces.
inline std::string sample(const std::string& name) {
  return read_file(fmt::format("{}/tests/formats/data/{}.trace64", TRACEWELL_SOURCE_DIR, name));
}

inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A source over bytes in memory; keeps its file and its problems.
struct Opened {
  std::unique_ptr<TempFolder> folder = std::make_unique<TempFolder>();
  std::unique_ptr<ProblemLog> problems = std::make_unique<ProblemLog>();
  std::unique_ptr<Source> source;
  std::string error;
  std::optional<uint64_t> error_at;

  explicit Opened(std::string_view bytes, std::string_view format = "", OpenOptions options = {}) {
    write_file(folder->file("input"), bytes);
    auto file = InputFile::open(folder->file("input"));
    if (!file.ok()) {
      error = file.error().text();
      return;
    }
    auto opened = open_source(*file, format, options, *problems);
    if (opened.ok()) {
      source = *std::move(opened);
    } else {
      error = opened.error().message;
      error_at = opened.error().offset;
    }
  }
};

/// What a sink of `format` writes for these events; an error's text after "error: " if it cannot.
/// `told`: what it said that it cannot carry, beforehand and afterwards, a line each.
inline std::string written(Source& source, std::string_view format, std::string* told = nullptr) {
  TempFolder folder;
  auto file = OutputFile::create(folder.file("output"));
  if (!file.ok()) return "error: " + file.error().text();
  auto sink = find_format(format)->create(*std::move(file), {});
  if (!sink.ok()) return "error: " + sink.error().text();
  if (told)
    for (const std::string& line : (*sink)->refuses(source.catalog())) *told += line + '\n';
  const Status status = pump(source, **sink);
  if (!status.ok()) return "error: " + status.error().text();
  if (told)
    for (const std::string& line : (*sink)->left_out()) *told += "left out: " + line + '\n';
  return read_file(folder.file("output"));
}

/// Bytes in one format to bytes in another.
inline std::string converted(std::string_view bytes, std::string_view format,
                             std::string* told = nullptr) {
  Opened opened(bytes);
  if (!opened.source) return "error: " + opened.error;
  return written(*opened.source, format, told);
}

/// Without the catalog's source_path, which names a temporary file.
inline std::string without_path(std::string jsonl) {
  const size_t at = jsonl.find(",\"source_path\":\"");
  if (at == std::string::npos) return jsonl;
  const size_t end = jsonl.find('"', at + 16);
  return jsonl.erase(at, end + 1 - at);
}

using tracewell::test::ListSource;

}  // namespace tracewell::formats::test
