/** All MCP servers of the settings: what a change of the settings starts, stops and leaves alone. */
import { expect, test } from "bun:test";
import { checkConfigText, type Config } from "../../config/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { recordingLog } from "../../testing/recording-log.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { createMcpServers } from "./servers.ts";

const NEVER = new AbortController().signal;

function settings(servers: object): Config["mcp"] {
  const { config } = checkConfigText(JSON.stringify({ mcp: { servers } }), () => undefined);
  if (!config) throw new Error("these settings are not valid");
  return config.mcp;
}

async function world() {
  const home = await tempHome();
  const clock = createFakeClock();
  const registered = new Set<string>();
  const opened: string[] = [];
  const closed: string[] = [];
  const servers = createMcpServers(
    {
      clock,
      ids: createSeqIds(),
      log: recordingLog(),
      registry: {
        register(tool) {
          const { name } = tool as { name: string };
          registered.add(name);
          return { [Symbol.dispose]: () => void registered.delete(name) };
        },
      },
      questions: { ask: async () => ({ kind: "none" }) },
      connections: {
        open: (name) => async (_settings, _parts, signal) => {
          if (name === "silent") await clock.sleep(24 * 3_600_000, signal);
          if (name === "broken") throw new Error("it has no licence");
          opened.push(name);
          return {
            era: "modern",
            protocol: "2026-07-28",
            server: name,
            hasResources: false,
            list: async () => [{ name: "look", inputSchema: { type: "object" } }],
            call: async () => ({ content: [], structured: undefined, isError: false }),
            read: async () => [],
            close: async () => void closed.push(name),
          };
        },
        [Symbol.dispose]: () => undefined,
      },
    },
    { home: home.path },
  );
  const end = async () => {
    await servers[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  };
  return { clock, servers, registered, opened, closed, [Symbol.asyncDispose]: end };
}

test("servers of new settings are started to learn their tools, those that are gone are stopped, and the others go on as they are", async () => {
  await using at = await world();
  at.servers.apply(settings({ a: { command: "x" }, b: { command: "x" } }));
  expect(at.opened).toEqual([]); // nothing is started before the gateway is ready
  at.servers.learn();
  await at.clock.advance(1);
  expect([at.opened, [...at.registered].toSorted()]).toEqual([
    ["a", "b"],
    ["mcp_a_look", "mcp_b_look"],
  ]);
  at.servers.apply(settings({ b: { command: "x" }, c: { command: "x" } }));
  await at.clock.advance(1);
  expect([at.opened, at.closed, [...at.registered].toSorted()]).toEqual([
    ["a", "b", "c"],
    ["a"],
    ["mcp_b_look", "mcp_c_look"],
  ]);
});

test("a server with other variables is started anew by the next call, and one with another command is another server", async () => {
  await using at = await world();
  at.servers.learn();
  at.servers.apply(settings({ a: { command: "x" } }));
  await at.clock.advance(1);
  at.servers.apply(settings({ a: { command: "x", env: { KEY: "1" } } }));
  expect([at.closed, at.registered.has("mcp_a_look")]).toEqual([["a"], true]);
  at.servers.apply(settings({ a: { command: "y" } }));
  await at.clock.advance(1);
  expect(at.opened).toEqual(["a", "a"]);
});

test("a server that is switched off is listed as such, and has no tools", async () => {
  await using at = await world();
  at.servers.learn();
  at.servers.apply(settings({ a: { command: "x", enabled: false } }));
  await at.clock.advance(1);
  expect([at.servers.list().map(({ name, state }) => [name, state]), at.opened]).toEqual([[["a", "off"]], []]);
  expect(await at.servers.test("a", NEVER)).toBeNull();
});

test("servers that do not work, and tools that wait for an owner, are told in the status", async () => {
  await using at = await world();
  at.servers.learn();
  at.servers.apply(settings({ a: { command: "x" }, broken: { command: "x" } }));
  await at.clock.advance(1);
  expect(at.servers.notices()).toEqual(["The MCP server broken does not work: It has no licence."]);
});

test("a server is tried with settings that are not saved: its tools are told, none of them can be called, and it is ended", async () => {
  await using at = await world();
  const { a } = settings({ a: { command: "x", deny: ["look"] } }).servers;
  if (!a) throw new Error("there is no such server");
  const { tools, trouble } = await at.servers.tryOut("a", a, NEVER);
  expect([tools.map(({ name, review }) => [name, review]), trouble]).toEqual([[["mcp_a_look", "left_out"]], null]);
  expect([at.opened, at.closed, [...at.registered], at.servers.list()]).toEqual([["a"], ["a"], [], []]);
});

test("a server that does not work when it is tried says why, and is not tried again by itself", async () => {
  await using at = await world();
  const { broken } = settings({ broken: { command: "x" } }).servers;
  if (!broken) throw new Error("there is no such server");
  await expect(at.servers.tryOut("broken", broken, NEVER)).rejects.toMatchObject({
    code: "mcp_unavailable",
    say: "The MCP server broken is not available. It has no licence.",
  });
  expect([at.clock.pending(), at.servers.notices()]).toEqual([0, []]);
});

test("three servers are tried at a time, each for two minutes at most", async () => {
  await using at = await world();
  const { silent } = settings({ silent: { command: "x", startMs: "1h" } }).servers;
  if (!silent) throw new Error("there is no such server");
  const trials = [1, 2, 3].map(() => at.servers.tryOut("silent", silent, NEVER).catch((error: unknown) => error));
  await expect(at.servers.tryOut("silent", silent, NEVER)).rejects.toMatchObject({ code: "conflict" });
  await at.clock.advance(120_000);
  expect(await Promise.all(trials)).toMatchObject(Array(3).fill({ code: "mcp_unavailable" }));
  await expect(at.servers.tryOut("broken", silent, NEVER)).rejects.toMatchObject({ code: "mcp_unavailable" });
});
