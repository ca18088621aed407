/** Which tools may be used by whom and from where, how often, and what is kept about it. */
import { Type } from "typebox";
import { choice, closed, duration, flag, list, named, secretText, webAddress, wholeNumber } from "./kinds.ts";

const MAX_NAMES = 1_000;

const names = (description: string, byDefault: readonly string[]) =>
  Type.Array(toolName(), { default: [...byDefault], maxItems: MAX_NAMES, description });
const ownNames = (description: string) => Type.Optional(Type.Array(toolName(), { maxItems: MAX_NAMES, description }));

function toolName() {
  return Type.String({
    pattern: "^([A-Za-z0-9_-]{1,64}|[A-Za-z0-9_-]{1,63}\\*|\\*)$",
    expects: 'the name of a tool, the beginning of names such as "notes_*", or "*"',
  });
}

const lists = (who: string) =>
  Type.Optional(
    Type.Object(
      {
        allow: ownNames(`Only these may be used ${who}. An empty list is none.`),
        deny: ownNames(`These may not be used ${who}, whatever else is allowed.`),
      },
      { additionalProperties: false },
    ),
  );

const ROLES = { owner: lists("by owners"), member: lists("by members"), guest: lists("by guests") };

const ORIGINS = {
  chat: lists("in direct chats"),
  group: lists("in groups"),
  cron: lists("by scheduled jobs"),
  heartbeat: lists("by heartbeats"),
  webhook: lists("by webhooks"),
  delegate: lists("by agents that another agent asked"),
  api: lists("over the tools API"),
  mcp: lists("by MCP clients"),
};

const limit = Type.Object(
  {
    calls: wholeNumber({ minimum: 1, maximum: 100_000 }, "Calls of one person within perMs."),
    perMs: duration({ minimum: 1_000 }, "The time that is looked at."),
    durable: Type.Optional(flag({}, "Counted across restarts. Default: as the tool itself says.")),
  },
  { additionalProperties: false },
);

const WebSearch = Type.Object(
  {
    provider: Type.Optional(
      choice(
        { of: ["brave", "serpapi", "tavily", "searxng"] },
        "Who searches. Without it there is no tool `web_search`.",
      ),
    ),
    apiKey: secretText("The provider's key. SearXNG needs none."),
    baseUrl: Type.Optional(
      webAddress(
        {},
        "Where the provider answers, when it is not its usual address; required for SearXNG. May be on a private network: you chose it.",
      ),
    ),
  },
  { ...closed, description: "The tool `web_search`." },
);

const hosts = (description: string, byDefault: readonly string[]) =>
  Type.Array(
    Type.String({
      pattern: "^(\\*|[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_])?|\\[[0-9a-fA-F:.]{2,45}\\])$",
      expects: 'a host such as "example.org", or "*"',
    }),
    { default: [...byDefault], maxItems: MAX_NAMES, description },
  );

const WebFetch = Type.Object(
  {
    enabled: Type.Optional(flag({}, "Whether there is a tool `web_fetch`. Default: when there is `web_search`.")),
    allow: hosts("Hosts whose pages may be opened, each with everything below it.", ["*"]),
    deny: hosts("Hosts whose pages may not be opened, whatever else is allowed.", []),
    maxKb: wholeNumber({ default: 2_048, minimum: 16, maximum: 16_384 }, "Of one page, in KB as it is sent."),
    maxChars: wholeNumber(
      { default: 20_000, minimum: 1_000, maximum: 200_000 },
      "Characters of one answer; an agent reads on with another call.",
    ),
    cacheMs: duration({ default: 900_000, minimum: 0 }, "How long a page is kept instead of fetched again."),
    privateOrigins: list(
      Type.String({
        pattern: "^https?://[^/\\s]+$",
        expects: "an origin such as http://10.0.0.5:8080",
        maxLength: 300,
      }),
      100,
      "Places on a private network that may be opened all the same.",
    ),
  },
  { ...closed, description: "The tool `web_fetch`." },
);

export const ToolsSection = Type.Object(
  {
    webSearch: WebSearch,
    webFetch: WebFetch,
    allow: names('Tools that may be used at all. "*" is all that are not optional.', ["*"]),
    deny: names("Tools that may not be used, whatever else is allowed.", []),
    roles: Type.Object(ROLES, { ...closed, description: "Narrower lists for a role." }),
    origins: Type.Object(ORIGINS, { ...closed, description: "Narrower lists for where a call has its beginning." }),
    agents: named(
      "^[a-z0-9-]{1,64}$",
      Type.Object(
        { allow: ownNames("Only these may be used by this agent."), deny: ownNames("These may not.") },
        { additionalProperties: false },
      ),
      "Narrower lists for an agent, by its id.",
    ),
    principals: named(
      "^(operator|[a-z][a-z0-9-]*:user:[^\\s:]{1,190})$",
      Type.Object(
        { allow: ownNames("Only these may be used by this person."), deny: ownNames("These may not.") },
        { additionalProperties: false },
      ),
      'Narrower lists for a person, by id such as "telegram:user:1".',
    ),
    limits: named(
      "^[A-Za-z0-9_-]{1,64}$",
      limit,
      "How often one person may call a tool, by its name; instead of the tool's own limit.",
    ),
    approvals: Type.Object(
      {
        ask: names("Tools that ask the owner before they run, besides those that always do.", []),
        never: names("Tools that would ask and need not: you answer for them.", []),
        waitMs: duration(
          { default: 600_000, minimum: 1_000 },
          "How long a call waits for the owner's word before it is refused. The time of its turn (agent.timeoutMs) goes on meanwhile.",
        ),
      },
      { ...closed, description: "Which calls wait for the owner's word." },
    ),
    questions: Type.Object(
      {
        waitMs: duration(
          { default: 300_000, minimum: 1_000 },
          "How long a question of an agent's extension waits for the person it is for; a shorter time that the extension sets counts instead. The time of its turn (agent.timeoutMs) goes on meanwhile.",
        ),
      },
      { ...closed, description: "What extensions ask people in the middle of a turn." },
    ),
    execution: Type.Object(
      {
        cleanupMs: duration(
          { default: 250, minimum: 0 },
          "What a tool gets to end by itself once it was cancelled or took too long.",
        ),
        backgroundMs: duration(
          { default: 30_000, minimum: 1_000 },
          "After this time a background tool goes on alone, and its turn with it.",
        ),
        maxOutputChars: wholeNumber(
          { default: 262_144, minimum: 1_000, maximum: 262_144 },
          "Characters of text in one result; the rest is cut, and marked there.",
        ),
        maxImages: wholeNumber({ default: 8, minimum: 0, maximum: 32 }, "Images in one result."),
        maxImageMb: wholeNumber({ default: 5, minimum: 1, maximum: 20 }, "Of one image, in MiB."),
      },
      { ...closed, description: "Limits of each tool call." },
    ),
    maxPerSession: wholeNumber(
      { default: 16, minimum: 1, maximum: 1_000 },
      "Tools of one conversation that run at the same time. More wait for their turn.",
    ),
    maxTotal: wholeNumber(
      { default: 128, minimum: 1, maximum: 10_000 },
      "Tools that run at the same time in the whole gateway.",
    ),
    searchAbove: wholeNumber(
      { default: 60, minimum: 1, maximum: 100_000 },
      "More tools than this are not all told to a model: it gets the built-in ones, those of its session, and `tool_search` to find the others.",
    ),
    keepDays: wholeNumber(
      { default: 365, minimum: 0, maximum: 36_500 },
      "Days for which tool calls are kept in the record. 0 keeps them for ever.",
    ),
  },
  { ...closed, security: true, description: "Which tools may be used by whom and from where." },
);
