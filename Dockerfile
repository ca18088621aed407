# The gateway as a container: the npm package, Bun and pi on a small Debian, as a user without rights. Nothing but /data and /tmp is written to.
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
# Source maps and types of the libraries of pi are 50 MB that nothing reads; the maps of the gateway name the lines of its errors and stay.
RUN CI=1 npm ci && npm pack --pack-destination /tmp \
  && npm install --prefix /app --omit=dev --no-audit --no-fund /tmp/pi-gateway-*.tgz \
  && find /app/node_modules -type f ! -path '*/pi-gateway/*' \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.[cm]ts' \) -delete

FROM debian:bookworm-slim
# tini is process 1: it reaps programs that agents left behind and whose parents have ended, which the gateway itself cannot.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates tini \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --uid 10001 --user-group --home-dir /data --no-create-home gateway \
  && install -d -m 700 -o gateway -g gateway /data
COPY --from=build /app /app
RUN ln -s /app/node_modules/pi-gateway/bin/pi-gw /usr/local/bin/pi-gw
ENV PI_GATEWAY_HOME=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 18789
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["pi-gw", "status", "--json"]
ENTRYPOINT ["tini", "--", "pi-gw"]
CMD ["start"]
