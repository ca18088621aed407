/** The files for containers say what docs/container.md promises: no rights, a root that cannot be written to, and only paths that are there. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

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
