/** The same probes, run by the shell of a real pi in a whole gateway: folders, environment, network and limits are those of the product. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { agentFixture, NOTHING_ADDED, providers, TEST_KEY } from "../../src/testing/agent-fixture.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../../src/testing/fake-provider.ts";
import { type TempHome, tempHome } from "../../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../../src/testing/whole/gateway-process.ts";
import { asked, endpoint, statusOf, WHOLE_TEST_MS } from "../whole-fixture.ts";
import { DESCRIPTORS, hasTier, PROBE_LIMITS } from "./probe-run.ts";
import { BASIC_LEAKS, DAEMONS } from "./leaks.ts";
import { PROBES } from "./probes/all.ts";
import { namesOf, verdictsOf } from "./verdicts.ts";
import { probeWorld, PYTHON, stackOf } from "./world.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const KEY = "a-provider-key-that-no-agent-sees-7713";
const IN_ENVIRONMENT = "a-secret-of-the-gateways-environment-9021";
const PROBES_COMMAND = `${PYTHON} escape/runner.py escape/order.json`;
/** Leaves files where pi starts and where its shell looks, whose code would leave a mark in the workspace. */
const PLANT_COMMAND = String.raw`
  mark='require("fs").writeFileSync("ran-" + process.pid, "")'
  echo "$mark" > evil.js; echo "$mark" > evil.ts
  echo 'preload = ["./evil.js"]' > bunfig.toml; cp bunfig.toml "$HOME/.bunfig.toml"
  echo 'BUN_OPTIONS=--preload=./evil.js' > .env; cp .env .env.local; cp .env .env.production
  echo '{"compilerOptions":{"paths":{"*":["./evil.ts"]}}}' > tsconfig.json
  echo '{"name":"x","main":"./evil.js","imports":{"#*":"./evil.js"}}' > package.json
  for file in .bashrc .profile .bash_profile; do echo 'touch ran-$$' > "$HOME/$file"; cp "$HOME/$file" .; done
  mkdir -p .pi/extensions; cp evil.ts .pi/extensions/evil.ts
  echo planted`;

const canTry = existsSync(PYTHON) && (await hasTier("full"));

/** The model runs the command that stands in the message, once. */
function obedient(request: ProviderRequest): FakeReply {
  const command = /RUN(.*)END/s.exec(asked(request))?.[1];
  const done = request.messages.at(-1)?.role === "tool";
  return command === undefined || done
    ? says("done")
    : { kind: "tools", calls: [{ name: "bash", input: { command } }] };
}

describe.skipIf(!canTry)("the shell of a confined pi, full tier", () => {
  let provider: FakeProvider;
  let home: TempHome;
  let gateway: GatewayProcess;
  const start = () => {
    const base = endpoint(provider, "fake-1", KEY);
    const agent = { ...base.agent, sandbox: "required", pool: { min: 0, max: 1 }, limits: PROBE_LIMITS };
    return startGatewayProcess({ home: home.path, config: { ...base, agent }, env: { ESCAPE: IN_ENVIRONMENT } });
  };

  beforeAll(async () => {
    home = await tempHome();
    provider = await startFakeProvider(obedient);
    gateway = await start();
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  test("gets through with none of the probes, and the gateway is well afterwards", async () => {
    await gateway.chat("good morning");
    const workspace = join(home.path, "workspace");
    const token = join(home.path, "token");
    const facts = { ...DESCRIPTORS, token, gateway: gateway.pid, gatewayStack: stackOf(gateway.pid) };
    await using world = await probeWorld(PROBES, {
      home: home.path,
      workspace,
      bun: process.execPath,
      facts,
      pi: "above",
    });
    const { body } = await gateway.chat(`RUN${PROBES_COMMAND}END`);
    expect(body.tool_calls).toMatchObject([{ tool: "bash", status: "success" }]);
    const verdicts = verdictsOf(world, {
      report: readFileSync(world.report, "utf8"),
      secrets: [world.canary, gateway.token, KEY, IN_ENVIRONMENT],
      output: "",
      evidence: await world.evidence(),
    });
    expect(namesOf(verdicts.filter(({ through }) => through !== null))).toEqual([]);
    expect((await gateway.chat("good evening")).body.content).toBe("done");
    expect((await statusOf(gateway)).sandbox.tier).toBe("full");
  });

  test("leaves files in its workspace whose code does not run at the next start", async () => {
    const { body } = await gateway.chat(`RUN${PLANT_COMMAND}END`);
    expect(body.tool_calls).toMatchObject([{ tool: "bash", status: "success" }]);
    await gateway.stop();
    gateway = await start();
    await gateway.chat("RUNtrueEND");
    const marks = [...new Bun.Glob("**/ran-*").scanSync({ cwd: join(home.path, "workspace"), dot: true })];
    expect(marks).toEqual([]);
    expect((await gateway.chat("good night")).body.content).toBe("done");
  });
});

test.skipIf(!existsSync(PYTHON) || !(await hasTier("basic")))(
  "the shell of a confined pi, basic tier, reads no secret, reaches no service and leaves no program behind; the rest that gets through is documented",
  async () => {
    await using provider = await startFakeProvider(obedient);
    const settings = { model: "fake/fake-1", tools: "full", tiers: ["basic"], pool: { max: 1 } } as const;
    const limits = { ...NOTHING_ADDED.limits, ...PROBE_LIMITS };
    await using fx = await agentFixture({ ...settings, limits }, providers(provider));
    await fx.turn("good morning");
    const workspace = join(fx.home, "workspace");
    const facts = DESCRIPTORS;
    await using world = await probeWorld(PROBES, {
      home: fx.home,
      workspace,
      bun: process.execPath,
      facts,
      pi: "above",
    });
    await fx.turn(`RUN${PROBES_COMMAND}END`);
    const verdicts = verdictsOf(world, {
      report: readFileSync(world.report, "utf8"),
      secrets: [world.canary, TEST_KEY],
      output: "",
      evidence: await world.evidence(),
    });
    const passed = verdicts.filter(({ through }) => through !== null);
    const documented = new Set(Object.values(BASIC_LEAKS).flat());
    expect(namesOf(passed.filter(({ through }) => through === "secret" || through === "network"))).toEqual([]);
    expect(namesOf(passed.filter(({ probe }) => !documented.has(probe.name)))).toEqual([]);
    expect(namesOf(passed.filter(({ probe }) => DAEMONS.includes(probe.name)))).toEqual([]);
  },
);
