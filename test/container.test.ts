/** The files for containers say what docs/container.md promises: no rights, a root that cannot be written to, and only paths that are there. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkConfigText } from "../src/config/index.ts";
import { startHttpWorld } from "../src/testing/http/http-fixture.ts";

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

test("process 1 of the image is tini, which is installed there, because programs that agents leave behind are reaped by nobody else", async () => {
  const dockerfile = await read("Dockerfile");
  expect(dockerfile).toMatch(/^ENTRYPOINT \["tini", "--", "pi-gw"\]$/m);
  expect(dockerfile).toMatch(/apt-get install .*\btini\b/);
});

test("files with secrets beside the compose files get neither into an image nor into the repository", async () => {
  const named = async (name: string) => (await read(name)).trim().split("\n");
  expect(await named(".dockerignore")).toEqual(expect.arrayContaining(["**/.env", "provider-keys.env"]));
  expect(await named(".gitignore")).toEqual(expect.arrayContaining([".env", "provider-keys.env"]));
  expect(await read("compose.yaml")).toContain("path: provider-keys.env");
  expect(await read("examples/scaling/compose.yaml")).toContain("env_file: [.env]");
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

const GIVEN: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://gateway:hunter2@postgres:5432/gateway",
  PI_GATEWAY_SECRET: "kX8tQm2vRz7LpW4nYb9sDf6hJc3gTa5e",
  PI_GATEWAY_TOKEN: "pQ3rT8vW2xZ7bN4mK9jH6gF5dS1aL0yU",
};
const settings = async () => checkConfigText(await read("examples/scaling/pi-gateway.jsonc"), (name) => GIVEN[name]);

test("the settings for several gateways are valid, and hold no secret themselves", async () => {
  const { config, problems } = await settings();
  expect(problems).toEqual([]);
  expect(config?.store.secret?.reveal()).toBe(GIVEN["PI_GATEWAY_SECRET"] ?? "");
});

test("the health check of the proxy names a host that a gateway with these settings answers to", async () => {
  const { config } = await settings();
  const caddy = await read("examples/scaling/Caddyfile");
  const found = (pattern: RegExp) => pattern.exec(caddy)?.[1] ?? "none";
  const upstream = found(/reverse_proxy (\S+)/);
  const host = found(/health_headers \{\s+Host (\S+)/);
  await using world = startHttpWorld({ allowedHosts: config?.gateway.allowedHosts ?? [] });
  world.http.setReady(true);
  const statusFor = async (name: string) =>
    (await fetch(world.url(found(/health_uri (\S+)/)), { headers: { host: name } })).status;
  expect({ upstream: await statusFor(upstream), host: await statusFor(host) }).toEqual({ upstream: 421, host: 200 });
});

interface Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly containers: readonly {
          readonly env: readonly { readonly name: string; readonly value: string }[];
          readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
        }[];
      };
    };
  };
}

async function podOfManifest() {
  const [set] = Bun.YAML.parse(await read("examples/scaling/kubernetes.yaml")) as readonly Manifest[];
  const { containers = [], ...pod } = set?.spec.template.spec ?? {};
  return { pod, container: containers[0] };
}

test("the manifest for Kubernetes asks the routes that there are, and runs without rights", async () => {
  const { container } = await podOfManifest();
  expect(container).toMatchObject({
    startupProbe: { httpGet: { path: "/health" } },
    readinessProbe: { httpGet: { path: "/ready" } },
    livenessProbe: { httpGet: { path: "/health" } },
    securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
  });
});

test("the manifest for Kubernetes fits the restricted standard for pods, with a group that may write to volumes", async () => {
  const { pod, container } = await podOfManifest();
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 10001,
      runAsGroup: 10001,
      fsGroup: 10001,
      seccompProfile: { type: "RuntimeDefault" },
    },
  });
  expect(container).toMatchObject({ securityContext: { capabilities: { drop: ["ALL"] } } });
});

test("the state directory in Kubernetes is a folder in its volume, because the top of a volume belongs to root", async () => {
  const { container } = await podOfManifest();
  const home = container?.env.find(({ name }) => name === "PI_GATEWAY_HOME")?.value ?? "none";
  const mount = container?.volumeMounts.find(({ name }) => name === "state")?.mountPath ?? "none";
  expect(home.startsWith(`${mount}/`)).toBe(true);
});
