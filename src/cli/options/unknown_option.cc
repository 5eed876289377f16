#include "cli/options/unknown_option.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace tracewell::cli {
namespace {

constexpr size_t kNamedMax = 3;
constexpr size_t kLettersMax = 64;  // of a word that is compared

/// How many letters have to be put in, taken out, replaced or swapped with the next one.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  std::iota(rows[0].begin(), rows[0].end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

/// Without the dashes.
std::vector<std::string> long_names(const OptionTable& table) {
  std::vector<std::string> out;
  for (const Option& option : table.rows)
    if (!option.hidden)
      for (const std::string& name : names_of(option))
        if (name.starts_with("--")) out.push_back(name.substr(2));
  return out;
}

/// The nearest first; one that begins with the word is near.
std::vector<std::string> near(std::vector<std::string> all, std::string_view word) {
  std::vector<std::pair<size_t, std::string>> found;
  for (std::string& name : all) {
    const bool begins = name.starts_with(word) || word.starts_with(name);
    const size_t far = begins ? 1 : distance(word, name);
    if (far <= std::max<size_t>(2, word.size() / 3)) found.emplace_back(far, std::move(name));
  }
  std::ranges::stable_sort(found, {}, &std::pair<size_t, std::string>::first);
  std::vector<std::string> out;
  for (auto& [far, name] : found) out.push_back(std::move(name));
  if (out.size() > kNamedMax) out.resize(kNamedMax);
  return out;
}

}  // namespace

std::string did_you_mean(std::vector<std::string> all, std::string_view word,
                         std::string_view prefix) {
  const std::vector<std::string> others = near(std::move(all), word.substr(0, kLettersMax));
  std::string out;
  for (size_t at = 0; at < others.size(); ++at)
    out += fmt::format("{}{}{}", at == 0                   ? "; did you mean "
                                 : at + 1 == others.size() ? " or "
                                                           : ", ",
                       prefix, others[at]);
  return others.empty() ? out : out + "?";
}

std::string near_options(const OptionTable& table, std::string_view argument) {
  const std::string_view name = argument.substr(0, argument.find('='));
  if (!name.starts_with("--")) return "";
  return did_you_mean(long_names(table), name.substr(2, kLettersMax), "--");
}

std::optional<std::string> unknown_option(const OptionTable& table,
                                          std::span<const std::string> arguments) {
  if (table.rest != nullptr) return std::nullopt;  // they may be another program's
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view one = arguments[i];
    if (one == "--") break;
    if (!one.starts_with("--")) continue;
    const std::string_view name = one.substr(0, one.find('='));
    if (const Option* option = table.find(name)) {
      // Its value is what stands behind it, whatever that looks like.
      if (!is_flag(*option) && name.size() == one.size()) ++i;
      continue;
    }
    return fmt::format("there is no option {}", printable(name)) + near_options(table, one);
  }
  return std::nullopt;
}

}  // namespace tracewell::cli
