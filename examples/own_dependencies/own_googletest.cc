#include <cstdio>

#include "gtest/own_version.h"

int main() { std::printf("googletest %s\n", OWN_GOOGLETEST_VERSION); }
