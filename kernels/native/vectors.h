// Vectors of float64 as wide as the target has them, by the vector extensions of GCC and Clang.
#pragma once
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
constexpr int LANES = 8;
#elif defined(__AVX__)
constexpr int LANES = 4;
#else
constexpr int LANES = 2;  // SSE2, NEON; elsewhere the compiler takes them apart
#endif

#define INLINE static inline __attribute__((always_inline))

typedef double Vector __attribute__((vector_size(8 * LANES)));
typedef long long Bits __attribute__((vector_size(8 * LANES)));

INLINE Vector all(double value) { return value - Vector{}; }
INLINE Vector absolute(Vector a) { return (Vector)((Bits)a & 0x7fffffffffffffffLL); }
INLINE Vector unit(Vector a) { return (Vector)(((Bits)a & (-0x7fffffffffffffffLL - 1)) | (Bits)all(1.0)); }  // +1 or -1, with its sign bit

// Mask: the lanes that have a property. AVX-512 keeps one bit a lane for it; elsewhere all bits of a lane are equal.
#if defined(__AVX512F__)
typedef __mmask8 Mask;
INLINE Mask less(Vector a, Vector b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ); }
INLINE Mask at_most(Vector a, Vector b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LE_OQ); }
INLINE Mask equal(Vector a, Vector b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ); }
INLINE Mask no(Mask m) { return (Mask)~m; }
INLINE bool everywhere(Mask m) { return m == 0xff; }
INLINE Vector choose(Mask m, Vector a, Vector b) { return (Vector)_mm512_mask_blend_pd(m, (__m512d)b, (__m512d)a); }
INLINE Vector larger(Vector a, Vector b) { return (Vector)_mm512_max_pd((__m512d)a, (__m512d)b); }
#else
typedef Bits Mask;
INLINE Mask less(Vector a, Vector b) { return a < b; }
INLINE Mask at_most(Vector a, Vector b) { return a <= b; }
INLINE Mask equal(Vector a, Vector b) { return a == b; }
INLINE Mask no(Mask m) { return ~m; }
INLINE bool everywhere(Mask m) {
#if defined(__AVX__)
  return _mm256_movemask_pd((__m256d)m) == 0xf;
#elif defined(__SSE2__)
  return _mm_movemask_pd((__m128d)m) == 0x3;
#else
  return m[0] & m[1];
#endif
}
INLINE Vector choose(Mask m, Vector a, Vector b) { return m ? a : b; }
INLINE Vector larger(Vector a, Vector b) { return a > b ? a : b; }
#endif
