// Kernel IR: what one kernel does, as typed trees. It knows arrays and numbers, nothing of tensors; C++ and CUDA are
// printed from it, and `interpret` runs it. `verify` is the executable form of what is said here.
//
// Semantics
//  - A value is a scalar of one of seven types, or a short vector of them (lanes), computed with lane by lane. Operands
//    of an operation have the same type: conversions are written out as Cast. Arithmetic is that of C++: integer
//    division truncates, integers must not overflow, floats are never reassociated. Bool has And, Or, Not, Eq, Ne only.
//  - A variable is a Symbol with a type, declared once on any path (Declare, Allocate, For, Parallel, a parameter)
//    before it is used, and known to the end of the enclosing Block. Only variables declared Mutable are assigned.
//  - An array is a variable of array type: a parameter or an Allocate. Indices (int32 or int64) count elements from 0
//  and
//    stay within the array. Different arrays do not overlap, unless both are only read.
//  - And, Or and Select evaluate only the operands they need. Expressions change nothing.
//  - For runs its body for var = lo, lo + step, … while var < hi; lo, hi and step are evaluated once, step is positive.
//      Serial     one after the other
//      Vector     in any order, several at once: no iteration uses what another wrote, except reductions: updates
//                 x = x op e (op: Add, Sub, Mul, Min, Max, And, Or) of a mutable scalar from outside
//                 that is not used otherwise
//      GPUBlock   all at once, by the blocks of a grid: one launch
//      GPUThread  all at once, by the threads of a block; or
//      GPUWarp    all at once, by the warps of a block, and directly in it one
//      GPULane    from 0 to 32: the threads of each warp
//    `unroll` copies of the body are made per turn; 0 stands for all of them. Where there are several, what they add to one
//    variable may be added up apart.
//  - Threads of a GPU have for themselves what they declare and allocate, except what is Shared by those of a block. An
//    element that one of them stores another uses only behind a Barrier that both came to (of the block, or of the warp
//    where both are of one), or both by atomic stores, or both by Claim; across blocks by these alone.
//    All threads come to a Barrier of the block or none, all lanes of a warp to its Barriers and WarpVotes. Shuffle,
//    WarpReduce and WarpScan work on groups of `width` lanes, 2, 4, … 32 that follow each other: all of a group come to
//    them or none.
//  - Parallel runs its body for share = 0 … count-1, at the same time in compiled code: threads take one share after the
//    other. Bodies share what was declared outside: they may read it, and store to elements that no other body uses, or
//    by atomic ones. They assign no outer variable, do not wait for each other, and hold no further Parallel and no Resize.
//    What `setup` allocates each thread has for itself; a body finds there what the thread's bodies before it left.
//  - Allocate makes an array that lives to the end of the enclosing Block. Its elements are zero, or, Uninitialised,
//  must
//    be stored before they are loaded.
//  - Define names a part of the function, outside of loops, branches and Parallel, and does nothing by itself: Perform, which
//    may stand anywhere behind it but in another such part, runs it. Its `values` are constants (bools: literals); `places`, arrays
//    and mutable variables, stand for those that it is run with, which are all different. It reads what was declared before it,
//    and changes nothing but its places and what it declares. It holds no Parallel, Resize, Shrink, Append and Return.
//  - Return stands outside of loops and of Parallel; a function that comes to its end returns 0.
//  - Resize gives a result array (a parameter) room for `count` elements; what it held is lost. Shrink keeps the first
//    `count` of its elements.
//  - Append stands in Parallel and takes what a share has allocated: elements [0, count) of `from`, which is lost, come to
//    stand in the result array `to` behind those of the shares before, and are there when Parallel ends. Every share
//    appends to an array once or none does.
#pragma once
#include <functional>

#include "base/node.hpp"
#include "ir/type.hpp"
#include "spdistal/symbol.hpp"

namespace spdistal::ir {

// clang-format off
struct Var; struct Literal; struct Unary; struct Binary; struct Select; struct Load; struct Cast; struct Call;
struct Search; struct Broadcast; struct Shuffle; struct WarpReduce; struct WarpScan; struct WarpVote;
struct Declare; struct Assign; struct Store; struct Prefetch; struct For; struct While; struct If; struct Block;
struct Comment; struct Allocate; struct Sort; struct Break; struct Return; struct Parallel; struct Resize; struct Shrink;
struct Append; struct Define; struct Perform; struct Barrier; struct Claim;

struct ExprKinds : Kinds<Var, Literal, Unary, Binary, Select, Load, Cast, Call, Search, Broadcast, Shuffle,
                         WarpReduce, WarpScan, WarpVote> {};
struct StmtKinds : Kinds<Declare, Assign, Store, Prefetch, For, While, If, Block, Comment, Allocate, Sort, Break,
                         Return, Parallel, Resize, Shrink, Append, Define, Perform, Barrier, Claim> {
  using Trees = Families<ExprKinds, StmtKinds>;
};
using Expr = Handle<ExprKinds>;
using Stmt = Handle<StmtKinds>;

enum class UnaryOp : uint8_t { Neg, Not };
enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, Mod, Min, Max, Lt, Le, Gt, Ge, Eq, Ne, And, Or };
enum class Math : uint8_t { Sqrt, Cbrt, Abs, Exp, Expm1, Log, Log1p, Log2, Log10, Pow, Sin, Cos, Tan, Asin, Acos, Atan, Atan2,
                            Sinh, Cosh, Tanh, Erf, Floor, Ceil, Round, Conj, Real, Imag, Quotient };  // see math.hpp
enum class Bound : uint8_t { Lower, Upper };  // the first element >= value, or > value
enum class Mutability : uint8_t { Const, Mutable };
enum class StoreMode : uint8_t { Set, Add, Stream, AtomicAdd, AtomicMul, AtomicMin, AtomicMax, AtomicOr, AtomicAnd };  // Stream: Set, past the caches where the array is large
enum class LoopKind : uint8_t { Serial, Vector, GPUBlock, GPUThread, GPUWarp, GPULane };
enum class Fill : uint8_t { Zeroed, Uninitialised };
enum class MemorySpace : uint8_t { Private, Shared };  // Shared: by the threads of a GPU block
enum class Peer : uint8_t { Lane, Up, Down, Xor };  // whose value a lane takes
enum class Vote : uint8_t { Any, All, Count };
enum class BarrierOf : uint8_t { Block, Warp };

// ---- expressions ----
struct Var        { Symbol symbol; Type type;                    static constexpr auto fields = std::tuple{&Var::symbol, &Var::type}; };
struct Literal    { Scalar value;                                static constexpr auto fields = std::tuple{&Literal::value}; };
struct Unary      { UnaryOp op; Expr a;                          static constexpr auto fields = std::tuple{&Unary::op, &Unary::a}; };
struct Binary     { BinaryOp op; Expr a, b;                      static constexpr auto fields = std::tuple{&Binary::op, &Binary::a, &Binary::b}; };
struct Select     { Expr cond, yes, no;                          static constexpr auto fields = std::tuple{&Select::cond, &Select::yes, &Select::no}; };
/// array[index], or the `lanes` elements from there on. Once: nobody reads them again soon, so that caches need not keep them.
struct Load       { Var array; Expr index; int lanes = 1; bool once = false;
                    static constexpr auto fields = std::tuple{&Load::array, &Load::index, &Load::lanes, &Load::once}; };
struct Cast       { ScalarType type; Expr value;                 static constexpr auto fields = std::tuple{&Cast::type, &Cast::value}; };
struct Call       { Math function; std::vector<Expr> args;       static constexpr auto fields = std::tuple{&Call::function, &Call::args}; };
/// The first position in [lo, hi) of an ascending array whose element is >= value (Lower) or > value (Upper), else hi.
struct Search     { Bound bound; Var array; Expr lo, hi, value;  static constexpr auto fields = std::tuple{&Search::bound, &Search::array, &Search::lo, &Search::hi, &Search::value}; };
struct Broadcast  { Expr value; int lanes;                       static constexpr auto fields = std::tuple{&Broadcast::value, &Broadcast::lanes}; };
/// The value of another lane of the group: of number `by` (Lane), of the one `by` below (Up) or above (Down), its own where the
/// group ends, or of the one whose number differs in the bits of `by` (Xor).
struct Shuffle    { Peer peer; Expr value, by; int width = 32;   static constexpr auto fields = std::tuple{&Shuffle::peer, &Shuffle::value, &Shuffle::by, &Shuffle::width}; };
/// The values of all lanes of the group combined by op (Add, Min, Max), for each of them.
struct WarpReduce { BinaryOp op; Expr value; int width = 32;     static constexpr auto fields = std::tuple{&WarpReduce::op, &WarpReduce::value, &WarpReduce::width}; };
/// The values of the lanes of the group up to this one and with it, combined by op (Add, Min, Max).
struct WarpScan   { BinaryOp op; Expr value; int width = 32;     static constexpr auto fields = std::tuple{&WarpScan::op, &WarpScan::value, &WarpScan::width}; };
/// Does it hold for any lane of the warp, for all; for how many (int32)?
struct WarpVote   { Vote vote; Expr cond;                        static constexpr auto fields = std::tuple{&WarpVote::vote, &WarpVote::cond}; };

// ---- statements ----
struct Declare    { Var var; Expr init; Mutability mutability;   static constexpr auto fields = std::tuple{&Declare::var, &Declare::init, &Declare::mutability}; };
struct Assign     { Var var; Expr value;                         static constexpr auto fields = std::tuple{&Assign::var, &Assign::value}; };
/// array[index] = value, += value; as many elements as the value has lanes. Atomic: op= value, without a race; no complex
/// number is multiplied or compared so, and bools have Or and And alone.
struct Store      { StoreMode mode; Var array; Expr index, value; static constexpr auto fields = std::tuple{&Store::mode, &Store::array, &Store::index, &Store::value}; };
/// A hint that array[index] will be read; the index may be past the end.
struct Prefetch   { Var array; Expr index;                       static constexpr auto fields = std::tuple{&Prefetch::array, &Prefetch::index}; };
struct For        { Var var; Expr lo, hi, step; Stmt body; LoopKind kind = LoopKind::Serial; int unroll = 1;
                    static constexpr auto fields = std::tuple{&For::var, &For::lo, &For::hi, &For::step, &For::body, &For::kind, &For::unroll}; };
struct While      { Expr cond; Stmt body;                        static constexpr auto fields = std::tuple{&While::cond, &While::body}; };
struct If         { Expr cond; Stmt then; std::optional<Stmt> otherwise; static constexpr auto fields = std::tuple{&If::cond, &If::then, &If::otherwise}; };
struct Block      { std::vector<Stmt> stmts;                     static constexpr auto fields = std::tuple{&Block::stmts}; };
struct Comment    { std::string text;                            static constexpr auto fields = std::tuple{&Comment::text}; };
struct Allocate   { Var array; Expr count; Fill fill; MemorySpace space = MemorySpace::Private; static constexpr auto fields = std::tuple{&Allocate::array, &Allocate::count, &Allocate::fill, &Allocate::space}; };
/// Elements [lo, hi) of an array of integers, ascending; by the lanes of a warp together, between Barriers, where `lanes` is 32.
struct Sort       { Var array; Expr lo, hi; int lanes = 1;       static constexpr auto fields = std::tuple{&Sort::array, &Sort::lo, &Sort::hi, &Sort::lanes}; };
/// Leaves the innermost For or While.
struct Break      {                                              static constexpr auto fields = std::tuple{}; };
/// Leaves the function with a code other than 0: it cannot do what it is for, and has changed nothing.
struct Return     { int code;                                    static constexpr auto fields = std::tuple{&Return::code}; };
struct Parallel   { Var share; Expr count; std::vector<Stmt> setup; Stmt body; static constexpr auto fields = std::tuple{&Parallel::share, &Parallel::count, &Parallel::setup, &Parallel::body}; };
struct Resize     { Var array; Expr count;                       static constexpr auto fields = std::tuple{&Resize::array, &Resize::count}; };
struct Shrink     { Var array; Expr count;                       static constexpr auto fields = std::tuple{&Shrink::array, &Shrink::count}; };
struct Append     { Var to; Expr share, shares; Var from; Expr count; static constexpr auto fields = std::tuple{&Append::to, &Append::share, &Append::shares, &Append::from, &Append::count}; };
/// A part of the function that is written once, and run where Perform names it.
struct Define     { Symbol name; std::vector<Var> values, places; Stmt body; static constexpr auto fields = std::tuple{&Define::name, &Define::values, &Define::places, &Define::body}; };
struct Perform    { Symbol name; std::vector<Expr> values; std::vector<Var> places; static constexpr auto fields = std::tuple{&Perform::name, &Perform::values, &Perform::places}; };
/// The threads of a GPU block, or of each warp, wait for each other.
struct Barrier    { BarrierOf of = BarrierOf::Block;                 static constexpr auto fields = std::tuple{&Barrier::of}; };
/// found = array[index], of integers; where that is 0, array[index] = value. One thread of a GPU at a time.
struct Claim      { Var found, array; Expr index, value;         static constexpr auto fields = std::tuple{&Claim::found, &Claim::array, &Claim::index, &Claim::value}; };
// clang-format on

/// Where in an spd_call (abi.h) a parameter comes from. Arrays of a level are told apart by what may be relied on: Segments
/// that are only read ascend, Coordinates have an element for each position of the level, Level arrays may hold anything.
struct Source {
  enum class Field : uint8_t {
    Extent,
    Lo,
    Stride,
    Begin,
    End,
    Segments,
    Coordinates,
    Level,
    Vals,
    Array,
    Scalar,
    Argument,
    Shares,
    Threads
  };
  Field field;
  int index = 0;          // of the tensor, the array, the scalar or the argument
  int level = 0;          // of the tensor, outermost 0
  int number = 0;         // of an array of the level
  std::string name = {};  // that the level has for it
  static constexpr auto fields =
      std::tuple{&Source::field, &Source::index, &Source::level, &Source::number, &Source::name};
};

/// A parameter: an array (Segments, Coordinates, Level, Vals, Array), an Argument of any type, or a whole number, int64 or as narrow as
/// its variable says.
struct Param {
  Var var;
  Source source;
  static constexpr auto fields = std::tuple{&Param::var, &Param::source};
};

struct Function {
  std::string name;
  std::vector<Param> params;
  Stmt body;
  /// Makes the function to run in the place of one that returned a code; none: it never does.
  std::function<Function()> instead = {};
  static constexpr auto fields = std::tuple{&Function::name, &Function::params, &Function::body};
};

/// The operation of an atomic store; none of others.
constexpr std::optional<BinaryOp> atomic_operation(StoreMode mode) {
  switch (mode) {
    case StoreMode::AtomicAdd: return BinaryOp::Add;
    case StoreMode::AtomicMul: return BinaryOp::Mul;
    case StoreMode::AtomicMin: return BinaryOp::Min;
    case StoreMode::AtomicMax: return BinaryOp::Max;
    case StoreMode::AtomicOr: return BinaryOp::Or;
    case StoreMode::AtomicAnd: return BinaryOp::And;
    default: return std::nullopt;
  }
}
constexpr bool is_atomic(StoreMode mode) { return mode >= StoreMode::AtomicAdd; }
constexpr bool adds(StoreMode mode) { return mode == StoreMode::Add || mode == StoreMode::AtomicAdd; }

/// Is it a loop over blocks, threads, warps or lanes of a GPU?
constexpr bool is_gpu(LoopKind kind) { return kind >= LoopKind::GPUBlock; }
constexpr int warp_size = 32;

/// The type of a legal expression.
Type type_of(const Expr& e);

}  // namespace spdistal::ir

namespace spdistal {

SPDISTAL_EXTERN_FAMILY(ir::ExprKinds)
SPDISTAL_EXTERN_FAMILY(ir::StmtKinds)

}  // namespace spdistal
