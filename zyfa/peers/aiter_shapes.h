#ifndef ZYFA_PEERS_AITER_SHAPES_H_
#define ZYFA_PEERS_AITER_SHAPES_H_

#include <vector>

#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"

namespace zyfa::peers {

// Problems that exercise a kernel: the shapes of cdna4-isa 6.5 for its family;
// with `all` also partial tiles, several heads and batches, shared key heads.
std::vector<AiterProblem> AiterShapes(const AiterKernel& kernel, bool all);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_AITER_SHAPES_H_
