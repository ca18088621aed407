/** The files for containers say what docs/container.md promises: no rights, a root that cannot be written to, and only paths that are there. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkConfigText } from "../src/config/index.ts";

const ROOT = resolve(import.meta.dir, "..");
const read = (name: string) => Bun.file(join(ROOT, name)).text();

interface Compose {
  readonly services: { readonly gateway: Readonly<Record<string, unknown>> };
}

test("the image runs the package's command as a user without rights, and keeps its state in a volume", async () => {
  const dockerfile = await read("Dockerfile");
  const { name, bin } = (await Bun.file(join(ROOT, "package.json")).json()) as {
    name: string;
    bin: Record<string, string>;
  };
  expect(dockerfile).toMatch(/^USER 10001:10001$/m);
  expect(dockerfile).toMatch(/^VOLUME \/data$/m);
  expect(dockerfile).toContain(`/app/node_modules/${name}/${bin["pi-gw"]} /usr/local/bin/pi-gw`);
  expect(existsSync(join(ROOT, bin["pi-gw"] ?? "none"))).toBe(true);
});

test("compose gives it a read-only root, no capabilities, and nothing to write to but its volume and /tmp", async () => {
  const { services } = Bun.YAML.parse(await read("compose.yaml")) as Compose;
  expect(services.gateway).toMatchObject({
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    tmpfs: ["/tmp"],
    volumes: ["data:/data"],
  });
});

interface Service {
  readonly command: readonly string[];
  readonly volumes: readonly string[];
  readonly read_only: boolean;
}

test("the files for several gateways give each its own state, all the same settings, and a proxy that asks whether they are ready", async () => {
  const { services } = Bun.YAML.parse(await read("examples/scaling/compose.yaml")) as {
    readonly services: Readonly<Record<string, Service>>;
  };
  const gateways = Object.entries(services).filter(([name]) => name.startsWith("gateway"));
  expect(gateways).toHaveLength(2);
  const stateOf = ({ volumes }: Service) => volumes.find((volume) => volume.endsWith(":/data"));
  expect(new Set(gateways.map(([, service]) => stateOf(service))).size).toBe(2);
  for (const [name, { command, volumes, read_only }] of gateways) {
    expect([name, read_only, command]).toEqual([name, true, ["start", "--config", "/etc/pi-gateway.jsonc"]]);
    expect(volumes).toContain("./pi-gateway.jsonc:/etc/pi-gateway.jsonc:ro");
  }
  const caddy = await read("examples/scaling/Caddyfile");
  expect(gateways.every(([name]) => caddy.includes(`${name}:18789`))).toBe(true);
  expect(caddy).toContain("health_uri /ready");
});

test("the settings for several gateways are valid, and hold no secret themselves", async () => {
  const text = await read("examples/scaling/pi-gateway.jsonc");
  const given: Readonly<Record<string, string>> = {
    DATABASE_URL: "postgres://gateway:hunter2@postgres:5432/gateway",
    PI_GATEWAY_SECRET: "kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e",
    PI_GATEWAY_TOKEN: "pQ3rT8vW2xZ7bN4mK9jH6gF5dS1aL0yU",
  };
  const { config, problems } = checkConfigText(text, (name) => given[name]);
  expect(problems).toEqual([]);
  expect(config?.store.secret?.reveal()).toBe(given["PI_GATEWAY_SECRET"] ?? "");
});

test("the manifest for Kubernetes asks the routes that there are, and runs without rights", async () => {
  const [set] = Bun.YAML.parse(await read("examples/scaling/kubernetes.yaml")) as readonly {
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly Record<string, unknown>[] } };
    };
  }[];
  const [container] = set?.spec.template.spec.containers ?? [];
  expect(container).toMatchObject({
    readinessProbe: { httpGet: { path: "/ready" } },
    livenessProbe: { httpGet: { path: "/health" } },
    securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
  });
});
