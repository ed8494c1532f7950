// Compiling, keeping and loading kernels, and all that can go wrong with it.
#include "codegen/jit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "codegen/files.hpp"
#include "spdistal/error.hpp"
#include "unit/ir/kernels.hpp"

namespace spdistal::testing {
namespace {

namespace fs = std::filesystem;
using codegen::Jit;
using codegen::JitOptions;
using codegen::Kernel;
using ::testing::HasSubstr;

/// out[0] = in[0] + `more`: a kernel of its own for each number.
Function adder(int64_t more) {
  FunctionBuilder f("adder");
  Var in = f.array("in", 0, ScalarType::Int64), out = f.array("out", 1, ScalarType::Int64, Access::Write);
  f.store(out, 0, load(in, 0) + more);
  return f.build();
}

int64_t result(const Kernel& kernel) {
  std::vector<int64_t> in{40}, out{0};
  CallData call;
  call.array(CallData::view(in));
  call.array(CallData::view(out));
  kernel(call.get());
  return out[0];
}

class JitTest : public ::testing::Test {
 protected:
  codegen::PrivateFolder folder_{"/tmp"};
  std::string cache_ = folder_.file("cache");
  std::vector<std::string> notes_;

  JitOptions options() {
    JitOptions o;
    o.cache_folder = cache_;
    o.note = [this](const std::string& text) { notes_.push_back(text); };
    return o;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(cache_)) out.push_back(entry.path().string());
    return out;
  }
};

TEST_F(JitTest, CompilesAKernelAndKeepsIt) {
  Jit jit(options());
  Kernel kernel = jit.load(adder(2));
  EXPECT_TRUE(kernel.compiled());
  EXPECT_EQ(result(kernel), 42);
  ASSERT_EQ(files().size(), 1u);
  struct stat info;
  ASSERT_EQ(stat(cache_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(JitTest, FindsAKernelOfAnEarlierProcessWithoutCompiling) {
  Jit(options()).load(adder(2));
  JitOptions again = options();
  again.temporary = folder_.file("nowhere");  // compiling would fail
  double best = 1;
  for (int64_t turn = 0; turn < 5; turn++) {
    auto start = std::chrono::steady_clock::now();
    Jit jit(again);
    Kernel kernel = jit.load(adder(2));
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    EXPECT_EQ(result(kernel), 42);
  }
  EXPECT_LT(best, 0.005);
  EXPECT_THROW(Jit(again).load(adder(3)), SystemError);
}

TEST_F(JitTest, LoadsEachKernelOncePerProcess) {
  Jit jit(options());
  jit.load(adder(2));
  fs::remove_all(cache_);
  EXPECT_EQ(result(jit.load(adder(2))), 42);
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(JitTest, KeepsKernelsApartByTextFlagsAndCompiler) {
  Jit jit(options());
  JitOptions other = options();
  other.flags.push_back("-g");
  EXPECT_NE(jit.key("a"), jit.key("b"));
  EXPECT_NE(jit.key("a"), Jit(other).key("a"));
  other = options();
  other.compiler = "/bin/false";
  EXPECT_NE(jit.key("a"), Jit(other).key("a"));
  EXPECT_EQ(jit.key("a"), Jit(options()).key("a"));
}

TEST_F(JitTest, CompilesAnewWhatWasDamaged) {
  Jit(options()).load(adder(2));
  std::string file = files().at(0), whole = *codegen::read_file(file);
  std::vector<std::string> damaged{"garbage", "", whole.substr(0, whole.size() / 2), whole + "x"};
  damaged.push_back(whole);
  damaged.back()[whole.size() / 2] ^= 1;
  for (const std::string& bytes : damaged) {
    fs::remove(file);
    ASSERT_TRUE(codegen::write_file(file, bytes));
    EXPECT_EQ(result(Jit(options()).load(adder(2))), 42);
    EXPECT_EQ(codegen::read_file(file)->size(), whole.size());
  }
}

TEST_F(JitTest, WhatWasUsedLeastRecentlyMakesRoom) {
  Jit(options()).load(adder(1));
  JitOptions small = options();
  small.cache_bytes = 5 * int64_t(fs::file_size(files().at(0))) / 2;  // two kernels
  Jit(small).load(adder(2));
  Jit(small).load(adder(1));  // found
  Jit(small).load(adder(3));
  EXPECT_EQ(files().size(), 2u);
  small.temporary = folder_.file("nowhere");  // compiling would fail
  EXPECT_EQ(result(Jit(small).load(adder(1))), 41);
  EXPECT_EQ(result(Jit(small).load(adder(3))), 43);
  EXPECT_THROW(Jit(small).load(adder(2)), SystemError);
}

TEST_F(JitTest, BytesThatAreReadCountAsUsed) {
  codegen::Cache all(cache_, 1 << 20, {});
  std::string bytes(1000, 'x');
  for (const char* key : {"first", "second"}) ASSERT_TRUE(all.publish(key, bytes));
  EXPECT_EQ(all.bytes("first"), bytes);
  codegen::Cache small(cache_, 5 * int64_t(fs::file_size(files().at(0))) / 2, {});
  ASSERT_TRUE(small.publish("third", bytes));
  EXPECT_TRUE(all.bytes("first"));
  EXPECT_FALSE(all.bytes("second"));
}

TEST_F(JitTest, AKernelLargerThanTheLimitIsKeptAlone) {
  JitOptions tiny = options();
  tiny.cache_bytes = 1;
  EXPECT_EQ(result(Jit(tiny).load(adder(1))), 41);
  EXPECT_EQ(result(Jit(tiny).load(adder(2))), 42);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(JitTest, ALimitOfNoBytesKeepsNothing) {
  JitOptions none = options();
  none.cache_bytes = 0;
  EXPECT_EQ(result(Jit(none).load(adder(1))), 41);
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(JitTest, WhatProcessesLeftUnfinishedIsRemovedOnceItIsOld) {
  Jit(options()).load(adder(1));
  std::string fresh = cache_ + "/fresh.tmp", old = cache_ + "/old.tmp";
  ASSERT_TRUE(codegen::write_file(fresh, "x") && codegen::write_file(old, "x"));
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  JitOptions tiny = options();
  tiny.cache_bytes = 1;
  Jit(tiny).load(adder(2));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_FALSE(fs::exists(old));
}

TEST_F(JitTest, ProcessesThatRemoveEachOthersKernelsAllComputeRight) {
  std::vector<pid_t> children;
  for (int64_t process = 0; process < 3; process++) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      JitOptions tiny = options();
      tiny.cache_bytes = 1;
      bool right = true;
      for (int64_t turn = 0; turn < 2; turn++)
        for (int64_t k = 0; k < 3; k++) {
          int64_t more = (k + process) % 3;
          right &= result(Jit(tiny).load(adder(more))) == 40 + more;
        }
      _exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(JitTest, SaysWhatTheCompilerSaid) {
  JitOptions broken = options();
  broken.flags = {"--no-such-flag"};
  try {
    Jit(broken).load(adder(2));
    FAIL() << "it should have failed";
  } catch (const SystemError& e) {
    EXPECT_THAT(e.command(), HasSubstr("--no-such-flag"));
    EXPECT_THAT(e.log(), HasSubstr("no-such-flag"));
    EXPECT_THAT(e.what(), HasSubstr("adder"));
  }
  broken = options();
  broken.compiler = "/bin/false";
  Jit jit(broken);
  EXPECT_THROW(jit.load(adder(2)), SystemError);
  EXPECT_THROW(jit.load(adder(2)), SystemError) << "a failure is not remembered";
}

TEST_F(JitTest, GivesACompilerTheFlagsThatItKnows) {
  for (const char* said : {"Debian clang version 14.0.6", "g++ (Debian 12.2.0) 12.2.0"}) {
    std::string script = folder_.file("compiler");
    std::ofstream(script) << "#!/bin/sh\necho '" << said << "'\n";  // to whatever it is asked
    fs::permissions(script, fs::perms::owner_all);
    JitOptions options = this->options();
    options.compiler = script;
    options.gnu_flags = {"--of-gnu"}, options.clang_flags = {"--of-clang"};
    bool clang = std::string(said).find("clang") != std::string::npos;
    try {
      Jit(options).load(adder(clang));
      FAIL() << "nothing was compiled";
    } catch (const SystemError& e) {
      EXPECT_THAT(e.command(), HasSubstr(clang ? "--of-clang" : "--of-gnu"));
      EXPECT_THAT(e.command(), ::testing::Not(HasSubstr(clang ? "--of-gnu" : "--of-clang")));
    }
  }
}

TEST_F(JitTest, RefusesWhatACompilerMadeThatDidNotCompile) {
  std::string script = folder_.file("compiler");
  std::ofstream(script)
      << "#!/bin/sh\nwhile [ $# -gt 0 ] && [ \"$1\" != -o ]; do shift; done\n[ $# -eq 0 ] || echo garbage > \"$2\"\n";
  fs::permissions(script, fs::perms::owner_all);
  JitOptions odd = options();
  odd.compiler = script;
  EXPECT_THROW(Jit(odd).load(adder(2)), SystemError);
}

// The names of the OpenMP runtimes of g++, clang and Intel's compilers that are in this process.
std::set<std::string> openmp_runtimes() {
  std::set<std::string> out;
  auto collect = [](dl_phdr_info* info, size_t, void* names) {
    std::string name = fs::path(info->dlpi_name).filename().string();
    for (const char* known : {"libgomp.", "libomp.", "libiomp5."})
      if (name.starts_with(known)) static_cast<std::set<std::string>*>(names)->insert(name);
    return 0;
  };
  dl_iterate_phdr(collect, &out);
  return out;
}

TEST_F(JitTest, KernelsShareTheOpenMPOfTheLibrary) {
  FunctionBuilder f("shares");
  Var in = f.array("in", 0, ScalarType::Int64), out = f.array("out", 1, ScalarType::Int64, Access::Write);
  f.parallel("t", int64(1), [&](const Var& t) { f.store(out, t, load(in, t) + 2); });
  Kernel kernel = Jit(options()).load(f.build());
  ASSERT_TRUE(kernel.compiled());
  EXPECT_EQ(result(kernel), 42);
  EXPECT_THAT(openmp_runtimes(), ::testing::SizeIs(1));
}

TEST_F(JitTest, InterpretsWithoutACompilerAndSaysSoOnce) {
  JitOptions none = options();
  none.compiler = "no-such-compiler";
  Jit jit(none);
  EXPECT_FALSE(jit.compiles());
  for (int64_t more : {2, 3}) {
    Kernel kernel = jit.load(adder(more));
    EXPECT_FALSE(kernel.compiled());
    EXPECT_EQ(result(kernel), 40 + more);
    EXPECT_THAT(kernel.text(), HasSubstr("in[0] + "));
  }
  EXPECT_THAT(notes_, ::testing::ElementsAre(HasSubstr("no-such-compiler")));
}

TEST_F(JitTest, DoesWithoutACacheThatCannotBeUsed) {
  auto expect_note = [&](const std::string& folder, const std::string& why) {
    notes_.clear();
    JitOptions o = options();
    o.cache_folder = folder;
    Jit jit(o);
    EXPECT_EQ(result(jit.load(adder(2))), 42) << folder;
    EXPECT_EQ(result(jit.load(adder(3))), 43) << folder;
    EXPECT_THAT(notes_, ::testing::ElementsAre(HasSubstr(why)));
  };
  ASSERT_TRUE(codegen::write_file(cache_, "not a folder"));
  expect_note(cache_, "not a folder");
  expect_note("/proc/spdistal", "");  // nothing can be made there
  std::string open = folder_.file("open");
  fs::create_directory(open);
  fs::permissions(open, fs::perms::all);
  expect_note(open, "others may write");
  if (geteuid() == 0) {
    std::string foreign = folder_.file("foreign");
    fs::create_directory(foreign);
    ASSERT_EQ(chown(foreign.c_str(), 1, 1), 0);
    expect_note(foreign, "somebody else");
  }
}

TEST_F(JitTest, DoesWithoutACacheThatFailsLater) {
  // As on a full disk: the folder was good, writing to it is not.
  Jit jit(options());
  fs::remove_all(cache_);
  ASSERT_TRUE(codegen::write_file(cache_, "in the way"));
  EXPECT_EQ(result(jit.load(adder(2))), 42);
}

TEST_F(JitTest, LeavesNothingBehindInTheTemporaryFolder) {
  std::string temporary = folder_.file("temporary");
  fs::create_directory(temporary);
  JitOptions o = options();
  o.temporary = temporary;
  Jit(o).load(adder(2));
  o.cache_folder.clear();
  EXPECT_EQ(result(Jit(o).load(adder(3))), 43);
  o.flags = {"--no-such-flag"};
  EXPECT_THROW(Jit(o).load(adder(4)), SystemError);
  EXPECT_TRUE(fs::is_empty(temporary));
}

TEST_F(JitTest, ServesManyThreadsAtOnce) {
  Jit jit(options());
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 6; t++) threads.emplace_back([&, t] { right += result(jit.load(adder(t % 2))) == 40 + t % 2; });
  for (auto& t : threads) t.join();
  EXPECT_EQ(right, 6);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(JitTest, ServesManyProcessesAtOnce) {
  std::vector<pid_t> children;
  for (int c = 0; c < 5; c++) {
    pid_t child = fork();
    if (child == 0) {
      int status = 1;
      try {
        status = result(Jit(options()).load(adder(2))) == 42 ? 0 : 2;
      } catch (...) {}
      _exit(status);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files().size(), 1u) << "one kernel, no temporary files";
}

TEST_F(JitTest, PassesKernelsOnAsBytes) {
  Jit here(options());
  here.load(adder(2));
  auto bytes = here.cache().bytes(here.key(here.load(adder(2)).text()));
  ASSERT_TRUE(bytes);
  JitOptions elsewhere = options();
  elsewhere.cache_folder = folder_.file("elsewhere");
  elsewhere.temporary = folder_.file("nowhere");
  Jit there(elsewhere);
  ASSERT_TRUE(there.cache().publish(there.key(here.load(adder(2)).text()), *bytes));
  EXPECT_EQ(result(there.load(adder(2))), 42);
}

}  // namespace
}  // namespace spdistal::testing
