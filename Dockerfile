# The service in an image; docs/DEPLOYMENT.md says how to run it.
ARG NODE_IMAGE=node:26.10.0-bookworm-slim

# What is built is the same for every platform: it is built once, on the platform of the machine that builds.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY engine/package.json engine/
COPY simulator/package.json simulator/
COPY web/package.json web/
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin
COPY scripts scripts
COPY src src
COPY web web
RUN npm run build && find dist -name '*.map' -delete

# Some packages have a part of their own for each platform.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY engine/package.json engine/
COPY simulator/package.json simulator/
COPY web/package.json web/
RUN npm ci --ignore-scripts --omit=dev && rm -r node_modules/@underround

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Underround" \
  org.opencontainers.image.description="Records prediction market order books, verifies them against the venue and serves them through an API." \
  org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /build/dist dist
COPY package.json LICENSE README.md ./
COPY bin bin
COPY docs docs
COPY deploy/healthCheck.mjs deploy/
RUN install -d -o 1000 -g 1000 -m 0700 /data
# The demo keeps its data beside this directory, so it lies below the volume.
ENV NODE_ENV=production UNDERROUND_DATA_DIR=/data/underround UNDERROUND_HOST=0.0.0.0
# The user `node` of the base image, by number, so that an orchestrator sees that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["node", "deploy/healthCheck.mjs"]
ENTRYPOINT ["node", "bin/underround.mjs"]
CMD ["serve"]
