// spdistal: sparse tensor algebra for distributed machines. The whole public face.
#pragma once
#include "spdistal/distribution.hpp"
#include "spdistal/error.hpp"
#include "spdistal/evaluate.hpp"
#include "spdistal/expression.hpp"
#include "spdistal/extent.hpp"
#include "spdistal/format.hpp"
#include "spdistal/leaf.hpp"
#include "spdistal/machine.hpp"
#include "spdistal/program.hpp"
#include "spdistal/runtime.hpp"
#include "spdistal/schedule.hpp"
#include "spdistal/tensor.hpp"
