#ifndef ZYFA_CLI_WORKING_DIRECTORY_H_
#define ZYFA_CLI_WORKING_DIRECTORY_H_

namespace zyfa::cli {

// Goes back to where the user typed the command, so that relative paths mean
// what they say: 'bazel run' starts programs in a directory of its own and
// leaves the shell's in BUILD_WORKING_DIRECTORY. Does nothing outside of 'bazel
// run'. For the start of main(), before there are threads.
void EnterUserDirectory();

}  // namespace zyfa::cli

#endif  // ZYFA_CLI_WORKING_DIRECTORY_H_
