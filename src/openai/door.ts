/** The OpenAI-compatible door: agents as models, and chat completions as turns of a named session or of one that ends with the request. */
import type { AskedCompletion, Completion, ModelCard, OpenAiDoor } from "../contracts/openai.ts";
import type { SharedCount } from "../kit/shared-count.ts";
import { type Answers, isFor } from "./answers.ts";
import { createRate } from "./rate.ts";
import { createRepeats, type RepeatDeps } from "./repeats.ts";
import { MODEL, readRequest, type RequestOptions } from "./request.ts";

const MS_PER_SECOND = 1_000;

interface OpenAiDeps extends RepeatDeps {
  /** Of requests; absent: there are no other gateways. */
  readonly counted?: SharedCount;
  readonly answers: Pick<Answers, "answer">;
  readonly options: RequestOptions;
  /** As the configuration has them now. */
  readonly names: { agents(): readonly string[]; readonly startedAt: number };
}

export function createOpenAiDoor(deps: OpenAiDeps): OpenAiDoor {
  const { names, clock, answers, options } = deps;
  const repeats = createRepeats<Completion>(deps, "completions");
  return {
    models(key) {
      const agents = names.agents().filter((id) => isFor(key, id));
      return [MODEL, ...agents.map((id) => `${MODEL}/${id}`)].map((id) => cardOf(id, names.startedAt));
    },
    read: (body, session) => readRequest(body, session, options),
    admit: createRate({ clock, counted: deps.counted }),
    answer(asked: AskedCompletion, show, signal) {
      const run = async (): Promise<Completion> => {
        const answer = await answers.answer(asked, show, signal);
        return { ...answer, created: Math.floor(clock.now() / MS_PER_SECOND) };
      };
      return repeats.once(asked, run, signal);
    },
  };
}

function cardOf(id: string, startedAt: number): ModelCard {
  return { id, object: "model", created: Math.floor(startedAt / MS_PER_SECOND), owned_by: MODEL };
}
