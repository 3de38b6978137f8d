# codelens over HTTP for the repositories under /src; docs/http.md.
#
#   docker build -t codelens .
#   docker run --rm -p 127.0.0.1:3100:3100 -v "$PWD:/src:ro" -v codelens:/home/codelens/.codelens codelens
FROM python:3.13-slim AS build
COPY . /build
RUN pip wheel --no-cache-dir --wheel-dir /wheels /build

FROM python:3.13-slim
RUN useradd --create-home --uid 1000 codelens
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels codelens
# For textual conflicts and the history of files.
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
USER codelens
# What is mounted at /src belongs to whoever has it, and git's rule about that is for shared machines.
RUN mkdir -m 700 /home/codelens/.codelens && git config --global --add safe.directory '*'
VOLUME /home/codelens/.codelens
WORKDIR /src
EXPOSE 3100
ENTRYPOINT ["codelens"]
# Loopback of a container is reached by nobody; `-p 127.0.0.1:3100:3100` is what keeps others out.
CMD ["serve", "--http", "--bind", "0.0.0.0", "--root", "/src"]
