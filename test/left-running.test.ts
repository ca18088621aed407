/** Programs that an agent's shell detached from everything: they end with the turn's limit of time, and with the next start after a kill. Whole gateway, real pi. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { allProcesses, identify, withDescendants } from "../src/agents/process/proc.ts";
import { ERRORS } from "../src/contracts/errors.ts";
import { says, startFakeProvider } from "../src/testing/fake-provider.ts";
import { confinedRoom } from "../src/testing/confined-run.ts";
import { tempHome } from "../src/testing/temp-home.ts";
import { startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { agentPids, asked, endpoint, eventually, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const LEAVE = "env -i setsid sh -c 'echo $$ > left; exec sleep 600' >/dev/null 2>&1 & sleep 600";

test("a program that the shell of a turn without a sandbox detached ends when the turn has taken too long, and at the next start when the gateway was killed", async () => {
  await using provider = await startFakeProvider((request) =>
    asked(request) === "leave it" && request.messages.at(-1)?.role === "user"
      ? { kind: "tools", calls: [{ name: "bash", input: { command: LEAVE } }] }
      : says("fine"),
  );
  const base = endpoint(provider);
  const agent = { ...base.agent, tools: "full", sandbox: "off", pool: { min: 0, max: 1 } };
  const config = {
    ...base,
    agent,
    agents: [{ id: "hasty", timeoutMs: 3_000 }],
    tools: { approvals: { never: ["bash"] } },
  };
  await using home = await tempHome();
  const started = () => startGatewayProcess({ home: home.path, config });
  await using first = await started();
  const left = async () => {
    const pid = await eventually("what the shell left", () => pidIn(join(home.path, "workspace", "left")), Boolean);
    return { lives: () => identify(pid) !== null };
  };

  await eventually(
    "an answer before the time limit", // a start takes its share of it
    () => first.chat("hello", { agent: "hasty" }),
    ({ body }) => body.content === "fine",
  );
  const failed = await first.chat("leave it", { agent: "hasty" });
  expect(failed.body.error?.message).toBe(ERRORS.agent_timeout.say);
  const overdue = await left();
  await eventually(
    "the end of what the turn left",
    () => overdue.lives(),
    (lives) => !lives,
  );

  await rm(join(home.path, "workspace", "left"));
  const cut = first.chat("leave it").catch(() => null);
  const orphan = await left();
  expect(orphan.lives()).toBe(true);
  await first.kill();
  await cut;
  expect(orphan.lives()).toBe(true); // nobody was there to end it
  await using second = await started();
  expect(orphan.lives()).toBe(false);
  await second.kill(); // the turn is tried again, and would be waited for
});

test.skipIf(!(await hasFullTier()))(
  "a kill -9 of the gateway ends its confined agents and all they have started, before anything starts again",
  async () => {
    await using provider = await startFakeProvider(() => ({
      kind: "tools",
      calls: [{ name: "bash", input: { command: LEAVE } }],
    }));
    const base = endpoint(provider);
    const agent = { ...base.agent, tools: "full", sandbox: "required", pool: { min: 0, max: 1 } };
    await using home = await tempHome();
    const config = { ...base, agent, tools: { approvals: { never: ["bash"] } } };
    await using gateway = await startGatewayProcess({ home: home.path, config });
    const cut = gateway.chat("leave it").catch(() => null);
    await eventually("what the shell left", () => pidIn(join(home.path, "workspace", "left")), Boolean);
    const agents = agentPids(home.path);
    const family = withDescendants(allProcesses(), agents);
    expect(family.size).toBeGreaterThan(agents.length + 3); // two that confine it, pi, the shell, and what that has left
    await gateway.kill();
    await cut;
    await eventually(
      "the end of all of them",
      () => [...family].filter((pid) => identify(pid) !== null),
      (alive) => alive.length === 0,
    );
  },
);

async function hasFullTier(): Promise<boolean> {
  await using home = await tempHome();
  return (await confinedRoom(home.path, "full")) !== null;
}

/** 0: not written yet. */
function pidIn(file: string): number {
  return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
}
