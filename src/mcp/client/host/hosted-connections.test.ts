/** The gateway's side of the MCP host, with a played host: started once, ended when nobody needs it, and replaced when it is stuck or dies. */
import { expect, test } from "bun:test";
import { checkConfigText, type McpServerSettings } from "../../../config/index.ts";
import type { OwnProgram } from "../../../contracts/programs.ts";
import { deferred } from "../../../kit/deferred.ts";
import { createMux, type Mux, type MuxStream } from "../../../kit/mux/mux.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { createSeqIds } from "../../../testing/seq-ids.ts";
import { createHostedConnections } from "./hosted-connections.ts";
import { openPeer } from "./peer.ts";
import type { FromHost, ToHost } from "./wire.ts";

const NEVER = new AbortController().signal;
const ABOUT = { era: "modern" as const, protocol: "2026-07-28", server: "shop", hasResources: false };

type Answer = (message: ToHost, send: (reply: FromHost) => void) => void;

/** Opens, and answers every call with an empty list. */
const obliging: Answer = (message, send) => {
  if (message.kind === "order") send({ kind: "opened", about: ABOUT });
  if (message.kind === "ask") send({ kind: "result", id: message.id, value: [] });
};

function settings(): McpServerSettings {
  const { config } = checkConfigText(
    '{ "mcp": { "servers": { "shop": { "url": "https://shop.example" } } } }',
    () => undefined,
  );
  const made = config?.mcp.servers["shop"];
  if (!made) throw new Error("these settings are not valid");
  return made;
}

/** `answer` null: the host says nothing at all. */
function world(answer: Answer | null = obliging) {
  const clock = createFakeClock();
  const hosts: { readonly ended: { resolve(why: string): void }; stopped: boolean }[] = [];
  const start = (): OwnProgram => {
    const ended = deferred<string>();
    const host = { ended, stopped: false };
    hosts.push(host);
    const sides: { gateway?: Mux; host?: Mux } = {};
    const serve = (stream: MuxStream): void => {
      if (answer === null) return;
      stream.respond({});
      const peer = openPeer(stream, {
        take: (message) => answer(message as unknown as ToHost, (reply) => peer.send(reply)),
        over: () => undefined,
      });
    };
    const link = (to: () => Mux | undefined) => (bytes: Uint8Array) => {
      const copy = bytes.slice();
      queueMicrotask(() => to()?.push(copy));
      return bytes.length;
    };
    const broken = () => undefined;
    sides.gateway = createMux({ side: "even", write: link(() => sides.host), opened: broken, broken });
    sides.host = createMux({ side: "odd", write: link(() => sides.gateway), opened: serve, broken });
    const end = (why: string): void => {
      sides.gateway?.close(why);
      ended.resolve(why);
    };
    void ended.promise.then(() => sides.gateway?.close("it died"));
    return {
      open: sides.gateway.open,
      ended: ended.promise,
      stop() {
        host.stopped = true;
        end("stopped");
      },
    };
  };
  const connections = createHostedConnections(
    {
      clock,
      ids: createSeqIds(),
      programs: { start: () => Promise.reject(new Error("no programs here")) },
      ownPrograms: { start },
    },
    { home: "/nowhere", version: "1", file: async () => "host.js" },
  );
  const closed: string[] = [];
  const parts = {
    legacy: false,
    listChanged: () => undefined,
    heard: () => undefined,
    closed: (why: string) => void closed.push(why),
  };
  const open = () => connections.open("shop")(settings(), parts, NEVER);
  return { clock, hosts, closed, open, connections };
}

test("the host serves all connections, and is ended a while after the last one", async () => {
  const at = world();
  const [first, second] = [await at.open(), await at.open()];
  expect([at.hosts.length, first.protocol, await first.list(NEVER)]).toEqual([1, "2026-07-28", []]);
  await first.close();
  await at.clock.advance(60_000);
  expect(at.hosts[0]?.stopped).toBe(false);
  await second.close();
  await at.clock.advance(10_000);
  expect(at.hosts[0]?.stopped).toBe(true);
  await at.open();
  expect(at.hosts.length).toBe(2);
});

test("a host that does not answer is ended, and the next connection gets another one", async () => {
  const at = world(null);
  const opening = at.open();
  opening.catch(() => undefined); // looked at below
  await at.clock.advance(15_000);
  await expect(opening).rejects.toThrow("the MCP host did not answer");
  expect(at.hosts[0]?.stopped).toBe(true);
  const again = at.open();
  again.catch(() => undefined);
  await at.clock.advance(1);
  expect(at.hosts.length).toBe(2);
  at.connections[Symbol.dispose]();
});

test("a host that dies fails the calls that run, and tells of it", async () => {
  const at = world((message, send) => message.kind === "order" && send({ kind: "opened", about: ABOUT }));
  const connection = await at.open();
  const call = connection.list(NEVER);
  at.hosts[0]?.ended.resolve("it died");
  await expect(call).rejects.toThrow();
  expect(at.closed).toHaveLength(1);
});

test("a server that dies fails its calls with the reason", async () => {
  const at = world((message, send) => {
    if (message.kind === "order") send({ kind: "opened", about: ABOUT });
    if (message.kind === "ask") send({ kind: "closed", why: "it exited with code 7" });
  });
  await expect((await at.open()).list(NEVER)).rejects.toThrow("ended in the middle of the call: it exited with code 7");
  expect(at.closed).toEqual(["it exited with code 7"]);
});

test("an error of the catalogue arrives with its sentence", async () => {
  const at = world((message, send) => {
    if (message.kind === "order")
      send({ kind: "failed", error: { code: "sandbox_unusable", message: "There is no wall." } });
  });
  await expect(at.open()).rejects.toMatchObject({ code: "sandbox_unusable", say: "There is no wall." });
});
