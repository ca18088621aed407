/** Asks other gateways and tells them things, by letters. */
import { GatewayError } from "../contracts/errors.ts";
import type { InstanceId } from "../contracts/ids.ts";
import type { NodeNews, OtherNodes } from "../contracts/nodes.ts";
import type { LetterStore, ReceivedLetter } from "../contracts/store/letters.ts";
import type { Clock } from "../kit/clock.ts";
import type { Ids } from "../kit/ids.ts";
import type { Log } from "../kit/log.ts";
import { createTopic, type Topic } from "../kit/topic.ts";
import { createAnswering, createAsking, silentError } from "./questions.ts";

interface OtherNodesDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly letters: LetterStore;
}

export function createOtherNodes({ clock, ids, log, letters }: OtherNodesDeps): OtherNodes {
  const send = (kind: string, to: InstanceId | null, body: unknown): void =>
    letters.send({ kind, to, body: JSON.stringify(body) });
  const asking = createAsking({ clock, ids, log, send });
  const answering = createAnswering({ clock, ids, log, send });
  const news = createNewsTopics();
  const came = createTopic<InstanceId>();
  const gone = createTopic<InstanceId>();

  /** Kinds that are not known are of a newer version. */
  const receive = ({ kind, body, from }: ReceivedLetter): void => {
    if (kind === "question") answering.hear(body, from);
    else if (kind === "answer") asking.hear(body);
    else if (kind === "news") news.hear(body, from);
  };
  letters.onLetter((letter) => {
    try {
      receive(letter);
    } catch (error) {
      log.error("letter of another gateway could not be read", { from: letter.from, kind: letter.kind, error });
    }
  });
  letters.onOther(({ node, is }) => {
    if (is === "here") return came.publish(node);
    asking.gone(node);
    gone.publish(node);
  });

  return {
    list: letters.others,
    ask: (async (node, question, body) => {
      // one that has ended never answers, and whoever asks would wait
      if (!letters.others().includes(node) && !(await letters.live()).includes(node)) throw silentError(node);
      return asking.ask(node, question, body);
    }) as OtherNodes["ask"], // what a question is answered with is in the contract
    answer: answering.answer as OtherNodes["answer"],
    tell(name, told) {
      if (letters.others().length > 0) send("news", null, { name, told });
    },
    hear: (name, listener) => news.of(name).subscribe(({ told, from }) => listener(told as never, from)),
    onMissed: letters.onMissed,
    onGone: gone.subscribe,
    onCame: came.subscribe,
    async agree(what) {
      const reload = (node: InstanceId) => asking.ask(node, "reload", { what });
      const live = await letters.live();
      await Promise.all(live.map((node) => untilReloaded({ clock, log, letters }, node, reload)));
    },
  };
}

const RELOAD_PAUSE_MS = 500;
/** Far longer than a gateway lives without a word. */
const RELOAD_MS = 30_000;

/** Resolves when this gateway has read it anew, or does not live any more. Throws when it lives, and says in vain that it cannot. */
async function untilReloaded(
  { clock, log, letters }: Pick<OtherNodesDeps, "clock" | "log" | "letters">,
  node: InstanceId,
  reload: (node: InstanceId) => Promise<unknown>,
): Promise<void> {
  using limit = clock.deadline(RELOAD_MS, () => notEverywhere(node));
  for (;;) {
    try {
      await reload(node);
      return;
    } catch (error) {
      log.warn("another gateway did not say that a change is in force there", { node, error });
    }
    if (!(await letters.live()).includes(node)) return;
    await clock.sleep(RELOAD_PAUSE_MS, limit.signal);
  }
}

function notEverywhere(node: InstanceId): GatewayError {
  return new GatewayError("node_silent", "a change is not in force at another gateway", {
    fields: { node },
    say: "The change is stored, and holds at this gateway. Another one has not said that it holds there too: look at pi-gw nodes, and stop that one if it must not wait.",
  });
}

interface Heard {
  readonly told: unknown;
  readonly from: InstanceId;
}

function createNewsTopics() {
  const topics = new Map<keyof NodeNews, Topic<Heard>>();
  return {
    of(name: keyof NodeNews): Topic<Heard> {
      const topic = topics.get(name) ?? createTopic<Heard>();
      topics.set(name, topic);
      return topic;
    },
    hear(letter: string, from: InstanceId): void {
      const { name, told } = JSON.parse(letter) as { readonly name: keyof NodeNews; readonly told: unknown };
      topics.get(name)?.publish({ told, from });
    },
  };
}
