/** What all platforms say about who may write. */
import { Type } from "typebox";
import { role } from "../routing.ts";
import { choice, closed, flag, list, wholeNumber } from "../kinds.ts";

const person = Type.String({
  pattern: "^(\\*|[^\\s:*]{1,100}|[a-z][a-z0-9-]*:user:[^\\s:]{1,100})$",
  expects: 'an id such as "123456" or "telegram:user:123456", or "*" for everybody',
  maxLength: 200,
});

const people = (description: string) => Type.Array(person, { maxItems: 10_000, description });

const MAX_CONTEXT_MESSAGES = 100;

/** For a group: how many messages without a mention are kept for the next one with a mention. */
export const contextMessages = Type.Optional(
  wholeNumber(
    { minimum: 0, maximum: MAX_CONTEXT_MESSAGES },
    "Instead of groupContext.messages of the channel. 0: nothing said here without a mention is kept.",
  ),
);

/** The same on every platform. Off unless the owner says otherwise: people in a group have not agreed to be read. */
export const groupContext = Type.Object(
  {
    messages: wholeNumber(
      { default: 0, minimum: 0, maximum: MAX_CONTEXT_MESSAGES },
      "In groups: how many messages that did not mention the assistant it reads, marked as untrusted, with the next one that does. 0: none, and none is kept.",
    ),
    minutes: wholeNumber(
      { default: 60, minimum: 1, maximum: 1_440 },
      "Older ones are forgotten. They are kept in memory only.",
    ),
    chars: wholeNumber(
      { default: 4_000, minimum: 100, maximum: 50_000 },
      "Characters of them in one prompt, the newest first.",
    ),
  },
  { ...closed, description: "What a group says without a mention, as context." },
);

const WAKE =
  "A reaction of a person with access to a message of the assistant begins a turn, at most one a minute in a session. Off: the assistant reads of it with its next turn.";
export const wakeOnReaction = flag({ default: false }, WAKE);
export const ownWakeOnReaction = Type.Optional(flag({}, WAKE));

const group = {
  contextMessages,
  requireMention: Type.Optional(flag({}, "Answer here only when mentioned.")),
  allowFrom: Type.Optional(
    people('Who may speak here besides owners and members. "*" is everybody; an empty list is nobody.'),
  ),
  role: role("What those people are. Left out: member when listed by id, guest otherwise."),
};

/** Larger places that hold several chats, by their id. */
export const guildSettings = Type.Object(
  {
    ...group,
    channels: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 500,
        description: "Only in these channels of it. Left out: in all of them.",
      }),
    ),
  },
  { additionalProperties: false },
);

const dmPolicies = ["pairing", "allowlist", "open", "disabled"] as const;
const groupPolicies = ["allowlist", "open", "disabled"] as const;

/** Who may write to a channel: the same keys on every platform. Spread them into the platform's own section. */
export const channelAccess = {
  dmPolicy: choice(
    { of: dmPolicies, default: "pairing" },
    'Direct messages: pairing gives strangers a code that an owner approves, allowlist takes only known people, open takes everybody if allowFrom holds "*", disabled takes none.',
  ),
  allowFrom: list(person, 10_000, "People who may write direct messages, by id. Names are never matched."),
  groupPolicy: choice({ of: groupPolicies, default: "allowlist" }, "Groups: only those listed, every group, or none."),
  requireMention: flag({ default: true }, "In groups, answer only when mentioned."),
  groupContext,
  wakeOnReaction,
};
