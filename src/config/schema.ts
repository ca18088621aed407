/**
 * The configuration: type, default, check and documentation in one place, a file per section. docs/reference/config.md and the JSON Schema
 * for editors are made from it. A key is here only when something reads it. Sections marked `security` refuse unknown keys, the others warn.
 */
import { type Static, Type } from "typebox";
import { AgentSection, AgentsSection } from "./sections/agents.ts";
import { BackupSection } from "./sections/backup.ts";
import { BudgetSection } from "./sections/budget.ts";
import { CronSection } from "./sections/cron.ts";
import { ChannelsSection } from "./sections/channels/channels.ts";
import { GatewaySection } from "./sections/gateway.ts";
import { HeartbeatSection } from "./sections/heartbeat.ts";
import { HooksSection } from "./sections/hooks.ts";
import { LoggingSection } from "./sections/logging.ts";
import { McpSection } from "./sections/mcp.ts";
import { MediaSection } from "./sections/media.ts";
import { ModelsSection } from "./sections/models.ts";
import { ObserveSection } from "./sections/observe.ts";
import { PluginsSection } from "./sections/plugins.ts";
import { NotificationsSection } from "./sections/notifications.ts";
import { QueueSection } from "./sections/queue.ts";
import { StoreSection } from "./sections/store.ts";
import { RetentionSection } from "./sections/retention.ts";
import { ToolsSection } from "./sections/tools.ts";
import { BindingsSection, RolesSection, SessionSection } from "./sections/routing.ts";

export const ConfigSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "For editors; ignored." })),
    gateway: GatewaySection,
    agent: AgentSection,
    agents: AgentsSection,
    bindings: BindingsSection,
    roles: RolesSection,
    session: SessionSection,
    channels: ChannelsSection,
    models: ModelsSection,
    queue: QueueSection,
    cron: CronSection,
    heartbeat: HeartbeatSection,
    budget: BudgetSection,
    hooks: HooksSection,
    tools: ToolsSection,
    media: MediaSection,
    store: StoreSection,
    retention: RetentionSection,
    mcp: McpSection,
    plugins: PluginsSection,
    logging: LoggingSection,
    observe: ObserveSection,
    backup: BackupSection,
    notifications: NotificationsSection,
  },
  { additionalProperties: false, $id: "pi-gateway-config", title: "pi-gateway configuration" },
);

export type Config = Static<typeof ConfigSchema>;
