#include "process/uncaught.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "runtime/transport/agree.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

constexpr unsigned others_wait =
    2;  // seconds: long enough for the first rank to say it, and for the launcher to end this one

int this_rank = 0;
std::terminate_handler before = nullptr;

enum class Heard : uint8_t { ByAll, Here };

[[noreturn]] void end(const std::exception& error, int status, Heard heard) {
  if (this_rank != 0) sleep(others_wait);
  if (this_rank == 0 || heard == Heard::Here) std::fprintf(stderr, "%s\n", error.what());
  std::fflush(stderr);
  _exit(status);
}

[[noreturn]] void at_uncaught() {
  if (std::exception_ptr error = std::current_exception()) {
    Heard heard = Heard::Here;
    try {
      std::rethrow_exception(error);
    } catch (const runtime::Agreed&) { heard = Heard::ByAll; } catch (...) {
    }
    try {
      std::rethrow_exception(error);
    } catch (const UserError& e) { end(e, 2, heard); } catch (const SystemError& e) {
      end(e, 3, heard);
    } catch (const InternalError& e) { end(e, 3, heard); } catch (...) {
    }
  }
  if (before) before();
  std::abort();
}

}  // namespace

void say_uncaught_once(int rank) {
  this_rank = rank;
  if (std::terminate_handler installed = std::set_terminate(at_uncaught); installed != at_uncaught) before = installed;
}

}  // namespace spdistal
