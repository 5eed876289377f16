// Data: codes, macros with their casts, masks.
#include <fmt/format.h>

#include "report/compile/compile.h"

namespace tracewell::report {
namespace {

/// X0, A0 and A0.n owe no blank.
bool owes(const CodeUse& use) {
  return !(use.bytes == 0 && (use.code == Code::X || use.code == Code::A));
}

bool is_wide(const CodeUse& use) {
  return use.code == Code::X && use.bytes > 8;
}
bool is_sized(const CodeUse& use) {
  return use.code == Code::S || use.code == Code::SW;
}

}  // namespace

bool Compiler::resolve(const Datum& datum, Source& source) {
  if (datum.macro.empty()) {
    source.role = Role::Code;
  } else if (const auto builtin = find_builtin(datum.macro)) {
    source.role = Role::Builtin;
    source.index = static_cast<uint32_t>(*builtin);
    if (is_text(*builtin)) source.base = Base::Text;
  } else if (const auto act = find_act(datum.macro)) {
    source.role = *act == Act::DEFAULT ? Role::Call : Role::Act;
    source.index = *act == Act::DEFAULT ? 0x0080 : static_cast<uint32_t>(*act);
  } else if (const auto hook = parse_hook(datum.macro)) {
    source.role = Role::Call;
    source.index = *hook;
  } else if (const auto slot = slots_.find(datum.macro); slot != slots_.end()) {
    source.role = Role::Slot;
    source.index = slot->second;
  } else {
    source.role = Role::Unset;
    diagnostics_.warning(datum.place, "unset-macro",
                         fmt::format("${} is never set, so it is 0", datum.macro));
  }
  return resolve_code(datum, source) && resolve_mask(datum, source);
}

bool Compiler::resolve_code(const Datum& datum, Source& source) {
  if (!datum.code) return true;
  const bool as_cast = source.role != Role::Code;
  const uint64_t errors = diagnostics_.errors();
  const auto use = check_code(*datum.code, as_cast, diagnostics_);
  if (diagnostics_.errors() != errors) return false;
  const bool takes_casts =
      source.base != Base::Text && source.role != Role::Call && source.role != Role::Act;
  if (as_cast && (!use || !takes_casts)) {
    diagnostics_.warning(datum.code->place, "cast",
                         takes_casts ? fmt::format("{} is no cast; ${} prints as without it",
                                                   datum.code->letters, datum.macro)
                                     : fmt::format("${} takes no cast", datum.macro));
    return true;
  }
  source.use = use;
  source.base = code_info(use->code).base;
  return true;
}

bool Compiler::resolve_mask(const Datum& datum, Source& source) {
  if (!datum.mask) return true;
  const bool number = source.base != Base::Text && source.base != Base::Real &&
                      source.role != Role::Call && source.role != Role::Act &&
                      !(source.use && is_wide(*source.use));
  if (!number) {
    diagnostics_.error(datum.mask->place, "mask", "there is no number to be masked");
    return false;
  }
  source.mask = number_of(*datum.mask, Base::Hex);
  return source.mask.has_value();
}

/// A number; for text codes and macros the text.
void Compiler::push(const Source& source) {
  switch (source.role) {
    case Role::Code:
      emit(Op::PushCode).use = *source.use;
      break;
    case Role::Builtin:
      emit(Op::PushBuiltin).index = source.index;
      break;
    case Role::Slot:
      emit(Op::PushSlot).index = source.index;
      break;
    default:
      emit(Op::PushNumber).number = 0;
      break;
  }
  if (source.use && source.role != Role::Code) emit(Op::Narrow).use = *source.use;
  if (source.mask) emit(Op::And).number = *source.mask;
}

/// Pushes what has to be a number; nullopt (and an error) when it is none.
std::optional<Compiler::Source> Compiler::push_number(const Datum& datum,
                                                      std::string_view what_for) {
  Source source;
  if (!resolve(datum, source)) return std::nullopt;
  if (source.base == Base::Text || source.base == Base::Real || source.role == Role::Call ||
      source.role == Role::Act || (source.use && is_wide(*source.use))) {
    diagnostics_.error(datum.place, "no-number",
                       fmt::format("{} must be a number of up to 8 bytes", what_for));
    return std::nullopt;
  }
  push(source);
  return source;
}

void Compiler::print(const Datum& datum) {
  Source source;
  if (!resolve(datum, source)) return;
  if (source.role == Role::Act) return act(static_cast<Act>(source.index));
  if (source.role == Role::Call) {
    emit(Op::Call).index = static_cast<uint32_t>(program_.calls.size());
    Program::CallTarget& call = program_.calls.emplace_back();
    call.hook = static_cast<uint16_t>(source.index);
    call.missing = diagnostics_.make(Diagnostic::Severity::Warning, datum.place, "no-such-template",
                                     fmt::format("there is no template {:04X}", call.hook));
    return;
  }
  if (source.role != Role::Code) return print_macro(source);
  if (!source.mask) {
    Instruction& added = emit(Op::PrintCode);
    added.use = *source.use;
    added.owes = !glued_ && owes(*source.use);
    return;
  }
  push(source);
  Instruction& added = emit(Op::Print);
  added.use = *source.use;
  added.owes = !glued_ && owes(*source.use);
}

void Compiler::print_macro(const Source& source) {
  constexpr auto kFirst = static_cast<uint32_t>(Builtin::D1);
  static_assert(static_cast<uint32_t>(Builtin::D5) == kFirst + 4);
  if (source.role == Role::Builtin && !source.use && !source.mask && source.index >= kFirst &&
      source.index <= kFirst + 4) {
    Instruction& added = emit(Op::PrintWord);
    added.index = source.index - kFirst + 1;
    added.owes = !glued_;
    return;
  }
  push(source);
  Op op = Op::PrintPlain;
  if (source.role == Role::Builtin && is_text(static_cast<Builtin>(source.index)))
    op = Op::PrintText;
  if (source.use) op = is_sized(*source.use) ? Op::PrintSized : Op::Print;
  Instruction& added = emit(op);
  if (source.use) added.use = *source.use;
  added.owes = !glued_ && (!source.use || owes(*source.use));
}

void Compiler::act(Act act) {
  switch (act) {
    case Act::ERROR:
      emit(Op::Error);
      return;
    case Act::BREAK:
      emit(Op::Break);
      return;
    case Act::SKIP:
      emit(Op::Skip);
      return;
    case Act::STOP:
      emit(Op::Stop);
      return;
    case Act::DEFAULT:
      return;  // a call
  }
}

}  // namespace tracewell::report
