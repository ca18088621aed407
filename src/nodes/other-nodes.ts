/** Asks other gateways and tells them things, by letters. */
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
      const asked = await letters.live();
      const answers = await Promise.allSettled(asked.map((node) => asking.ask(node, "reload", { what })));
      const silent = asked.filter((_node, at) => answers[at]?.status === "rejected");
      if (silent.length > 0)
        log.warn("some gateways did not say that a change is in force there", { what, nodes: silent });
    },
  };
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
