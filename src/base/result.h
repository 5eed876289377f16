// Result<T>: a value or an Error. Expected failure (bad input, a refused system call, a peer that
// misbehaves) is always returned, never thrown; a broken invariant of ours is TW_CHECK's business.
// The interface is a subset of C++23's std::expected, which GCC 12 lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"

namespace tracewell {

/// The ten ways in which things fail. cli/ maps them to exit statuses, agent/ to `E` replies.
enum class Errc : uint8_t {
  Corrupt,          // input contradicts its own format
  Truncated,        // input ends too early
  Unsupported,      // well-formed, but we (or the machine) cannot do it
  InvalidArgument,  // the caller or the user asked for nonsense
  NotFound,
  Io,        // a system call on a file or socket failed
  Protocol,  // the peer broke the remote protocol
  Target,    // the debuggee could not do it (gone, unreadable memory, ptrace refused)
  Limit,     // a stated bound was exceeded
  Stopped,   // nobody waits for the result any more (model/work.h)
};

std::string_view errc_name(Errc code);

/// Failures that programs tell apart: stable codes. A code is never given another meaning.
namespace failures {
inline constexpr std::string_view kNotATrace = "not-a-trace";  // of no format that is read
inline constexpr std::string_view kNoSuchFormat = "no-such-format";
inline constexpr std::string_view kNotSteps = "not-steps";  // no trace of executed instructions
inline constexpr std::string_view kNoSteps = "no-steps";    // one that has none
inline constexpr std::string_view kNoSuchStep = "no-such-step";
inline constexpr std::string_view kNoSuchThread = "no-such-thread";
inline constexpr std::string_view kNoSuchRegister = "no-such-register";
inline constexpr std::string_view kNoSuchName = "no-such-name";  // of code or data, in images
inline constexpr std::string_view kSeveralOfThatName = "several-of-that-name";
inline constexpr std::string_view kNotAnAddress = "not-an-address";
inline constexpr std::string_view kEmptyRange = "empty-range";
inline constexpr std::string_view kIndexDamaged = "index-damaged";
inline constexpr std::string_view kNotComparable = "not-comparable";
}  // namespace failures

/// What went wrong, where, and (in `message`) what to do about it.
struct Error {
  Errc code = Errc::InvalidArgument;
  std::string message;
  std::optional<uint64_t> offset = {};  // byte offset in the input, where there is one
  /// Which failure this is, for programs that tell some apart: one of `failures`. Empty: any other;
  /// then `code` is all that is to be told.
  std::string_view failure = {};
  std::vector<uint32_t> contexts = {};  // bytes of each that within() gave, the first one first

  /// Stable, in kebab-case: `failure`, or else errc_name().
  std::string_view stable_code() const;
  /// What was being done, the outermost first, and last what went wrong: parts of `message`, which
  /// must not have been changed since.
  std::vector<std::string_view> causes() const;

  /// Prefixes the message with what was being done: "frame 12: register block is cut".
  Error within(std::string_view context) &&;
  /// One line for people: message, then "(at byte 0x…)" when the offset is known.
  std::string text() const;
};

/// An Error for a failed system call: "CONTEXT: strerror(errno)".
Error errno_error(std::string_view context, Errc code = Errc::Io);
Error errno_error(int errno_value, std::string_view context, Errc code = Errc::Io);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  Result(Errc code, std::string message, std::string_view failure = {})
      : Result(Error{code, std::move(message), {}, failure}) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }
  T value_or(T other) && { return ok() ? std::move(checked()) : std::move(other); }

  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  T& checked() {
    TW_CHECK(ok());
    return std::get<0>(state_);
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  Result(Errc code, std::string message, std::string_view failure = {})
      : error_(Error{code, std::move(message), {}, failure}) {}

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  Error& error() & { return *error_; }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

/// Drops a Status or a Result on purpose: what was tried helps when it succeeds, and nothing can be
/// done, or nobody told, when it does not. `why` says so where the place does not show it.
template <class T>
void best_effort(const Result<T>& /*dropped*/, std::string_view /*why*/ = {}) {}

}  // namespace tracewell

#define TW_CONCAT_(a, b) a##b
#define TW_CONCAT(a, b) TW_CONCAT_(a, b)

/// Returns the error of `expr` (a Status or any Result) from the calling function.
#define TW_RETURN_IF_ERROR(expr)                                     \
  do {                                                               \
    if (auto tw_status_ = (expr); !tw_status_.ok())                  \
      return std::move(tw_status_).error();                          \
  } while (false)

/// Declares or assigns `lhs` from a Result's value, or returns its error.
#define TW_ASSIGN_OR_RETURN(lhs, expr) \
  TW_ASSIGN_OR_RETURN_(TW_CONCAT(tw_result_, __LINE__), lhs, expr)
#define TW_ASSIGN_OR_RETURN_(result, lhs, expr)        \
  auto result = (expr);                                \
  if (!result.ok()) return std::move(result).error();  \
  lhs = *std::move(result)
