/** A scripted model as a generator: it yields tool calls, gets their results, and returns its last words. One run for each turn. */
import { FACTS, textOf } from "../worlds/model-words.ts";
import { type FakeReply, type ProviderRequest, says } from "../fake-provider.ts";

type PlayedCall = readonly [tool: string, input: Readonly<Record<string, unknown>>];
/** A result is parsed when it is JSON. */
export type Play = (told: ToldTurn) => Generator<PlayedCall, string, unknown>;

interface ToldTurn {
  /** The lines of the facts block, by what stands before the colon. */
  readonly facts: Readonly<Record<string, string>>;
  /** All that the model reads of the newest message. */
  readonly text: string;
}

/** A script for a provider: turns with the same conversation go on where their last call was. */
export function playing(play: (told: ToldTurn) => ReturnType<Play>): (request: ProviderRequest) => FakeReply {
  let running: ReturnType<Play> | null = null;
  return ({ messages }) => {
    const last = messages.at(-1);
    const isNew = last?.role === "user";
    if (isNew) running = play(toldIn(textOf(last.content)));
    if (!running) return says("nothing was asked");
    const step = isNew ? running.next() : running.next(parsed(textOf(last?.content)));
    if (step.done) return says(step.value);
    const [name, input] = step.value;
    return { kind: "tools", calls: [{ name, input }] };
  };
}

function toldIn(text: string): ToldTurn {
  const lines = FACTS.exec(text)?.[2]?.split("\n") ?? [];
  const facts = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  return { facts, text };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // a refusal is a sentence
  }
}
