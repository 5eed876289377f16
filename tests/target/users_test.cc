#include "target/users.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tracewell::target {

OpenFolder::OpenFolder() {
  std::string name = testing::TempDir() + "target.XXXXXX";
  path_ = mkdtemp(name.data());
  EXPECT_EQ(::chmod(path_.c_str(), 0755), 0);
}

OpenFolder::~OpenFolder() { std::filesystem::remove_all(path_); }

std::string OpenFolder::take(const std::string& inferior_name) {
  const std::string to = at(inferior_name);
  std::filesystem::copy_file(inferior(inferior_name), to);
  EXPECT_EQ(::chmod(to.c_str(), 0755), 0);
  if (is_root()) {
    EXPECT_EQ(::chown(to.c_str(), kOtherUser, kOtherUser), 0);
  }
  return to;
}

std::string OpenFolder::write(const std::string& name, const std::string& text, mode_t mode) {
  std::ofstream(at(name)) << text;
  EXPECT_EQ(::chmod(at(name).c_str(), mode), 0);
  return at(name);
}

void OpenFolder::link(const std::string& to, const std::string& name) {
  std::filesystem::remove(at(name));
  std::filesystem::create_symlink(to, at(name));
  if (is_root()) {
    EXPECT_EQ(::lchown(at(name).c_str(), kOtherUser, kOtherUser), 0);
  }
}

OtherProgram::OtherProgram(std::vector<std::string> argv, std::vector<std::string> environment) {
  const auto words_of = [](std::vector<std::string>& texts) {
    std::vector<char*> words;
    for (std::string& text : texts) words.push_back(text.data());
    words.push_back(nullptr);
    return words;
  };
  const std::vector<char*> words = words_of(argv), variables = words_of(environment);
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    if (is_root() && (setgid(kOtherUser) != 0 || setuid(kOtherUser) != 0)) _exit(125);
    execve(words[0], words.data(), variables.data());
    _exit(126);
  }
  close(ends[1]);
  for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';) said_ += c;
  close(ends[0]);
}

OtherProgram::~OtherProgram() {
  ::kill(static_cast<pid_t>(pid_), SIGKILL);
  waitpid(static_cast<pid_t>(pid_), nullptr, 0);
}

}  // namespace tracewell::target
