/** No end of the gateway leaves a process behind, not even one that an agent has started and that has lost its parents. Real gateway, real pi. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { tempHome } from "../src/testing/temp-home.ts";
import { writePiWithChild } from "../src/testing/scripted-agent.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { agentPids, agentReady, eventually, runs, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

async function withBackgroundChild() {
  const home = await tempHome();
  const pidFile = join(home.path, "children");
  const piPath = await writePiWithChild(home.path, pidFile);
  const config = { agent: { piPath, sandbox: "off", pool: { min: 1, max: 1 } } };
  const gateway = await startGatewayProcess({ home: home.path, config });
  await agentReady(gateway);
  return { home, config, gateway, children: () => childrenIn(pidFile), agents: agentPids(home.path) };
}

function childrenIn(pidFile: string): readonly number[] {
  return existsSync(pidFile) ? readFileSync(pidFile, "utf8").trim().split("\n").map(Number) : [];
}

test("after a kill -9, the next start ends what the agents had left in the background", async () => {
  const { home, config, gateway, children, agents } = await withBackgroundChild();
  await using _home = home;
  const [left = 0] = children();
  await gateway.kill();
  await eventually(
    "no agent of the killed gateway is left",
    () => agents.filter(runs),
    (alive) => alive.length === 0,
  );
  expect(runs(left)).toBe(true); // its parent is gone, and nobody has looked for it yet

  await using next = await startGatewayProcess({ home: home.path, config });
  await agentReady(next);
  expect(runs(left)).toBe(false);
  expect(children().filter(runs).length).toBe(1); // the new agent's own
  expect((await next.chat("echo: alive")).body.content).toBe("alive");
  await next.stop();
  expect(children().filter(runs)).toEqual([]);
});

test("a stop with SIGTERM leaves neither the agents nor what they had started", async () => {
  const { home, gateway, children, agents } = await withBackgroundChild();
  await using _home = home;
  const started = [...agents, ...children()];
  expect([started.length, ...started.map(runs)]).toEqual([2, true, true]);
  expect(await gateway.stop()).toBe(0);
  expect(started.filter(runs)).toEqual([]);
});
