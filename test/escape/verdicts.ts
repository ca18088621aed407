/** Who got through: from what a probe said and from what was seen outside. Pure. */
import type { Probe } from "./probes/probe.ts";
import type { ProbeWorld } from "./world.ts";

/** What a probe said, as runner.py writes it. */
interface Said {
  readonly name: string;
  readonly said: string;
  readonly status: number;
}

/** `secret`: it read a canary. `network`: it reached a service outside. `outside`: something changed there. `inside`: the kernel let it do what it should not. */
type Passage = "secret" | "network" | "outside" | "inside";

export interface Verdict {
  readonly probe: Probe;
  /** Null: the wall, or this machine, stopped it. */
  readonly through: Passage | null;
  /** What stopped it, or how it got through. */
  readonly because: string;
}

interface Seen {
  readonly report: string;
  readonly secrets: readonly string[];
  readonly output: string;
  readonly evidence: Awaited<ReturnType<ProbeWorld["evidence"]>>;
}

export function verdictsOf(world: Pick<ProbeWorld, "probes" | "tagOf">, seen: Seen): readonly Verdict[] {
  const lines = seen.report.split("\n").filter(Boolean);
  const said = new Map(lines.map((line) => JSON.parse(line) as Said).map((one) => [one.name, one]));
  return world.probes.map((probe) => {
    const tag = world.tagOf(probe);
    const own = said.get(probe.name);
    if (own === undefined) return { probe, through: "inside", because: "the runner did not get this far" };
    const because = `${own.said.trim().slice(-300)} [${own.status}]`;
    return { probe, through: passageOf(own, tag, seen), because };
  });
}

function passageOf({ said }: Said, tag: string, { secrets, output, evidence }: Seen): Passage | null {
  if (secrets.some((secret) => said.includes(secret))) return "secret";
  if (evidence.reached.includes(tag)) return "network";
  if (output.includes(`forged by ${tag}`)) return "outside";
  if ([evidence.left, evidence.changed, evidence.hurt].some((tags) => tags.includes(tag))) return "outside";
  return said.includes("THROUGH") ? "inside" : null;
}

export function namesOf(verdicts: readonly Verdict[]): readonly string[] {
  return verdicts.map(({ probe, because }) => `${probe.class}: ${probe.name} (${because})`);
}
