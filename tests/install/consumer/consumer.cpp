// Uses the installed library: a function that lives in it, and an error that crosses its border.
#include <cstdio>

#if __has_include(<spdistal/spdistal.hpp>)
#include <spdistal/spdistal.hpp>
#else
#include <spdistal/error.hpp>
#include <spdistal/extent.hpp>
#endif

int main() {
  spdistal::Param n("n");
  n = 10;
  try {
    n = -1;
  } catch (const spdistal::UserError& error) {
    std::printf("spdistal works: %s\n", error.what());
    return 0;
  }
  return 1;
}
