/** A receiver whose surroundings are silent: no commands, no open questions, no plugins, and channels that can all refuse. */
import { createReceiver, type MessageReceiver, type ReceiverDeps } from "../../flow/index.ts";
import { noHooks } from "../tools/quiet-deps.ts";

type Given = Pick<ReceiverDeps, "log" | "events" | "router" | "queue"> & Partial<ReceiverDeps>;

export function quietReceiver(
  given: Given,
  limits = { maxMessageChars: 1_000 },
  stopping: AbortSignal = new AbortController().signal,
): MessageReceiver {
  const quiet = {
    channels: new Map<string, never>(),
    commands: { find: () => null },
    questions: { hearAnywhere: async () => null, pending: () => [] },
    hooks: noHooks,
  };
  return createReceiver({ ...quiet, ...given }, () => limits, stopping);
}
