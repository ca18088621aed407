/**
 * What turns need, with everything that a test does not give made silent: no commands, no plugins, no budget, nobody who loses access, and a
 * model that is told the senders' words alone.
 */
import type { Commands } from "../../contracts/command.ts";
import type { PromptSources, ReplySteps, TurnAgents, TurnsDeps } from "../../flow/index.ts";
import type { Ids } from "../../kit/ids.ts";
import { freeBudget } from "../free-budget.ts";
import { createSeqIds } from "../seq-ids.ts";
import { fixedRights, noHooks } from "../tools/quiet-deps.ts";

type Needed = Pick<TurnsDeps, "clock" | "log" | "events" | "queue" | "live"> &
  Pick<TurnAgents, "pool"> &
  Pick<ReplySteps, "outbox"> &
  Pick<PromptSources, "media">;

/** All groups of `TurnsDeps` in one, so that a test names what it is about. */
export type QuietTurns = Needed & Partial<TurnsDeps & TurnAgents & ReplySteps & PromptSources>;

export function quietTurns(given: QuietTurns): TurnsDeps {
  const {
    clock,
    log,
    events,
    queue,
    live,
    commands = NO_COMMANDS,
    rights = fixedRights,
    budget = freeBudget(),
  } = given;
  return {
    clock,
    log,
    events,
    queue,
    live,
    commands,
    rights,
    budget,
    agents: {
      pool: given.pool,
      delegations: given.delegations ?? { open: noDelegations },
      lastStats: given.lastStats ?? {
        stale: () => false,
        note: () => undefined,
        expect: () => undefined,
        settled: async () => undefined,
        of: () => null,
      },
    },
    prompt: quietPrompt({ ...given, commands }),
    replies: {
      tools: given.tools ?? { call: () => Promise.reject(new Error("no test of this sends files")) },
      poster: given.poster ?? { post: () => Promise.reject(new Error("no test of this posts messages")) },
      hooks: given.hooks ?? noHooks,
      outbox: given.outbox,
    },
  };
}

export function quietPrompt(given: Partial<PromptSources> & Pick<PromptSources, "media">): PromptSources {
  const ids: Ids = given.ids ?? createSeqIds();
  return {
    ids,
    context: { tell: () => null, zoneOf: () => "UTC" },
    commands: NO_COMMANDS,
    attached: { place: async () => null },
    reactions: { tell: async () => [] },
    messageIds: { idOf: async () => null },
    groupTalk: { tell: () => [] },
    history: { transcript: async () => ({ items: [] }) },
    systemEvents: { claim: async () => ({ events: [], hidden: 0 }) },
    ...given,
  };
}

const NO_COMMANDS: Commands = {
  find: () => null,
  findFor: () => null,
  plain: ({ text }) => text,
  workKind: () => "talk",
  list: () => [],
  answer: async () => "",
};

function noDelegations() {
  const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  return { settle: async () => ({ usage, spans: [] }), [Symbol.dispose]: () => undefined };
}
