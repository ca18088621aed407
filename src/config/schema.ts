/**
 * The configuration: type, default, check and documentation in one place. docs/reference/config.md and the JSON Schema for editors are
 * made from this file. A key is here only when something reads it. Sections marked `security` refuse unknown keys, the others warn.
 */
import { type Static, Type } from "typebox";
import type { QueueMode } from "../contracts/queue.ts";
import type { Secret } from "../kit/secret.ts";
import { agentId, BindingsSection, role, RolesSection, SessionSection } from "./schema-routing.ts";

/** A value that never prints: a `Secret` once loaded. */
const secretText = (description: string) =>
  Type.Optional(Type.Unsafe<Secret>({ type: "string", minLength: 1, secret: true, description }));

/** Timers overflow a little above this, and would then fire at once. */
const MAX_DURATION_MS = 24 * 86_400_000;

/** Milliseconds, or text such as "30s", "5m", "2h", "1d". A number once loaded. */
const duration = (byDefault: number, minimum: number, description: string) =>
  Type.Unsafe<number>({
    anyOf: [
      { type: "integer", minimum, maximum: MAX_DURATION_MS },
      { type: "string", pattern: "^[0-9]+(ms|s|m|h|d)$" },
    ],
    duration: true,
    default: byDefault,
    minimum,
    maximum: MAX_DURATION_MS,
    description,
  });

const closed = { additionalProperties: false, default: {} } as const;

const GatewaySection = Type.Object(
  {
    port: Type.Integer({
      default: 18789,
      minimum: 0,
      maximum: 65535,
      description: "TCP port for everything. 0 picks a free one.",
    }),
    bind: Type.String({
      default: "loopback",
      pattern: "^(loopback|lan|[0-9.]+|[0-9a-fA-F:]+)$",
      expects: '"loopback", "lan" or an IP address',
      description:
        'Where to listen: "loopback", "lan" (all interfaces) or an IP address. Anything but loopback needs auth.token or auth.password here, and trustedProxies or insecure.',
    }),
    auth: Type.Object(
      {
        mode: Type.Union([Type.Literal("token"), Type.Literal("password")], {
          default: "token",
          description:
            "What a browser may sign in with besides the one-time link. The bearer token always works for programs.",
        }),
        token: secretText(
          "The operator's bearer token, at least 22 characters. Without it, one is made at first start and kept in the state directory.",
        ),
        password: secretText("The password for signing in when mode is password, at least 12 characters."),
      },
      closed,
    ),
    allowedHosts: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      default: [],
      maxItems: 32,
      description:
        "Host names (with port, if not the usual one) under which the gateway is reached, besides its own address. Needed behind a proxy.",
    }),
    trustedProxies: Type.Array(Type.String({ minLength: 2, maxLength: 64 }), {
      default: [],
      maxItems: 32,
      description:
        "Addresses or CIDR ranges of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are believed. Loopback is not trusted unless listed.",
    }),
    insecure: Type.Boolean({
      default: false,
      description:
        "Allow a bind other than loopback without a TLS proxy in front. Passwords and messages then travel readable.",
    }),
    stopGraceMs: duration(30_000, 0, "How long running turns may go on after a stop was asked for."),
  },
  { ...closed, security: true, description: "The port, who may reach it, and how they sign in." },
);

const modelName = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: "^[^/\\s]+/\\S+$",
      expects: 'text such as "provider/model", of at most 200 characters',
      maxLength: 200,
      description,
    }),
  );

const thinkingLevel = (description: string) =>
  Type.Optional(
    Type.Union(
      (["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const).map((level) => Type.Literal(level)),
      { description },
    ),
  );

const AgentSection = Type.Object(
  {
    model: modelName(
      'Model as "provider/model". Without it: the first model of models.providers, else the first provider whose key is in the environment, else the demo model.',
    ),
    thinking: thinkingLevel("How much the model thinks before it answers."),
    systemPrompt: Type.Optional(
      Type.String({ maxLength: 100_000, description: "Replaces the assistant's base instructions." }),
    ),
    appendSystemPrompt: Type.Optional(
      Type.String({ maxLength: 100_000, description: "Added after the base instructions." }),
    ),
    workspace: Type.Optional(
      Type.String({
        maxLength: 4096,
        description: "The agent's working folder. Default: workspace/ in the state directory.",
      }),
    ),
    agentDir: Type.Optional(
      Type.String({
        maxLength: 4096,
        description:
          "An existing pi folder (for example ~/.pi/agent) whose login is used. Default: agent/ in the state directory. models.providers is not written there.",
      }),
    ),
    piPath: Type.Optional(
      Type.String({
        maxLength: 4096,
        description: "The pi to run: its executable, its package folder, or its rpc-entry.js.",
      }),
    ),
    timeoutMs: duration(600_000, 1_000, "A turn that takes longer is stopped and says so."),
    pool: Type.Object(
      {
        min: Type.Integer({ default: 1, minimum: 0, maximum: 64, description: "Agent processes kept ready." }),
        max: Type.Integer({
          default: 4,
          minimum: 1,
          maximum: 64,
          description: "Agent processes at most. Each takes about 90 MB.",
        }),
        idleMs: duration(300_000, 1_000, "An unused process above min is stopped after this long."),
        maxSwitches: Type.Integer({
          default: 200,
          minimum: 1,
          description: "A process that has served this many sessions is replaced by a fresh one.",
        }),
        maxAgeMs: duration(21_600_000, 1_000, "A process older than this is replaced when it has no turn to finish."),
        maxRssMb: Type.Integer({
          default: 400,
          minimum: 32,
          maximum: 1_048_576,
          description: "A process that holds more memory than this after a turn is replaced. In MiB; Linux only.",
        }),
        reuse: Type.Union([Type.Literal("principal"), Type.Literal("profile")], {
          default: "principal",
          description:
            "Whom a used process may serve next: principal, only the same person; profile, anyone who talks to an agent with the same settings.",
        }),
        waitMs: duration(120_000, 100, "How long a turn waits for a free process before it says that all are busy."),
      },
      closed,
    ),
  },
  { ...closed, description: "The pi agents that answer." },
);

/** What is left out here is taken from `agent`. */
const AgentsSection = Type.Array(
  Type.Object(
    {
      id: agentId("Its name in session keys and bindings."),
      model: modelName('Model as "provider/model".'),
      thinking: thinkingLevel("How much the model thinks before it answers."),
      systemPrompt: Type.Optional(Type.String({ maxLength: 100_000, description: "Replaces the base instructions." })),
      appendSystemPrompt: Type.Optional(
        Type.String({ maxLength: 100_000, description: "Added after the base instructions." }),
      ),
      workspace: Type.Optional(Type.String({ maxLength: 4096, description: "Its working folder." })),
      role: role("What people may do at most when they talk to it, whatever their own role is."),
      timeoutMs: Type.Optional(
        Type.Unsafe<number>({
          anyOf: [
            { type: "integer", minimum: 1_000, maximum: MAX_DURATION_MS },
            { type: "string", pattern: "^[0-9]+(ms|s|m|h|d)$" },
          ],
          duration: true,
          minimum: 1_000,
          maximum: MAX_DURATION_MS,
          description: "A turn that takes longer is stopped and says so.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
  {
    default: [],
    maxItems: 64,
    description: "Agents besides `default`. What an entry leaves out is taken from `agent`.",
  },
);

const price = (description: string) => Type.Number({ default: 0, minimum: 0, description });

const ProviderModel = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 200, description: "What the endpoint calls the model." }),
    name: Type.Optional(Type.String({ maxLength: 200, description: "What people see. Default: the id." })),
    reasoning: Type.Boolean({ default: false, description: "The model can think before it answers." }),
    input: Type.Array(Type.Union([Type.Literal("text"), Type.Literal("image")]), {
      default: ["text"],
      description: 'What it can read: "text", "image".',
    }),
    contextWindow: Type.Integer({
      default: 32_000,
      minimum: 1_000,
      description: "Tokens it can keep in mind; older parts of a long chat are summarised before that.",
    }),
    maxTokens: Type.Integer({ default: 4_096, minimum: 1, description: "Tokens in one answer at most." }),
    cost: Type.Object(
      {
        input: price("Dollars per million tokens sent."),
        output: price("Dollars per million tokens answered."),
        cacheRead: price("Dollars per million tokens read from the provider's cache."),
        cacheWrite: price("Dollars per million tokens written to the provider's cache."),
      },
      { ...closed, description: "US dollars per million tokens." },
    ),
  },
  { additionalProperties: false },
);

const ModelsSection = Type.Object(
  {
    providers: Type.Record(
      Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" }),
      Type.Object(
        {
          baseUrl: Type.String({
            pattern: "^https?://",
            expects: "an address that begins with http:// or https://",
            maxLength: 2048,
            description: "Where it answers, for example http://127.0.0.1:11434/v1",
          }),
          api: Type.Union(
            (["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"] as const).map(
              (api) => Type.Literal(api),
            ),
            { default: "openai-completions", description: "The protocol the endpoint speaks." },
          ),
          apiKey: secretText("The provider's key; most local servers take any text. Reaches only the agent processes."),
          models: Type.Array(ProviderModel, {
            minItems: 1,
            maxItems: 200,
            description: "The models it serves; the first one is used unless agent.model says otherwise.",
          }),
        },
        { additionalProperties: false },
      ),
      { default: {}, description: "OpenAI-compatible and other endpoints of your own, by name." },
    ),
  },
  { ...closed, description: "Model endpoints besides those pi knows." },
);

const queueModes = (["collect", "followup", "interrupt"] as const).map((mode) => Type.Literal(mode));

const QueueSection = Type.Object(
  {
    mode: Type.Unsafe<QueueMode>({
      anyOf: queueModes,
      default: "collect",
      description:
        "Messages that arrive while their session is being answered: collect makes one turn of all that wait, followup gives each its own turn, interrupt stops the running turn. An idle session starts at once.",
    }),
    collectMs: duration(
      800,
      0,
      "After a busy turn, wait this long for more messages before the next one (collect only). 0 goes on at once.",
    ),
    channels: Type.Unsafe<Record<string, QueueMode>>(
      Type.Record(Type.String({ pattern: "^[a-z0-9-]{1,64}$" }), Type.Union(queueModes), {
        default: {},
        description: "Another mode for a channel, by its name.",
      }),
    ),
    maxPerSession: Type.Integer({
      default: 20,
      minimum: 1,
      maximum: 10_000,
      description: "Messages one session may have waiting. More are refused before they are accepted.",
    }),
    maxTotal: Type.Integer({
      default: 500,
      minimum: 1,
      maximum: 100_000,
      description: "Messages waiting in the whole gateway.",
    }),
    maxMessageChars: Type.Integer({
      default: 200_000,
      minimum: 1_000,
      maximum: 900_000,
      description: "Characters in one message.",
    }),
  },
  { ...closed, description: "What may wait." },
);

const MediaSection = Type.Object(
  { maxMb: Type.Integer({ default: 25, minimum: 1, maximum: 25, description: "Largest upload, in MiB." }) },
  { ...closed, description: "Pictures and files." },
);

const LoggingSection = Type.Object(
  {
    level: Type.Union(
      (["debug", "info", "warn", "error"] as const).map((level) => Type.Literal(level)),
      { default: "info", description: "The least important thing that is written." },
    ),
    file: Type.Boolean({ default: true, description: "Write logs/ in the state directory as well." }),
    retentionDays: Type.Integer({
      default: 14,
      minimum: 1,
      maximum: 3650,
      description: "Log files older than this are deleted.",
    }),
  },
  { ...closed, description: "What is written down about the gateway's own work." },
);

export const ConfigSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: "For editors; ignored." })),
    gateway: GatewaySection,
    agent: AgentSection,
    agents: AgentsSection,
    bindings: BindingsSection,
    roles: RolesSection,
    session: SessionSection,
    models: ModelsSection,
    queue: QueueSection,
    media: MediaSection,
    logging: LoggingSection,
  },
  { additionalProperties: false, $id: "pi-gateway-config", title: "pi-gateway configuration" },
);

export type Config = Static<typeof ConfigSchema>;
