#include "runtime/transport/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/require.hpp"
#include "memory/copy.hpp"
#include "runtime/transport/mpi_comm.hpp"

namespace spdistal::runtime {
namespace {

static_assert(sizeof(MPI_Request) <= sizeof(Request));

void check(int code, std::string_view call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw SystemError(fmt::format("MPI failed in {}", call), {}, std::string(text, size_t(length)));
}

Request as_request(MPI_Request request) {
  Request out = 0;
  memory::copy_bytes(&out, &request, sizeof(request));
  return out;
}

// A rank of this process has given up: MPI_Finalize would wait for ranks that wait for it.
bool someone_gave_up = false;

// Ends all ranks, as a launcher would where one fails.
[[noreturn]] void end_all_ranks() {
  constexpr int failure_at_run_time = 3;
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, failure_at_run_time);
  std::abort();
}

void finalize_at_exit() {
  if (!mpi_is_running()) return;
  if (someone_gave_up) end_all_ranks();
  MPI_Finalize();
}

class Mpi final : public Transport {
 public:
  Mpi(MPI_Comm communicator, MpiOptions options) : options_(options) {
    require(options.largest_message > 0 && options.largest_message <= INT_MAX, "MPI counts with int");
    check(MPI_Comm_dup(communicator, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~Mpi() override {
    if (!mpi_is_running()) return;
    stay();
    MPI_Comm_free(&comm_);
  }

  void give_up() override {
    Transport::give_up();
    someone_gave_up = true;
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void barrier() override {
    stay();
    check(MPI_Barrier(comm_), "MPI_Barrier");
  }

  void broadcast(std::span<std::byte> data, int root) override {
    stay();
    if (!fits(int64_t(data.size()))) return Transport::broadcast(data, root);
    if (rank_ == root) count_to_others(data.size());
    check(MPI_Bcast(data.data(), int(data.size()), MPI_BYTE, root, comm_), "MPI_Bcast");
  }

  void allgatherv(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int64_t> counts,
                  Pending& pending) override {
    stay();
    if (!fits(int64_t(all.size()))) return Transport::allgatherv(mine, all, counts, pending);
    Counts& kept = counts_of(counts);
    count_to_others(mine.size());
    MPI_Request request;
    check(MPI_Iallgatherv(mine.data(), int(mine.size()), MPI_BYTE, all.data(), kept.count.data(), kept.at.data(),
                          MPI_BYTE, comm_, &request),
          "MPI_Iallgatherv");
    add(pending, as_request(request));
  }

  // Not the one above and a wait: in Open MPI, everything is slower once a collective has been non-blocking.
  void allgatherv(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int64_t> counts) override {
    stay();
    if (!fits(int64_t(all.size()))) return Transport::allgatherv(mine, all, counts);
    Counts now = offsets(counts);
    count_to_others(mine.size());
    check(MPI_Allgatherv(mine.data(), int(mine.size()), MPI_BYTE, all.data(), now.count.data(), now.at.data(), MPI_BYTE,
                         comm_),
          "MPI_Allgatherv");
  }

  void alltoallv(std::span<const std::byte> out, std::span<const int64_t> out_counts, std::span<std::byte> in,
                 std::span<const int64_t> in_counts) override {
    stay();
    // All ranks must choose alike; they see different sums, so they agree on the largest.
    int64_t largest = int64_t(std::max(out.size(), in.size()));
    if (!fits(allreduce_largest(largest))) return Transport::alltoallv(out, out_counts, in, in_counts);
    Counts send = offsets(out_counts), receive = offsets(in_counts);
    for (int r = 0; r < size_; r++)
      if (r != rank_) sent().count(out_counts[size_t(r)], 1);
    check(MPI_Alltoallv(out.data(), send.count.data(), send.at.data(), MPI_BYTE, in.data(), receive.count.data(),
                        receive.at.data(), MPI_BYTE, comm_),
          "MPI_Alltoallv");
  }

  void allreduce(void* values, size_t count, ScalarType type, ReduceOp op) override {
    stay();
    // Sums of floats depend on the order of adding, which MPI does not promise.
    bool exact =
        type == ScalarType::Int32 || type == ScalarType::Int64 ||
        ((op == ReduceOp::Min || op == ReduceOp::Max) && (type == ScalarType::Float32 || type == ScalarType::Float64));
    if (!exact || !fits(int64_t(count))) return Transport::allreduce(values, count, type, op);
    auto agreement = Sending::agreement(sent());
    count_to_others(count * size_of(type));
    MPI_Datatype element = type == ScalarType::Int32     ? MPI_INT32_T
                           : type == ScalarType::Int64   ? MPI_INT64_T
                           : type == ScalarType::Float32 ? MPI_FLOAT
                                                         : MPI_DOUBLE;
    MPI_Op how = op == ReduceOp::Sum       ? MPI_SUM
                 : op == ReduceOp::Product ? MPI_PROD
                 : op == ReduceOp::Min     ? MPI_MIN
                                           : MPI_MAX;
    check(MPI_Allreduce(MPI_IN_PLACE, values, int(count), element, how, comm_), "MPI_Allreduce");
  }

 protected:
  Request post_send(std::span<const std::byte> data, int to, int tag) override {
    stay();
    MPI_Request request;
    check(MPI_Isend(data.data(), int(data.size()), MPI_BYTE, to, tag, comm_, &request), "MPI_Isend");
    return as_request(request);
  }
  Request post_receive(std::span<std::byte> data, int from, int tag) override {
    stay();
    MPI_Request request;
    check(MPI_Irecv(data.data(), int(data.size()), MPI_BYTE, from, tag, comm_, &request), "MPI_Irecv");
    return as_request(request);
  }
  void complete(std::span<Request> requests) override {
    check(MPI_Waitall(int(requests.size()), native(requests), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }
  bool try_complete(std::span<Request> requests) override {
    int done = 0;
    check(MPI_Testall(int(requests.size()), native(requests), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    return done != 0;
  }
  int64_t largest_message() const override { return options_.largest_message; }

 private:
  // Before anything that the other ranks take part in.
  void stay() const {
    if (gave_up()) [[unlikely]]
      end_all_ranks();
  }

  struct Counts {
    std::vector<int> count, at;
  };

  bool fits(int64_t count) const { return count <= options_.largest_message; }

  int64_t allreduce_largest(int64_t value) {
    auto agreement = Sending::agreement(sent());
    count_to_others(sizeof value);
    check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX, comm_), "MPI_Allreduce");
    return value;
  }
  static Counts offsets(std::span<const int64_t> counts) {
    Counts out{{counts.begin(), counts.end()}, std::vector<int>(counts.size(), 0)};
    std::partial_sum(out.count.begin(), out.count.end() - 1, out.at.begin() + 1);
    return out;
  }
  /// MPI reads the counts until the request is complete. The same ones come again and again, so each list is kept.
  Counts& counts_of(std::span<const int64_t> counts) {
    for (auto& known : kept_)
      if (std::ranges::equal(known->count, counts)) return *known;
    // Bounded: what no request can still refer to after so many other lists.
    if (kept_.size() == 256) kept_.erase(kept_.begin());
    kept_.push_back(std::make_unique<Counts>(offsets(counts)));
    return *kept_.back();
  }
  /// The requests as MPI's own: where these are pointers there is nothing to do, where they are numbers they are copied.
  MPI_Request* native(std::span<Request> requests) {
    if constexpr (sizeof(MPI_Request) == sizeof(Request)) {
      return reinterpret_cast<MPI_Request*>(requests.data());
    } else {
      scratch_.resize(requests.size());
      for (size_t k = 0; k < requests.size(); k++) memory::copy_bytes(&scratch_[k], &requests[k], sizeof(MPI_Request));
      return scratch_.data();
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  MpiOptions options_;
  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> scratch_;
  std::vector<std::unique_ptr<Counts>> kept_;
};

}  // namespace

bool mpi_is_running() {
  int started = 0, finished = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&finished);
  return started && !finished;
}

std::unique_ptr<Transport> start_mpi(MpiOptions options) {
  if (!mpi_is_running()) {
    int finished = 0;
    MPI_Finalized(&finished);
    if (finished) throw SystemError("MPI was finalised by this program and cannot be started again");
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    std::atexit(finalize_at_exit);
    if (provided < MPI_THREAD_FUNNELED) throw SystemError("this MPI does not allow threads (MPI_THREAD_FUNNELED)");
  }
  return std::make_unique<Mpi>(MPI_COMM_WORLD, options);
}

std::unique_ptr<Transport> over_communicator(MPI_Comm communicator, MpiOptions options) {
  require(mpi_is_running(), "a communicator belongs to an MPI that is running");
  return std::make_unique<Mpi>(communicator, options);
}

}  // namespace spdistal::runtime
