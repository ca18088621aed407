/** What happens to gateways and their database. Each kind says whether it was seen to bite, and resolves when it is over. */
import type { Chance } from "../../src/testing/chance.ts";
import { waitFor } from "../../src/testing/wait-for.ts";
import type { Chats } from "./chats.ts";
import { type Node, UP_MS } from "./node.ts";
import { type People, sessionName } from "./people.ts";
import type { Troubles } from "./takeovers.ts";
import type { NodesWorld, Outage } from "./world.ts";

export const FAULTS = [
  "kill",
  "kill, and stay away",
  "freeze past its time",
  "freeze for a moment",
  "end in order",
  "cut from the database",
  "silence to the database",
  "network lost, both ways",
  "network lost, one way",
  "silence between gateways",
  "dead listening connection",
  "answer to a commit lost",
  "commit lost",
  "kill the database",
  "stop the database at once",
  "restart the database",
  "full disk of the database",
  "full disk of a gateway",
  "no connection left",
  "clock jump",
  "poisoned message",
  "second poller",
] as const;

export type Fault = (typeof FAULTS)[number];

export interface Stage {
  readonly world: NodesWorld;
  readonly people: People;
  readonly chats: Chats;
  readonly sessions: number;
  /** How often the model was asked what it cannot answer. */
  poisonAsked(): number;
  readonly troubles: Troubles;
}

interface Aim {
  readonly node: Node;
  readonly chance: Chance;
}

interface Scene extends Stage, Aim {}

/** True: it was seen to bite. */
type Strike = (scene: Scene) => Promise<boolean>;
type Span = readonly [number, number];

/** Longer than a gateway counts as live without a word. */
const PAST_ITS_TIME_MS: Span = [7_000, 11_000];
const MOMENT_MS: Span = [200, 4_000];
const AWAY_MS: Span = [8_000, 14_000];
const OUTAGE_MS: Span = [200, 6_000];
const CROWDED_MS: Span = [2_000, 7_000];
const CLOCK_OFF_MS: Span = [60_000, 30 * 60_000];
/** Until a gateway commits something, or a model is asked. */
const BITE_MS = 30_000;

const between = ({ world, chance }: Scene, span: Span): Promise<void> => world.pause(chance.between(...span));

/** Whether a number grows while something lasts. */
async function grows(count: () => number, during: () => Promise<unknown>): Promise<boolean> {
  const before = count();
  await during();
  return count() > before;
}

/** False: it did not within the time that a fault has. */
async function happens(what: string, look: () => boolean): Promise<boolean> {
  return waitFor(what, look, Boolean, { withinMs: BITE_MS }).catch(() => false);
}

function killFor(span: Span): Strike {
  return async ({ node, chance }) => {
    const isThere = node.process() !== null;
    await node.kill(chance.between(...span));
    return isThere;
  };
}

function freezeFor(span: Span): Strike {
  return async (scene) => {
    const pid = scene.node.process()?.pid;
    scene.node.freeze();
    const isFrozen = pid !== undefined && (await isStopped(pid));
    await between(scene, span);
    scene.node.thaw();
    return isFrozen;
  };
}

async function isStopped(pid: number): Promise<boolean> {
  const isHeld = async (): Promise<boolean> => {
    const stat = await Bun.file(`/proc/${pid}/stat`)
      .text()
      .catch(() => "");
    return / [Tt] /.test(stat.slice(stat.lastIndexOf(")") + 1));
  };
  return waitFor("a process to stand still", isHeld, Boolean, { withinMs: 1_000 }).catch(() => false);
}

const silent =
  (which: "all" | "letters"): Strike =>
  (scene) =>
    grows(
      () => scene.node.wire.swallowed,
      async () => {
        scene.node.wire.silence(which);
        await between(scene, PAST_ITS_TIME_MS);
        scene.node.wire.mend();
      },
    );

const cutAt =
  (which: "after the commit" | "before the commit"): Strike =>
  async ({ node: { wire } }) => {
    const before = wire.cuts;
    wire.cutNext(which);
    const isCut = await happens("a commit", () => wire.cuts > before);
    wire.cutNext(null);
    return isCut;
  };

const outage =
  (how: Outage): Strike =>
  async (scene) => {
    await scene.world.outage(how, () => between(scene, OUTAGE_MS));
    return true;
  };

/** Both directions, or one of them. */
const networkLost =
  (ways: "both" | "one"): Strike =>
  async (scene) => {
    const { network } = scene.node;
    if (!network) return false;
    return grows(network.sentAgain, async () => {
      network.lose(ways === "both" ? "both" : scene.chance.pick(["what it sends", "what it is sent"]));
      await between(scene, PAST_ITS_TIME_MS);
      network.mend();
    });
  };

const STRIKES: Readonly<Record<Fault, Strike>> = {
  kill: killFor([0, 0]),
  "kill, and stay away": killFor(AWAY_MS),
  "freeze past its time": freezeFor(PAST_ITS_TIME_MS),
  "freeze for a moment": freezeFor(MOMENT_MS),
  async "end in order"({ node }) {
    const isThere = node.process() !== null;
    await node.end();
    return isThere;
  },
  "cut from the database": (scene) =>
    grows(
      () => scene.node.wire.cuts,
      async () => {
        scene.node.wire.cutAll();
        await between(scene, PAST_ITS_TIME_MS);
        scene.node.wire.mend();
      },
    ),
  "silence to the database": silent("all"),
  "network lost, both ways": networkLost("both"),
  "network lost, one way": networkLost("one"),
  "silence between gateways": silent("letters"),
  "dead listening connection": ({ node: { wire } }) => {
    const before = wire.swallowed;
    return happens("something to be swallowed", () => {
      wire.deafen(); // again, where the gateway has none at the moment
      return wire.swallowed > before;
    });
  },
  "answer to a commit lost": cutAt("after the commit"),
  "commit lost": cutAt("before the commit"),
  "kill the database": outage("kill"),
  "stop the database at once": outage("immediate"),
  "restart the database": outage("fast"),
  "full disk of the database": (scene) => scene.world.fillDatabase(() => between(scene, CROWDED_MS)),
  async "full disk of a gateway"(scene) {
    const isFull = scene.node.disk?.fill() ?? false;
    await between(scene, CROWDED_MS);
    scene.node.disk?.free();
    return isFull;
  },
  /** One of the gateways loses its own first, so that it needs new ones meanwhile. */
  "no connection left": (scene) =>
    grows(
      () => scene.node.wire.refused,
      async () => {
        const { world, node } = scene;
        await world.takeConnections(node.wire.cutAll, async () => {
          node.wire.mend();
          await between(scene, CROWDED_MS);
        });
      },
    ),
  "clock jump": (scene) =>
    grows(
      () => scene.node.clock.reads,
      async () => {
        const { node, chance } = scene;
        node.clock.shift(chance.between(...CLOCK_OFF_MS) * (chance.hits(0.5) ? 1 : -1));
        await between(scene, PAST_ITS_TIME_MS);
        node.clock.shift(0);
      },
    ),
  async "poisoned message"({ people, sessions, chance, poisonAsked }) {
    const before = poisonAsked();
    people.poison(sessionName(chance.between(0, sessions - 1)));
    return happens("the model to be asked", () => poisonAsked() > before);
  },
  async "second poller"(scene) {
    return (await scene.chats.pollBeside(between(scene, CROWDED_MS))) > 0;
  },
};

const OF_THE_DATABASE: readonly Fault[] = [
  "kill the database",
  "stop the database at once",
  "restart the database",
  "full disk of the database",
  "no connection left",
];

/** They leave every gateway as it is. */
const OF_NOBODY: readonly Fault[] = ["poisoned message", "second poller"];

/** True: it was seen to bite. */
export async function strike(stage: Stage, fault: Fault, { node, chance }: Aim): Promise<boolean> {
  if (OF_NOBODY.includes(fault)) return STRIKES[fault]({ ...stage, node, chance });
  const isOfDatabase = OF_THE_DATABASE.includes(fault);
  const isOver = stage.troubles.begin(fault, isOfDatabase ? null : node.name);
  try {
    return await STRIKES[fault]({ ...stage, node, chance });
  } finally {
    if (isOfDatabase) isOver();
    else void untilThere(node).then(isOver);
  }
}

/** One that is there, if there is one: nothing can be done to the others. */
export function pickNode({ nodes }: NodesWorld, chance: Chance): Node {
  const [first, ...others] = nodes.filter((node) => node.process() !== null);
  return chance.pick(first ? [first, ...others] : nodes);
}

/** A gateway that was killed is in trouble until it is there again. Never rejects. */
async function untilThere(node: Node): Promise<void> {
  await waitFor(`${node.name} to be there`, () => node.process() !== null, Boolean, { withinMs: UP_MS }).catch(
    () => undefined, // whoever waits for it later says so
  );
}

/** Kinds that this machine cannot put to gateways, each with the reason. */
export function leftOut(world: NodesWorld, noNetwork: string | null): Readonly<Partial<Record<Fault, string>>> {
  const { noDisks } = world;
  return {
    ...(noNetwork === null ? {} : { "network lost, both ways": noNetwork, "network lost, one way": noNetwork }),
    ...(noDisks === null ? {} : { "full disk of the database": noDisks, "full disk of a gateway": noDisks }),
  };
}
