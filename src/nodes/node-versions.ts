/**
 * Gateways on one database should have the same version, settings and plugins, or people are answered differently by each. Each says in its row
 * what is in force there, as digests that give nothing away; whoever looks is told which gateway differs. Nothing is refused for it.
 */
import type { InstanceId } from "../contracts/ids.ts";
import type { GatewayNode, NodeDifference, NodeStore, NodeVersions } from "../contracts/store/nodes.ts";
import type { Clock } from "../kit/clock.ts";
import type { Log } from "../kit/log.ts";

interface NodeVersionDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly nodes: Pick<NodeStore, "self" | "several" | "list" | "describe">;
}

interface VersionSource {
  /** As of now. */
  versions(): NodeVersions;
  /** Called when settings or plugins may have changed. */
  onChange(listener: () => void): Disposable;
}

export interface NodeVersionWatch {
  /** A sentence for each gateway that differs from this one, as of the last look. */
  notices(): readonly string[];
  /** Says what is in force here, again when it changes, and looks at the others now and then. */
  start(source: VersionSource): AsyncDisposable;
}

const LOOK_MS = 15_000;
const MAX_NODES = 1_000;

/** Alone with its database, a gateway says what it has and looks for nobody. */
export function createNodeVersions({ clock, log, nodes }: NodeVersionDeps): NodeVersionWatch {
  let told: NodeVersions | null = null;
  let different: readonly string[] = [];

  const look = async (now: NodeVersions): Promise<void> => {
    if (told?.settings !== now.settings || told.plugins !== now.plugins) {
      await nodes.describe(now);
      told = now;
    }
    different = nodes.several ? noticesIn(await nodes.list(MAX_NODES), nodes.self.id) : [];
  };
  /** Never rejects. */
  const run = async ({ versions, onChange }: VersionSource, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const changed = new AbortController();
      using _change = onChange(() => changed.abort(new Error("settings or plugins have changed")));
      await look(versions()).catch((error: unknown) => log.warn("gateways could not be compared", { error }));
      const either = AbortSignal.any([signal, changed.signal]);
      if (nodes.several)
        await clock.sleep(LOOK_MS, either).catch(() => undefined); // looked for again
      else await untilAborted(either);
    }
  };

  return {
    notices: () => different,
    start(source) {
      const closing = new AbortController();
      const running = run(source, closing.signal);
      return {
        async [Symbol.asyncDispose]() {
          closing.abort(new Error("the gateway stops"));
          await running;
        },
      };
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** What of another gateway is not as it is at this one. One that has not said yet, or has ended, differs in nothing. */
export function differencesOf(node: GatewayNode, self: GatewayNode | undefined): readonly NodeDifference[] {
  if (!self || node.id === self.id || node.state === "gone") return [];
  const isOther = (one: string | null, other: string | null): boolean =>
    one !== null && other !== null && one !== other;
  return [
    ...(node.version === self.version ? [] : (["version"] as const)),
    ...(isOther(node.settings, self.settings) ? (["settings"] as const) : []),
    ...(isOther(node.plugins, self.plugins) ? (["plugins"] as const) : []),
  ];
}

function noticesIn(all: readonly GatewayNode[], me: InstanceId): readonly string[] {
  const self = all.find(({ id }) => id === me);
  return all.flatMap((node) => {
    const differences = differencesOf(node, self).filter((one) => one !== "version"); // an update, one gateway after the other
    if (differences.length === 0) return [];
    return [
      `The gateway ${node.name} has other ${differences.join(" and ")} than this one, on the same database. People are answered by whichever they reach: make them the same, or look at pi-gw nodes.`,
    ];
  });
}
