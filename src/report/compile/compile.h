// From a template as written to instructions. Everything that can be known before an event is there
// is settled here: names, widths, numbers, constants, and the warnings of `report --check`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "report/compile/ast.h"
#include "report/compile/program.h"

namespace tracewell::report {

/// The column that an event's text begins in.
enum class Level : uint8_t { Appl, Svc, Kern, Int };

struct TemplateInfo {
  uint16_t hook = 0;  // four hex digits
  uint64_t version_major = 0, version_minor = 0;
  Level level = Level::Kern;
  std::string label;  // as written, with its @
  std::string file;
  Place place;
  uint32_t begin = 0;     // its first instruction
  uint32_t slots = 0;     // macros that it defines
  bool reserved = false;  // ours, until a file defines the hook
};

/// "010" and "0100" are the same hook.
std::optional<uint16_t> parse_hook(std::string_view digits);

class Compiler {
 public:
  Compiler(Program& program, Diagnostics& diagnostics)
      : program_(program), diagnostics_(diagnostics) {}

  /// nullopt when there was an error; the program is then as it was.
  std::optional<TemplateInfo> compile(const TemplateText& text);

 private:
  enum class Role : uint8_t { Code, Builtin, Slot, Unset, Call, Act };
  /// What a datum is, once its names and numbers are checked.
  struct Source {
    Role role = Role::Code;
    uint32_t index = 0;          // Builtin, Slot, Act; Call: the hook
    std::optional<CodeUse> use;  // the code, or a cast that is understood
    std::optional<uint64_t> mask;
    Base base = Base::Hex;
  };

  // compile.cc
  void header(const TemplateText& text, TemplateInfo& info);
  void define_slots(const std::vector<Item>& items);
  void items(const std::vector<Item>& items);
  void item(const Item& item);
  void word(const Item& word, const Item* before, const Item* behind);
  void quote(const Item& quote);
  void move(const Item& item);
  void loop(const Item& item);
  void assign(const Item& item);
  void timer(const Item& item);
  void expr(const Expr& expr);
  size_t product(const Expr& expr, size_t at);
  void term(const Term& term);
  void binary(Place place, char op);

  // compile_datum.cc
  bool resolve(const Datum& datum, Source& source);
  bool resolve_code(const Datum& datum, Source& source);
  bool resolve_mask(const Datum& datum, Source& source);
  void push(const Source& source);
  std::optional<Source> push_number(const Datum& datum, std::string_view what_for);
  void print(const Datum& datum);
  void print_macro(const Source& source);
  void act(Act act);

  // compile_switch.cc
  void choice(const Item& item);
  template <class Key, class KeyOf>
  void cases(const Item& item, Op op, std::vector<Switch<Key>>& tables, KeyOf key_of);
  std::optional<int64_t> number_case(const Case& it, const Source& source);
  std::string text_case(const Case& it, const Source& source);
  uint32_t case_body(const Case& it);
  void bit_flags(const Item& item);
  void flag(const Flag& flag, const Source& source);
  std::optional<uint64_t> number_of(const Literal& literal, Base base);
  void check_fits(const Literal& literal, uint64_t number, const Source& source,
                  std::string_view name);
  void check_octal(const Literal& literal, const Source& source);

  Instruction& emit(Op op);
  void text(std::string_view text, bool owes);
  /// A place that jumps lead to: what stands before it must not be merged with what follows.
  uint32_t here() { return barrier_ = static_cast<uint32_t>(program_.code.size()); }

  Program& program_;
  Diagnostics& diagnostics_;
  std::map<std::string, uint32_t, std::less<>> slots_;
  uint32_t barrier_ = 0;
  bool glued_ = false;  // inside backquotes: no blanks between items
};

}  // namespace tracewell::report
