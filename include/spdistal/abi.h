/* What a kernel receives: plain C structs, the only header that generated text includes. It includes nothing itself, so
 * that a cold compile takes a fraction of a second, and it reads the same in C, C++ and CUDA.
 *
 * A kernel is `int kernel(spd_call* call)`. It runs on views of pieces: each piece is a small tensor of its own with
 * global coordinates and local positions. What is known when compiling is not here but in the kernel's text: the order
 * and the levels of a tensor, the element types of its values, the widths of its index arrays.
 *
 * Always holds:
 *  - arrays do not overlap, except that inputs may be the same array twice;
 *  - the host owns all memory: arrays, results (grown by `resize`) and scratch (`take` and `give`);
 *  - a kernel changes nothing but the elements of output arrays and, by `resize`, their data and count.
 */
#ifndef SPDISTAL_ABI_H
#define SPDISTAL_ABI_H

/* Counts every change of the structs below; part of the key under which compiled kernels are kept. */
#define SPD_ABI_VERSION 8

/* How many arrays a level may have. */
#define SPD_LEVEL_ARRAYS 3

#ifdef __CUDACC_RTC__
typedef int int32_t;
typedef long long int64_t;
#else
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
#endif
#ifndef INT64_MAX
#define INT64_MAX 9223372036854775807
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* An array of elements of a type that the kernel knows. */
typedef struct spd_array {
  void* data;
  int64_t count; /* elements there are: what accesses are checked against where they are checked */
  void* owner;   /* the host's own; kernels pass it along */
} spd_array;

/* One level of a tensor's coordinate tree, a view of it.
 *
 *   Dense        coordinates [lo, lo + extent); coordinate i below parent position p has position p * stride + (i - lo).
 *                A compact level has stride == extent; a sub-rectangle of a larger dense array has the larger one's,
 *                with the vals pointer moved to its first element.
 *   Compressed   pos, crd: the children of parent position p are positions [pos[p], pos[p + 1]), with coordinates crd[...].
 *   Singleton    crd: position p has the one coordinate crd[p].
 *   Hashed       pos, crd, table: as Compressed, in any order; the table tells where a coordinate is.
 *
 * The arrays stand in the order in which the level names them; the kernel knows which is which.
 *
 * begin and end bound the positions of this level that a position loop visits: the piece is the split, or a part of it.
 * Rows [lo, hi) of a larger piece are the same level with pos moved by lo and [begin, end) = [pos[lo], pos[hi]): nothing
 * else moves, so that crd and vals are shared with the larger piece. */
typedef struct spd_level {
  int64_t extent, lo, stride;
  int64_t begin, end;
  spd_array arrays[SPD_LEVEL_ARRAYS];
} spd_level;

/* A view of one piece of one tensor, as one access sees it: two accesses to one tensor are two of these. */
typedef struct spd_tensor {
  spd_level* levels; /* in storage order, outermost first */
  spd_array vals;
} spd_tensor;

/* What the host offers to kernels. A host derives its own struct from this one. */
typedef struct spd_context {
  int64_t threads; /* how many threads a parallel kernel should use */
  int64_t shares;  /* into how many shares it divides its work for them: who is done takes the next */
  int64_t caches;  /* bytes: results that are larger may be written past the caches */

  /* Makes room for `bytes` in a result array and returns the new data, which it also stores in the array with `count`.
   * What was there is lost. Called by one thread only, outside of parallel regions. */
  void* (*resize)(struct spd_context*, spd_array* array, int64_t count, int64_t bytes);

  /* Scratch memory, aligned to 64 bytes, for any thread at any time; `zeroed` asks for zeros. Never null: where
   * there is none left it throws. Memory that was given back is reused, by later calls too. */
  void* (*take)(struct spd_context*, int64_t bytes, int zeroed);
  void (*give)(struct spd_context*, void* memory); /* null: nothing */

  /* Puts a share's part of a result array, `count` elements of `bytes` each, behind the parts of the shares before it. Each
   * of the shares calls it once, from any thread and in any order, and none waits for another. The host takes `*part`,
   * which came from `take`, sets it to null, and keeps it until its place is known. When all have called, all is in its
   * place. */
  void (*append)(struct spd_context*, spd_array* array, int64_t shares, int64_t share, void** part, int64_t count,
                 int64_t bytes);

  /* What is thrown inside of a parallel region may not leave it. Whoever catches it calls `fail`, inside of the handler, from any
   * thread; others ask by `failed` whether anything is still worth doing; after the region `rethrow` throws what the first
   * of them caught, if there was one, and what was appended by then is given up. */
  void (*fail)(struct spd_context*);
  int (*failed)(struct spd_context*);
  void (*rethrow)(struct spd_context*);
} spd_context;

/* One call of one kernel. */
typedef struct spd_call {
  spd_context* context;
  spd_tensor* tensors;          /* one per access, outputs first, as the kernel's parameter list says */
  spd_array* arrays;            /* further arrays: renumbered coordinates of located accesses, tables */
  const int64_t* scalars;       /* sizes and other whole numbers that stay symbolic */
  const void* const* arguments; /* where each number of the host stands, of a type that the kernel knows */
} spd_call;

/* Returns 0, or another code where it cannot do what it is for: then it has changed nothing. */
typedef int spd_kernel(spd_call* call);

#ifdef __cplusplus
}
#endif
#endif
