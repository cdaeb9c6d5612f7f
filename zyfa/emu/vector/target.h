#ifndef ZYFA_EMU_VECTOR_TARGET_H_
#define ZYFA_EMU_VECTOR_TARGET_H_

// The sources with loops over lanes are compiled twice, into two namespaces:
// once for any machine, and once, with ZYFA_VECTOR_AVX2 defined, for x86-64
// with AVX2 and FMA. Both give the same bits; handlers.cc picks one when the
// program runs.
//
// Code of one set must never be shared with the other, so every file with
// inline code of this kind says ZYFA_VECTOR_TARGET_BEGIN() after its includes
// and ZYFA_VECTOR_TARGET_END() at its end, and between the two opens the
// namespace zyfa::emu::ZYFA_VECTOR_TARGET.
#if defined(ZYFA_VECTOR_AVX2)
#define ZYFA_VECTOR_TARGET valu_avx2
#else
#define ZYFA_VECTOR_TARGET valu_baseline
#endif

#if !defined(ZYFA_VECTOR_AVX2) || !defined(__x86_64__)
#define ZYFA_VECTOR_TARGET_BEGIN() static_assert(true, "")
#define ZYFA_VECTOR_TARGET_END() static_assert(true, "")
#elif defined(__clang__)
#define ZYFA_VECTOR_PRAGMA(text) _Pragma(#text)
#define ZYFA_VECTOR_TARGET_BEGIN()                                             \
  ZYFA_VECTOR_PRAGMA(clang attribute push(__attribute__((target("avx2,fma"))), \
                                          apply_to = function))                \
  static_assert(true, "")
#define ZYFA_VECTOR_TARGET_END() \
  ZYFA_VECTOR_PRAGMA(clang attribute pop) static_assert(true, "")
#else
#define ZYFA_VECTOR_TARGET_BEGIN() \
  _Pragma("GCC push_options")      \
      _Pragma("GCC target(\"avx2,fma\")") static_assert(true, "")
#define ZYFA_VECTOR_TARGET_END() \
  _Pragma("GCC pop_options") static_assert(true, "")
#endif

#endif  // ZYFA_EMU_VECTOR_TARGET_H_
