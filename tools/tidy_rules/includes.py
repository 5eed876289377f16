"""What a file names of the standard library, it includes: itself, or through headers of ours.

Precompiled headers would hide what is missing until somebody builds without them.
"""

import re

from .tree import Finding

# Headers, and what of theirs is named here. A name under several headers comes with each of them.
NAMES = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count "
                 "count_if equal equal_range fill fill_n find find_if find_if_not inplace_merge "
                 "is_sorted lower_bound max max_element min min_element mismatch none_of "
                 "partition_point pop_heap push_heap remove_if replace reverse rotate search "
                 "set_difference shuffle sort stable_partition stable_sort transform unique "
                 "upper_bound nth_element sort_heap make_heap partition for_each includes",
    "array": "array",
    "atomic": "atomic atomic_ref atomic_thread_fence atomic_signal_fence",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_one countr_zero endian "
           "has_single_bit popcount rotl rotr",
    "bitset": "bitset",
    "charconv": "chars_format from_chars to_chars",
    "condition_variable": "condition_variable",
    "csignal": "raise sig_atomic_t signal",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
    "cstdio": "FILE fclose fflush fgets fopen fprintf fwrite perror snprintf sscanf",
    "cstdlib": "_Exit abort atof atoi free getenv malloc strtol strtoull system",
    "cstring": "memchr memcmp memcpy memmove memset strchr strerror strlen strstr",
    "ctime": "mktime strftime tm",
    "deque": "deque",
    "filesystem": "filesystem",
    "fstream": "fstream ifstream ofstream",
    "functional": "function",
    "future": "async future launch",
    "iostream": "cin cout cerr",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "make_shared make_unique make_unique_for_overwrite shared_ptr unique_ptr weak_ptr",
    "mutex": "call_once lock_guard mutex once_flag scoped_lock unique_lock",
    "numeric": "accumulate iota",
    "optional": "nullopt optional",
    "queue": "priority_queue queue",
    "random": "mt19937 mt19937_64 uniform_int_distribution",
    "regex": "regex sregex_iterator smatch",
    "set": "multiset set",
    "span": "span",
    "sstream": "istringstream ostringstream stringstream",
    "string": "stoul stoull string to_string",
    "string_view": "string_view",
    "thread": "jthread this_thread thread",
    "tuple": "tuple tie",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "get_if holds_alternative variant visit",
    "vector": "vector",
}
# Headers that promise another's names as well, or could not be used without.
GIVES = {
    "CLI/CLI.hpp": ["functional", "memory", "string", "vector"],
    "gtest/gtest.h": ["memory", "string", "vector"],
    "nlohmann/json.hpp": ["map", "memory", "string", "vector"],
    "fmt/chrono.h": ["fmt/format.h"],
    "fmt/ranges.h": ["fmt/format.h"],
    "stdint.h": ["cstdint"],
    "filesystem": ["string"],
    "fstream": ["string"],
    "sstream": ["string"],
    "regex": ["string"],
    "string": ["string_view"],
    "thread": ["atomic"],
}
HEADERS = {}
for _header, _names in {**NAMES, "fmt/format.h": "fmt::"}.items():
    for _name in _names.split():
        HEADERS.setdefault(_name, set()).add(_header)

_INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
# The numbers of a width go without std:: here.
_NAMED = re.compile(r"\bstd::(?:ranges::)?(\w+)|(?<!::)\b(u?int(?:8|16|32|64|ptr)_t)\b"
                    r"|\b(fmt::)")
_NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


class _Reach:
    """The headers of others that a file includes, by way of ours too."""

    def __init__(self, tree):
        self.tree = tree
        self.known = {}

    def of(self, path):
        if path in self.known:
            return self.known[path]
        self.known[path] = found = set()  # so that a ring of headers ends
        for kind, name in _INCLUDE.findall(self.tree.text(path)):
            if kind == "<":
                found.update([name, *GIVES.get(name, [])])
                continue
            beside = path.rpartition("/")[0] + "/"
            for root in beside, "src/", "include/", "tests/", "fuzz/":
                if self.tree.has(root + name):
                    found |= self.of(root + name)
                    break
        return found


def included(tree):
    """std::NAME, and the header that the manual gives for it."""
    reach = _Reach(tree)
    for path in tree.under(("src/", "tests/", "fuzz/"), ".cc", ".h"):
        if path.startswith("tests/inferiors/"):
            continue  # nothing is precompiled for them
        has = reach.of(path)
        code = _NO_CODE.sub(lambda m: "\n" * m.group().count("\n"), tree.text(path))
        told = set()
        for match in _NAMED.finditer(code):
            name = match.group(1) or match.group(2) or match.group(3)
            headers = HEADERS.get(name, set())
            if headers and not headers & has and not headers & told:
                told |= headers
                line = code.count("\n", 0, match.start()) + 1
                yield Finding(path, line, f"{match.group()} wants "
                              f"#include <{'> or <'.join(sorted(headers))}>")


RULES = {"included": included}
