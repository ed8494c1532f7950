# docker build -t spdistal .
# docker run --rm spdistal "a(i) = B(i,j) * c(j)" -f B:ds -g B:banded,1000,3 -g c:ones -m 4 --check
FROM debian:12 AS build
RUN apt-get -q update && apt-get -q -y install --no-install-recommends \
      g++ cmake ninja-build pkg-config python3 libopenmpi-dev openmpi-bin libfmt-dev libcli11-dev nlohmann-json3-dev zlib1g-dev libhdf5-dev
COPY . /source
RUN cmake -S /source -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSPDISTAL_TESTS=OFF \
      -DCMAKE_INSTALL_PREFIX=/usr/local && cmake --build /build && cmake --install /build

# Kernels are compiled when they are needed: the compiler stays.
FROM debian:12
RUN apt-get -q update && apt-get -q -y install --no-install-recommends g++ libopenmpi-dev openmpi-bin libfmt9 zlib1g libhdf5-103-1 \
      && rm -rf /var/lib/apt/lists/* && useradd --create-home spdistal && mkdir /data && chown spdistal /data
COPY --from=build /usr/local /usr/local
RUN ldconfig
USER spdistal
WORKDIR /data
ENTRYPOINT ["spdistal"]
