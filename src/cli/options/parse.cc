// CLI11, and nobody else knows it: rows become its options, and its exceptions our errors.
#include "cli/options/parse.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text/text.h"
#include "trace/selection.h"

namespace tracewell::cli {
namespace {

/// For a table whose words are another program's: CLI11 would leave them out of the usage line.
class UsageFormatter final : public CLI::Formatter {
 public:
  explicit UsageFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return fmt::format("Usage: {} {}\n", name.empty() ? app->get_name() : name, usage_);
  }

 private:
  std::string usage_;
};

/// Makes an option of CLI11 out of a row, by where its value goes.
class Declarer {
 public:
  Declarer(CLI::App& app, const Option& row) : app_(app), row_(row), names_(row.names) {}

  CLI::Option* operator()(const ShowHelp&) { return app_.set_help_flag(names_, row_.what); }
  CLI::Option* operator()(const ShowText& shown) {
    return app_.set_version_flag(names_, shown.text, row_.what);
  }
  CLI::Option* operator()(const Refused& refused) {
    return app_.add_flag_callback(names_, [name = names_, why = std::string(refused.why)] {
      throw CLI::ValidationError(name, why);
    });
  }
  CLI::Option* operator()(const Take& take) {
    const auto call = [take](const std::string& text) {
      if (const Status status = take(text); !status.ok())
        throw CLI::ValidationError(status.error().message);
    };
    if (is_flag(row_)) return app_.add_flag_callback(names_, [call] { call(""); }, row_.what);
    return app_.add_option_function<std::string>(names_, call, row_.what);
  }
  CLI::Option* operator()(bool* to) { return app_.add_flag(names_, *to, row_.what); }
  CLI::Option* operator()(std::string* to) {
    if (is_flag(row_)) return app_.add_flag(names_, *to, row_.what);
    return app_.add_option(names_, *to, row_.what);
  }
  CLI::Option* operator()(std::optional<std::string>* to) { return optional(to); }
  CLI::Option* operator()(uint64_t* to) {
    if (row_.most == UINT64_MAX) return number([to](uint64_t value) { *to = value; });
    return app_.add_option(names_, *to, row_.what)->check(CLI::Range(uint64_t{0}, row_.most));
  }
  CLI::Option* operator()(std::optional<uint64_t>* to) {
    return number([to](uint64_t value) { *to = value; });
  }
  CLI::Option* operator()(std::vector<std::string>* to) {
    return list(app_.add_option(names_, *to, row_.what));
  }
  CLI::Option* operator()(std::optional<std::vector<std::string>>* to) {
    return list(optional(to));
  }

 private:
  template <class Value>
  CLI::Option* optional(std::optional<Value>* to) {
    return app_.add_option_function<Value>(
        names_, [to](const Value& value) { *to = value; }, row_.what);
  }

  CLI::Option* number(std::function<void(uint64_t)> take) {
    const auto read = [take = std::move(take), name = names_](const std::string& text) {
      const auto value = parse_number(text);
      if (!value)
        throw CLI::ValidationError(
            name, fmt::format("not a number: {}{}", printable(text), trace::hex_hint(text)));
      take(*value);
    };
    return app_.add_option_function<std::string>(names_, read, row_.what);
  }

  CLI::Option* list(CLI::Option* option) {
    if (!is_word(row_) && !row_.shows_list)
      option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return option->delimiter(row_.separator);
  }

  CLI::App& app_;
  const Option& row_;
  const std::string names_;
};

CLI::Option* declare(CLI::App& app, const Option& row) {
  Declarer declarer(app, row);
  CLI::Option* const option = std::visit(declarer, row.to);
  if (!row.value.empty()) option->type_name(std::string(row.value));
  if (!row.choices.empty() && !row.open) option->check(CLI::IsMember(row.choices));
  if (row.check != nullptr) option->check(row.check);
  if (row.required) option->required();
  if (row.hidden) option->group("");
  if (row.shows_otherwise) option->default_str(std::string(row.otherwise));
  // A list takes one word each time it is named; those behind it belong to others.
  if (!is_word(row)) option->allow_extra_args(false);
  return option;
}

void declare_all(CLI::App& app, const OptionTable& table) {
  std::vector<CLI::Option*> options;
  for (const Option& row : table.rows) options.push_back(declare(app, row));
  for (size_t i = 0; i < options.size(); ++i) {
    const Option& row = table.rows[i];
    if (!row.needs.empty()) options[i]->needs(app.get_option(std::string(row.needs)));
    if (!row.excludes.empty()) options[i]->excludes(app.get_option(std::string(row.excludes)));
  }
  app.footer(table.footer);
  if (!table.usage.empty()) app.formatter(std::make_shared<UsageFormatter>(table.usage));
  if (table.rest != nullptr) app.prefix_command();
}

}  // namespace

Result<std::optional<std::string>> parse_options(const OptionTable& table,
                                                 const std::vector<std::string>& words) {
  CLI::App app{table.summary, table.program};
  declare_all(app, table);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // as it wants them
  } catch (const CLI::CallForHelp&) {
    return std::optional(app.help());
  } catch (const CLI::CallForVersion& version) {
    return std::optional(fmt::format("{}\n", version.what()));
  } catch (const CLI::ParseError& error) {
    return {Errc::InvalidArgument, error.what()};
  }
  if (table.rest != nullptr) *table.rest = app.remaining();
  return std::optional<std::string>();
}

}  // namespace tracewell::cli
