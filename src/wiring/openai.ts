/** The OpenAI-compatible door, with the pool, the budget and the names it stands on. */
import { createHash } from "node:crypto";
import { agentProfiles } from "../agents/index.ts";
import type { AgentId } from "../contracts/ids.ts";
import { GatewayError } from "../contracts/errors.ts";
import type { OpenAiDoor } from "../contracts/openai.ts";
import type { ResponsesDoor } from "../contracts/responses.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import { createAnswers, createOpenAiDoor, createResponsesDoor } from "../openai/index.ts";
import { explainRoute, requestSessionKey } from "../routing/index.ts";
import type { Core } from "./core.ts";
import { createWorkspaceFiles } from "./files.ts";
import type { Groups } from "./groups.ts";

const BYTES_PER_MB = 1024 * 1024;
/** A name of a session is short; so much of a digest tells apart what anybody says. */
const DIGEST_CHARS = 32;

interface OpenAiDoors {
  readonly openai: OpenAiDoor;
  readonly responses: ResponsesDoor;
}

export function openOpenAiDoors(core: Core, { people, tools, agents, messages }: Groups): OpenAiDoors {
  const { clock, ids, log, config, secrets, store, nodes } = core;
  const { idempotentAnswers } = store;
  const images = { clock, resolve: systemResolver, maxImageBytes: () => config().media.maxMb * BYTES_PER_MB };
  const names = {
    agents: () => [...new Set([...agentProfiles(config()).values()].map(({ id }) => String(id)))],
    isTool: (name: string) => isToolName(tools.list(), name),
    digest: (text: string) => createHash("sha256").update(text).digest("hex").slice(0, DIGEST_CHARS),
    startedAt: clock.now(),
  };
  const answers = createAnswers({
    clock,
    ids,
    pool: agents.pool,
    budget: people.budget,
    delegations: agents.delegations,
    mask: secrets.mask,
    timeoutMs: (agentId) => config().agents.find(({ id }) => id === agentId)?.timeoutMs ?? config().agent.timeoutMs,
    images,
    route: (principal, agent, chat) =>
      explainRoute(
        config(),
        {
          address: { channel: "api", account: "default", chat },
          scope: "dm",
          sender: { principal, name: "" },
          mentioned: true,
          ...(agent === undefined ? {} : { agentId: agent as AgentId }),
        },
        people.policies,
        people.grants.current(),
      ).verdict,
    sessionKey: requestSessionKey,
  });
  const options = { isAgent: (id: string) => names.agents().includes(id), isTaken: names.isTool, digest: names.digest };
  const files = {
    clock,
    resolve: systemResolver,
    maxFileBytes: images.maxImageBytes,
    place: createPlacing(core, messages),
  };
  const responses = createResponsesDoor({
    clock,
    ids,
    log,
    nodes: nodes.others,
    answers,
    idempotentAnswers,
    store: store.responses,
    keys: people.keys,
    images,
    files,
    options,
  });
  nodes.others.answer("responses.cancel", async ({ id, principal }) => {
    await responses.cancel(id, principal);
    return null;
  });
  return {
    openai: createOpenAiDoor({
      clock,
      log,
      idempotentAnswers,
      counted: nodes.counts.of("requests"),
      answers,
      names,
      options,
    }),
    responses,
  };
}

/** Kept like a file that somebody attached, and copied to where the agent works. */
function createPlacing(core: Core, { inboundFiles }: Groups["messages"]) {
  const workspace = createWorkspaceFiles(core);
  return async (
    { name, bytes }: { readonly name: string; readonly bytes: Uint8Array },
    reader: Parameters<typeof workspace.place>[1],
    signal: AbortSignal,
  ): Promise<{ path: string; mimeType: string } | null> => {
    const open = async () => new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
    const file = { owner: reader.principal, name, mimeType: "", bytes: bytes.byteLength, open };
    const kept = await inboundFiles.keep(file, signal);
    if (kept.kind === "refused") throw new GatewayError("file_refused", "file not taken in", { say: kept.note });
    const path = await workspace.place(kept.media, reader);
    return path === null ? null : { path, mimeType: kept.media.mimeType };
  };
}

/** Names that differ in case alone are one name: some providers do not tell them apart. */
function isToolName({ tools, piTools }: ReturnType<Groups["tools"]["list"]>, name: string): boolean {
  const asked = name.toLowerCase();
  return [...tools, ...piTools].some((tool) => tool.name.toLowerCase() === asked);
}
