/** The part of the schema that says who speaks to which agent in which conversation. Ids only: names of people are never matched. */
import { Type } from "typebox";
import { modelName, tools } from "./capabilities.ts";
import { choice, closed, list, named, text, workspace } from "./kinds.ts";

/** A person on a platform. Names are for display only and are never matched. */
const principal = (description: string) =>
  text(
    {
      pattern: "^[a-z][a-z0-9-]*:user:[^\\s:]+$",
      expects: 'a person\'s id such as "telegram:user:123456"',
      maxLength: 200,
    },
    description,
  );

export const role = (description: string) => Type.Optional(choice({ of: ["owner", "member", "guest"] }, description));

export const agentId = (description: string) =>
  text({ pattern: "^[a-z0-9-]{1,64}$", expects: "1 to 64 small letters, digits and dashes" }, description);

const id = (description: string) => Type.Optional(text({ minLength: 1, maxLength: 200 }, description));

export const BindingsSection = Type.Array(
  Type.Object(
    {
      agent: agentId("The agent that answers."),
      channel: id('Only on this channel, such as "telegram" or "api".'),
      account: id("Only for this account (bot) of the channel. Needs channel."),
      chat: id("Only in this chat. Needs channel."),
      peer: Type.Optional(
        text(
          {
            pattern: "^(operator|[a-z][a-z0-9-]*:user:[^\\s:]+)$",
            expects: 'a person\'s id such as "telegram:user:123456", or "operator"',
            maxLength: 200,
          },
          "Only for this person.",
        ),
      ),
      role: role("Only for people with this role."),
    },
    { additionalProperties: false },
  ),
  {
    default: [],
    maxItems: 1_000,
    security: true,
    description:
      "Which agent answers whom. Everything an entry says must fit; the most specific entry wins (peer, then chat, account, channel, role), the first one among equals. Nothing fits: `default`.",
  },
);

const roleProfile = (who: string) =>
  Type.Optional(
    Type.Object(
      {
        workspace: workspace(`The working folder of processes that serve ${who}, whichever agent they talk to.`),
        tools: Type.Optional(tools(`The tools that agents have for ${who}; pi tools included, if you say so here.`)),
        model: modelName(`The model that answers ${who}, as "provider/model".`),
      },
      { additionalProperties: false, description: `What is different for ${who}.` },
    ),
  );

export const RolesSection = Type.Object(
  {
    owners: list(
      principal("A person's id."),
      1_000,
      "People who may do everything. Whoever signs in to the web console or holds the token is one already.",
    ),
    members: list(principal("A person's id."), 10_000, "People who may talk to the agents."),
    profiles: Type.Object(
      { owner: roleProfile("owners"), member: roleProfile("members"), guest: roleProfile("guests") },
      closed,
    ),
  },
  { ...closed, security: true, description: "Who is who, by id. An empty list is nobody." },
);

export const SessionSection = Type.Object(
  {
    dmScope: choice(
      { of: ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"], default: "per-channel-peer" },
      "Which direct messages share a conversation: all of them but those of guests (main), those of one person, those of one person on one channel, or those of one person with one account of a channel.",
    ),
    identityLinks: named(
      "^[a-z0-9][a-z0-9_-]{0,63}$",
      Type.Array(principal("A person's id."), { minItems: 1, maxItems: 100, description: "The ids of this person." }),
      "Ids on several platforms that are one person, by a name of your choice.",
    ),
  },
  { ...closed, description: "How conversations are told apart." },
);
