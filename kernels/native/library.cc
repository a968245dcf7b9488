// What JAX calls: each function receives columns of numbers of some rows, and fills columns of results.
#include <vector>

#include "euler.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;
using Column = ffi::Buffer<ffi::F64>;

static ffi::Error euler_in_lockstep(bool free, ffi::RemainingArgs arguments, ffi::RemainingRets results) {
  if (arguments.size() != euler::PARAMETERS || results.size() != euler::SUMS) return ffi::Error::InvalidArgument("columns are missing");
  std::vector<const double*> parameters;
  std::vector<double*> sums;
  long rows = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto column = arguments.get<Column>(i);
    if (column.has_error()) return column.error();
    parameters.push_back(column->typed_data()), rows = (long)column->element_count();
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto column = results.get<Column>(i);
    if (column.has_error()) return column.error();
    if ((long)(*column)->element_count() != rows) return ffi::Error::InvalidArgument("columns differ in length");
    sums.push_back((*column)->typed_data());
  }
  (free ? euler::run_all<true> : euler::run_all<false>)(parameters.data(), sums.data(), rows);
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(tribosweep_euler, euler_in_lockstep, ffi::Ffi::Bind().Attr<bool>("free").RemainingArgs().RemainingRets());
