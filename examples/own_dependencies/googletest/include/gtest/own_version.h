#ifndef GTEST_OWN_VERSION_H_
#define GTEST_OWN_VERSION_H_

#define OWN_GOOGLETEST_VERSION "of the importer"

#endif  // GTEST_OWN_VERSION_H_
