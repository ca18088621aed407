# The gateway as a container: the npm package, Bun and pi on a small Debian, as a user without rights. Nothing but /data and /tmp is written to.
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN CI=1 npm ci && npm pack --pack-destination /tmp \
  && npm install --prefix /app --omit=dev --no-audit --no-fund /tmp/pi-gateway-*.tgz

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 10001 --user-group --home-dir /data --create-home gateway
COPY --from=build /app /app
RUN ln -s /app/node_modules/pi-gateway/bin/pi-gw /usr/local/bin/pi-gw
ENV PI_GATEWAY_HOME=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 18789
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["pi-gw", "status", "--json"]
ENTRYPOINT ["pi-gw"]
CMD ["start"]
