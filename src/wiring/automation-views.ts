/** Automation for an operator who looks: heartbeats with their checklists, and webhooks with their keys. */
import {
  agentProfiles,
  agentWorkspace,
  checklistFile,
  profileKey,
  readChecklist,
  writeChecklist,
} from "../agents/index.ts";
import { createWebhookAdmin, heartbeatsOf } from "../automation/index.ts";
import type { HeartbeatCard, Heartbeats } from "../contracts/automation/heartbeat.ts";
import type { ConfigEditor } from "../contracts/config-api.ts";
import { type AgentId, DEFAULT_AGENT } from "../contracts/ids.ts";
import type { HttpDeps } from "../http/index.ts";
import { systemResolver } from "../kit/outside/public-address.ts";
import type { Core } from "./core.ts";

/** The folder whose HEARTBEAT.md the agent looks after; null: it has none of its own. */
export function checklistFolder({ config, options }: Core, agentId: AgentId): string | null {
  const named = config().agents.find(({ id }) => id === agentId);
  const profile = agentProfiles(config()).get(profileKey(agentId, "owner"));
  if (!profile || (agentId !== DEFAULT_AGENT && named?.workspace === undefined)) return null;
  return agentWorkspace(profile.config, options);
}

function createHeartbeats(core: Core): Heartbeats {
  return {
    list: () => Promise.all(heartbeatsOf(core.config()).map((settings) => cardOf(core, settings))),
    async write(agentId, text, before) {
      const isKnown = heartbeatsOf(core.config()).some((one) => one.agentId === agentId);
      const folder = isKnown ? checklistFolder(core, agentId as AgentId) : null;
      if (folder === null)
        return { kind: "refused", say: `There is no agent called ${agentId} that has a folder of its own.` };
      try {
        const written = await writeChecklist(folder, { text, before, copyName: core.ids.next("copy") });
        return { kind: written ? "written" : "changed" };
      } catch (error) {
        core.log.warn("checklist could not be written", { agentId, error });
        return { kind: "refused", say: `${checklistFile(folder)} could not be written. The log says why.` };
      }
    },
  };
}

async function cardOf(core: Core, settings: ReturnType<typeof heartbeatsOf>[number]): Promise<HeartbeatCard> {
  const { agentId, enabled, every, activeHours } = settings;
  const folder = checklistFolder(core, agentId);
  return {
    agentId,
    enabled,
    everyMs: every,
    activeHours,
    checklist: folder === null ? null : await readChecklist(folder),
    file: folder === null ? null : checklistFile(folder),
  };
}

type OwnViews = Pick<HttpDeps["automation"], "heartbeats" | "webhookAdmin">;

/** What the port offers of automation. */
export function automationForPort(
  core: Core,
  { jobs, lookAhead, webhooks }: Omit<HttpDeps["automation"], keyof OwnViews>,
  editor: ConfigEditor,
): HttpDeps["automation"] {
  const { clock, ids, config } = core;
  const webhookAdmin = createWebhookAdmin({
    clock,
    ids,
    resolve: systemResolver,
    incoming: webhooks,
    editor,
    settings: () => config().hooks,
  });
  return { jobs, lookAhead, webhooks, webhookAdmin, heartbeats: createHeartbeats(core) };
}
