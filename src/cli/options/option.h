// What a command takes: a row for each option and each word, and the table of them. Whoever parses,
// prints help, or makes manual pages and completions reads the table; parse.h reads command lines.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace tracewell::cli {

/// Gets the text of a value; of a flag "". Its error is all that the user is told.
using Take = std::function<Status(const std::string& text)>;
/// What AIX or gdbserver take, and we do not.
struct Refused {
  std::string_view why;
};
/// The table's own help.
struct ShowHelp {};
/// Nothing is done but to print this.
struct ShowText {
  std::string text;
};

/// Where a value goes, which says what it may be:
///   a flag    bool (true); text ("true", or what stands behind `--flag=`); what is called or shown
///   a number  decimal or 0x…
///   a list    each time that the option is named, a value more; of a word, all words that are left
/// Those that are optional stay empty where nothing was given.
using Destination =
    std::variant<Refused, ShowHelp, ShowText, Take, bool*, std::string*,
                 std::optional<std::string>*, uint64_t*, std::optional<uint64_t>*,
                 std::vector<std::string>*, std::optional<std::vector<std::string>>*>;

/// Whose values complete it.
enum class Completes : uint8_t { Nothing, File, Folder, Command, Process, User, HookGroup };
/// "nothing", "file", …
std::string_view completes_name(Completes completes);

/// A row: an option such as "-o,--output", or a word such as "FILE", whose place among the words is
/// that among the rows. Texts that are views are literals.
struct Option {
  std::string_view names;       // behind a `!` stands what a flag's opposite is called
  Destination to;
  std::string_view value = {};  // as help calls it; "" = a flag, or a word that is just text
  std::string_view unit = {};   // of the value: "bytes", "steps"
  std::string what = {};        // happens; the sentence that help has
  std::string_view otherwise = {};  // what holds where it is not given
  Completes completes = Completes::Nothing;
  std::vector<std::string> choices = {};  // all values that there are
  bool open = false;                      // but others may be given, too: who takes them looks
  uint64_t most = UINT64_MAX;             // of a number
  char separator = '\0';                  // between values of one word; a list is cut there
  std::string (*check)(const std::string& value) = nullptr;  // what is wrong with it; "" = nothing
  std::string_view needs = {};     // the name of an option without which this one is wrong
  std::string_view excludes = {};  // of one that may not be beside it
  bool required = false;
  bool hidden = false;           // taken, and not listed
  bool shows_otherwise = false;  // help says what `otherwise` says
  bool shows_list = false;       // help says that it may be given several times
};

bool is_word(const Option& option);
bool is_flag(const Option& option);
bool is_list(const Option& option);
/// All that it is called by, as help has them: short names first.
std::vector<std::string> names_of(const Option& option);
/// What help says behind the names, "ORDER:{little,big}"; "" for a flag.
std::string value_text(const Option& option);

/// The options and words of a command, and what its help says besides.
struct OptionTable {
  /// `program`: as it was called, "tracewell print". --help is there.
  OptionTable(std::string program, std::string_view summary);
  void add(std::initializer_list<Option> more);
  /// The option that is called so ("--output"), listed or not; nullptr = there is none.
  const Option* find(std::string_view called) const;
  /// Where other tools' -h is something else, or --help says something else of itself.
  void set_help(std::string_view names, std::string_view what);

  std::string program, summary;
  std::string usage;   // behind the program in help's first lines, where the words tell it not
  std::string footer;  // of help, and what manual pages say
  /// Not nullptr: the words are another program's. Here goes everything from the first word that is
  /// no option of this table, unread.
  std::vector<std::string>* rest = nullptr;
  std::vector<Option> rows;
};

}  // namespace tracewell::cli
