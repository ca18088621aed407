/**
 * What the model door costs: the same pi and the same provider, once straight and once through the door, taking turns in one run. From the
 * prompt to the first word, to the end of the turn, and the memory of the side that serves the door while a long answer passes.
 */
import { join } from "node:path";
import { checkConfigText, readEnvironment } from "../../src/config/index.ts";
import { silentLog } from "../../src/kit/log.ts";
import { createMux, type Mux } from "../../src/kit/mux/mux.ts";
import { caller } from "../../src/testing/agent-fixture.ts";
import { tempHome } from "../../src/testing/temp-home.ts";
import { testModelDoor } from "../../src/testing/test-model-door.ts";
import { type BarePi, type GivenToPi, SHORT_INSTRUCTIONS, startBarePi } from "./parts/bare-pi.ts";
import { benchConfig } from "./parts/bench-config.ts";
import { atMost, type Scenario } from "./parts/line.ts";
import { startProviderProcess } from "./parts/provider-process.ts";
import { round, spread } from "./parts/stats.ts";

const BRIDGE = join(import.meta.dir, "../../dist/bridge.js");
const WARM_UP = 40;
const LONG_BYTES = 10 * 1024 * 1024;
const MIB = 1024 * 1024;

interface Sample {
  readonly firstMs: number;
  readonly turnMs: number;
}

async function sampleOf(pi: BarePi): Promise<Sample> {
  const began = performance.now();
  let firstMs = 0;
  await pi.turn("go", (line) => {
    if (firstMs === 0 && line.includes('"type":"text_delta"')) firstMs = performance.now() - began;
  });
  if (firstMs === 0) throw new Error("the model did not say anything");
  return { firstMs, turnMs: performance.now() - began };
}

function doorTo(baseUrl: string) {
  const { config } = checkConfigText(JSON.stringify(benchConfig(baseUrl)), () => undefined);
  if (!config) throw new Error("the bench's own configuration is not valid");
  const [provider = ""] = Object.keys(config.models.providers);
  const deps = { log: silentLog, events: { emit: () => undefined } };
  const made = testModelDoor(deps, { models: config.models, environment: readEnvironment({}) });
  const door = made.connect({ providers: [provider], callsItself: false, fallbackAfterMs: 60_000 });
  door.lease(caller("operator"));
  return door;
}

async function measureBoth(rounds: number) {
  await using provider = await startProviderProcess({ echo: true });
  await using straightHome = await tempHome();
  await using doorHome = await tempHome();
  const given: GivenToPi = { bridge: BRIDGE, instructions: SHORT_INSTRUCTIONS, specs: [], piTools: [] };
  await using straight = await startBarePi(straightHome.path, provider.baseUrl, given);
  await using through = await startBarePi(doorHome.path, provider.baseUrl, given, { door: doorTo(provider.baseUrl) });
  const samples = { straight: [] as Sample[], through: [] as Sample[] };
  for (let turn = 0; turn < WARM_UP + rounds; turn++) {
    if (turn % 50 === 0) await Promise.all([straight.anew(), through.anew()]); // a turn costs more the more was said before it
    const first = turn % 2 === 0; // neither side is always the first
    const [a, b] = first
      ? [await sampleOf(straight), await sampleOf(through)]
      : await sampleBackwards(straight, through);
    if (turn < WARM_UP) continue;
    samples.straight.push(a);
    samples.through.push(b);
  }
  const p50 = (list: readonly Sample[], of: keyof Sample) => spread(list.map((one) => one[of])).p50;
  return {
    firstMs: { straight: p50(samples.straight, "firstMs"), through: p50(samples.through, "firstMs") },
    turnMs: { straight: p50(samples.straight, "turnMs"), through: p50(samples.through, "turnMs") },
  };
}

async function sampleBackwards(straight: BarePi, through: BarePi): Promise<readonly [Sample, Sample]> {
  const second = await sampleOf(through);
  return [await sampleOf(straight), second];
}

/** The most that this process grew by while answers passed the door to a reader that drops them. Without pi, which writes each word back several times. */
async function measureMemory(longBytes: number): Promise<number> {
  await using provider = await startProviderProcess({ longBytes });
  const door = doorTo(provider.baseUrl);
  const agent: Mux = createMux({
    ...END,
    side: "odd",
    opened: () => undefined,
    write: (bytes) => pass(gateway, bytes),
  });
  const gateway: Mux = createMux({ ...END, side: "even", opened: door.serve, write: (bytes) => pass(agent, bytes) });
  const read = async (): Promise<number> => {
    const url = `${provider.baseUrl}/chat/completions`;
    const call = agent.open({ method: "POST", url, headers: [], model: "bench" });
    await call.write(new TextEncoder().encode(JSON.stringify({ messages: [] })));
    call.end();
    let most = 0;
    for (let chunk = await call.read(); chunk !== null; chunk = await call.read())
      most = Math.max(most, process.memoryUsage.rss());
    return most;
  };
  await read(); // what is loaded once
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  return Math.max(0, (await read()) - before);
}

const END = { broken: (why: string) => console.error(why) };

function pass(to: Mux, bytes: Uint8Array): number {
  queueMicrotask(() => to.push(bytes));
  return bytes.length;
}

export const modelDoor: Scenario = {
  name: "model-door",
  async measure(scale) {
    const { firstMs, turnMs } = await measureBoth(Math.max(50, Math.round(400 * scale)));
    const [short, long] = [await measureMemory(LONG_BYTES), await measureMemory(10 * LONG_BYTES)];
    return [
      { what: "first word, straight to the provider, p50", value: firstMs.straight, unit: "ms" },
      {
        what: "  added by the model door, p50",
        value: round(firstMs.through - firstMs.straight),
        unit: "ms",
        ...atMost(1),
      },
      { what: "turn, straight to the provider, p50", value: turnMs.straight, unit: "ms" },
      {
        what: "  added by the model door, p50",
        value: round(turnMs.through - turnMs.straight),
        unit: "ms",
        ...atMost(1),
      },
      { what: "memory while 10 MB pass", value: round(short / MIB), unit: "MiB", ...atMost(64) },
      { what: "memory while 100 MB pass", value: round(long / MIB), unit: "MiB", ...atMost(64) },
    ];
  },
};
