/**
 * A network of its own for each gateway: a namespace, with one line to this machine. A cut loses packets, one way or both, and tells nobody: no
 * connection is closed and none is refused. Needs root and `ip`; the namespaces go with the processes in them.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";

/** Seen from the gateway. */
export type Lost = "what it sends" | "what it is sent" | "both";

export interface NodeNetwork {
  /** Where the gateway listens for people. */
  readonly address: string;
  /** The command that enters it, and becomes the one behind it. */
  readonly enter: readonly string[];
  /** From now on packets between the gateway and the database are lost. */
  lose(what: Lost): void;
  mend(): void;
  /** How many packets were sent again because no answer came. */
  sentAgain(): number;
}

export interface Network extends Disposable {
  /** Where gateways reach models and platforms. */
  readonly front: string;
  /** Where they reach the database. */
  readonly back: string;
  readonly nodes: readonly NodeNetwork[];
}

/** A range that is kept for tests of networks, so nothing real is there. */
const RANGE = "198.18";
const MAX_RANGES = 255;
const NOWHERE = "02:00:00:00:00:ff";

/** Text: why there can be none on this machine. */
export async function openNetwork(count: number): Promise<Network | string> {
  if (process.platform !== "linux") return "network namespaces are Linux's";
  if (process.getuid?.() !== 0) return "only root makes network namespaces";
  const range = freeRange();
  if (range === null) return `all of ${RANGE}.0.0/16 is in use`;
  const holders: ChildProcess[] = [];
  const close = (): void => {
    for (const holder of holders) holder.kill("SIGKILL");
  };
  const front = `${range}.1`;
  const back = `${range}.2`;
  try {
    const nodes: NodeNetwork[] = [];
    for (let at = 0; at < count; at++) {
      const holder = await startHolder();
      holders.push(holder);
      nodes.push(connectNode({ at, range, front, back, holder: holder.pid ?? 0 }));
    }
    return { front, back, nodes, [Symbol.dispose]: close };
  } catch (error) {
    close();
    return `network namespaces cannot be made here: ${String(error)}`;
  }
}

/** Other runs on the same machine have ranges of their own. */
function freeRange(): string | null {
  const used = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  const ranges = Array.from({ length: MAX_RANGES }, (_none, at) => `${RANGE}.${(at + process.pid) % MAX_RANGES}`);
  return ranges.find((range) => !used.some((address) => address.startsWith(`${range}.`))) ?? null;
}

/** Keeps a namespace for as long as this process lives: it ends when its input does. */
async function startHolder(): Promise<ChildProcess> {
  const holder = spawn("unshare", ["--net", "sh", "-c", "ip link set lo up && echo ready && exec cat >/dev/null"], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ready = once(holder.stdout, "data").then(() => null);
  const failed = once(holder.stderr, "data").then(([said]) => String(said));
  const missing = once(holder, "error").then(([error]) => String(error));
  const fault = await Promise.race([ready, failed, missing]);
  if (fault === null) return holder;
  holder.kill("SIGKILL");
  throw new Error(fault);
}

interface Place {
  readonly at: number;
  readonly range: string;
  readonly front: string;
  readonly back: string;
  readonly holder: number;
}

/** Both ends know each other's hardware address for good; a cut gives an end a wrong one, so that its packets reach nobody. */
function connectNode({ at, range, front, back, holder }: Place): NodeNetwork {
  const enter = ["nsenter", `--net=/proc/${holder}/ns/net`];
  const [ownFront, ownBack] = [`${range}.${10 + at}`, `${range}.${100 + at}`];
  const outside = `gw${holder}`;
  const [hostMac, nodeMac] = [`02:00:00:00:01:0${at}`, `02:00:00:00:02:0${at}`];
  const here = (...words: readonly string[]): void => run(["ip", ...words]);
  const inside = (...words: readonly string[]): void => run([...enter, "ip", ...words]);
  const link = ["link", "add", outside, "address", hostMac, "type", "veth", "peer", "name", "line"];
  here(...link, "address", nodeMac, "netns", String(holder));
  const hostKnows = (address: string, mac: string) => here(...neighbour(address, mac, outside));
  const nodeKnows = (address: string, mac: string) => inside(...neighbour(address, mac, "line"));
  for (const [outer, inner] of [
    [front, ownFront],
    [back, ownBack],
  ] as const) {
    here("address", "add", outer, "peer", inner, "dev", outside);
    inside("address", "add", inner, "peer", outer, "dev", "line");
  }
  here("link", "set", outside, "up");
  inside("link", "set", "line", "up");
  for (const address of [ownFront, ownBack]) hostKnows(address, nodeMac);
  for (const address of [front, back]) nodeKnows(address, hostMac);
  return {
    address: ownFront,
    enter,
    lose(what) {
      if (what !== "what it is sent") nodeKnows(back, NOWHERE);
      if (what !== "what it sends") hostKnows(ownBack, NOWHERE);
    },
    mend() {
      nodeKnows(back, hostMac);
      hostKnows(ownBack, nodeMac);
    },
    sentAgain: () => resent(readFileSync(`/proc/${holder}/net/snmp`, "utf8")),
  };
}

function neighbour(address: string, mac: string, line: string): readonly string[] {
  return ["neighbour", "replace", address, "lladdr", mac, "dev", line, "nud", "permanent"];
}

/** Of the table of the kernel: a line with names, and one with numbers. */
function resent(table: string): number {
  const [names = [], numbers = []] = table
    .split("\n")
    .filter((line) => line.startsWith("Tcp:"))
    .map((line) => line.split(" "));
  return Number(numbers[names.indexOf("RetransSegs")] ?? 0);
}

function run([program = "", ...words]: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${words.join(" ")}: ${error?.message ?? stderr.trim()}`);
}
