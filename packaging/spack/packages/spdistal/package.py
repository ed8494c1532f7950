from spack.package import *


class Spdistal(CMakePackage):
    """Compiler and runtime for distributed sparse tensor algebra."""

    license("Apache-2.0")

    version("main")
    version("0.1.0")

    variant("tools", default=True, description="Build the command line tool and the examples")
    variant("hdf5", default=True, description="Read and write binsparse files")

    depends_on("cxx", type=("build", "run"))  # kernels are compiled when they are needed
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("mpi")
    depends_on("fmt")
    depends_on("zlib-api")
    depends_on("nlohmann-json", type="build")
    depends_on("hdf5~mpi", when="+hdf5")
    depends_on("cli11", when="+tools", type="build")
    conflicts("%gcc@:11")

    generator("ninja")

    def cmake_args(self):
        return [self.define("SPDISTAL_TESTS", False), self.define_from_variant("SPDISTAL_TOOLS", "tools"),
                self.define_from_variant("SPDISTAL_HDF5", "hdf5")]
