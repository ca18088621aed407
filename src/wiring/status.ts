/** Status: what people are shown about the running gateway, from every group that has something to say. */
import type { Backups } from "../backup/index.ts";
import type { SandboxReport } from "../contracts/sandbox.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import type { Reloader } from "../reload.ts";
import { createStatus, type Status } from "../status.ts";
import type { StrayFailures } from "../stray-failures.ts";
import type { Core } from "./core.ts";
import type { Groups } from "./groups.ts";

const NOT_TRIED: SandboxReport = { tier: "none", because: "It has not been tried yet.", leaks: [], advice: null };

function sandboxStatus({ config, options }: Core): GatewayStatus["sandbox"] {
  const { tier, because, leaks, advice } = options.sandbox.report() ?? NOT_TRIED;
  return { setting: config().agent.sandbox, tier, because, leaks, advice };
}

interface StatusParts {
  readonly backups: Pick<Backups, "notices" | "report">;
  readonly stray: StrayFailures;
}

export function openStatus(core: Core, reloader: Reloader, parts: Groups, { backups, stray }: StatusParts): Status {
  const { clock, store, channels, secrets, options } = core;
  const { people, agents, mcpServers, messages, automation } = parts;
  return createStatus(
    {
      clock,
      urgent: [store.health, stray],
      channels,
      reloader,
      mcpServers,
      others: [
        automation,
        { notices: agents.workspaceNotices },
        { notices: agents.modelNotices },
        mcpServers,
        backups,
        core.nodes.versions,
      ],
      sandbox: { report: () => sandboxStatus(core) },
      mask: secrets.mask,
      pool: agents.pool,
      queue: messages.queue,
      outbox: messages.outbox,
      budget: people.budget,
    },
    { version: options.version, console: options.console, node: store.nodes.self, backup: backups.report },
  );
}
