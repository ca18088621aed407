/** Plugins as an author would write them, put into the state directory of a gateway in one step. */
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PluginStatus } from "../src/contracts/plugin.ts";
import type { GatewayProcess } from "../src/testing/whole/gateway-process.ts";

export interface PluginText {
  readonly id: string;
  /** The body of `export default function (api) { … }`. */
  readonly body: string;
  readonly manifest?: Readonly<Record<string, unknown>>;
  /** More files, by their path inside the plugin's folder. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Appears whole and takes the place of an earlier one. */
export async function putPlugin(home: string, { id, body, manifest = {}, files = {} }: PluginText): Promise<string> {
  const folder = join(home, "plugins", id);
  const aside = join(home, `aside-${id}`);
  await mkdir(join(home, "plugins"), { recursive: true, mode: 0o700 });
  await mkdir(aside, { mode: 0o700 });
  const about = { id, version: "1.0.0", main: "index.ts", gateway: ">=0.1", ...manifest };
  await writeFile(join(aside, "plugin.json"), JSON.stringify(about), { mode: 0o600 });
  await writeFile(join(aside, "index.ts"), `export default function (api) {\n${body}\n}\n`, { mode: 0o600 });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(aside, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(aside, path), text, { mode: 0o600 });
  }
  await chmod(aside, 0o700);
  await rm(folder, { recursive: true, force: true });
  await rename(aside, folder);
  return folder;
}

export function removePlugin(home: string, id: string): Promise<void> {
  return rm(join(home, "plugins", id), { recursive: true });
}

/** A tool that echoes its one parameter. */
export function echoTool(name: string, parameter: string): string {
  return `api.registerTool({
    name: "${name}",
    description: "Echoes. For tests.",
    parameters: { type: "object", properties: { ${parameter}: { type: "string" } }, required: ["${parameter}"], additionalProperties: false },
    flags: { idempotent: true },
    execute: async (_id, params) => ({ content: [{ type: "text", text: "echo of " + params.${parameter} }] }),
  });`;
}

/** A whole channel: people write by its webhook, and what they are answered can be read at /plugins/{id}/said. */
export function parrotChannel(open = ""): string {
  return `const said = [];
  api.registerRoute({ method: "GET", path: "/said", handle: () => said });
  api.registerChannel({ id: "parrot", async open({ door, clock }) {
    ${open}
    const take = async ({ body }, signal) => {
      const { by, text, id } = JSON.parse(new TextDecoder().decode(body));
      const about = { address: { channel: "parrot", account: "main", chat: by }, scope: "dm", mentioned: true,
        sender: { principal: "parrot:user:" + by, name: by } };
      const looked = await door.look({ ...about, kind: "message" });
      if (looked.kind === "stay") return { status: 200, json: { say: looked.say } };
      const message = { ...about, eventId: id, fingerprint: text, text, quoted: [], attachments: [], receivedAt: clock.now() };
      return { status: 200, json: { took: (await door.receive(message, signal)).kind } };
    };
    return [{ id: "parrot", account: "main", canRefuse: false, repeat: "risky",
      webhook: { path: "/parrot/main", handle: take },
      send: async ({ to, message }) => { said.push(to.chat + ": " + message.text); return {}; },
      ready: () => true, health: () => ({ ok: true, detail: "sits on the shoulder" }),
      [Symbol.asyncDispose]: async () => {} }];
  } });`;
}

export async function pluginsOf(gateway: GatewayProcess): Promise<ReadonlyMap<string, PluginStatus>> {
  const response = await gateway.fetch("/api/plugins");
  const { items } = (await response.json()) as { items: readonly PluginStatus[] };
  return new Map(items.map((one) => [one.id, one]));
}
