/** Incoming webhooks (requests of other programs that begin something) and webhook targets (addresses that results are posted to). */
import { Type } from "typebox";
import { choice, closed, flag, named, namedSecrets, secretText, text, webAddress, wholeNumber } from "./kinds.ts";
import { agentId, role } from "./routing.ts";

const MAX_TEMPLATE_CHARS = 8_000;
const MAX_PER_MINUTE = 6_000;
const NAME = { pattern: "^[a-z0-9][a-z0-9-]{0,63}$", expects: "1 to 64 small letters, digits and dashes" } as const;

export const targetName = (description: string) => text(NAME, description);

const Mapping = Type.Object(
  {
    message: text(
      { minLength: 1, maxLength: MAX_TEMPLATE_CHARS },
      "What the agent gets, with {{path.to.value}} for values of the JSON that was sent and {{.}} for all of it. Marked as text from outside.",
    ),
    task: Type.Optional(
      text(
        { minLength: 1, maxLength: MAX_TEMPLATE_CHARS },
        "What the agent is to do with it, in your own words. No values: this part is trusted.",
      ),
    ),
    agent: Type.Optional(agentId("The agent that does it. Default: `default`.")),
    session: text(
      { default: "hook", minLength: 1, maxLength: 512 },
      "hook: one conversation for all requests of this hook. request: a fresh one for each. main: told in the main session, and answered there. The key of a conversation: told there, and answered there.",
    ),
    delivery: choice(
      { of: ["announce", "direct", "silent"], default: "announce" },
      "announce: the answer is retold in the main session. direct: it is sent as it is. silent: it stays in the session of the hook.",
    ),
    to: Type.Optional(
      text(
        { minLength: 1, maxLength: 512 },
        "The session the answer goes to, by its key. Default: where an owner was active last.",
      ),
    ),
    webhook: Type.Optional(targetName("A webhook target (hooks.targets) that the answer is posted to as well.")),
    role: role("With whose rights the agent works. Default: hooks.role."),
    signed: flag(
      { default: true },
      "false: the token alone is enough, for senders that cannot sign. Such a request can be repeated.",
    ),
    secret: secretText("A secret for this hook alone, instead of hooks.secret and hooks.keys. At least 22 characters."),
    keys: namedSecrets(
      NAME.pattern,
      "Secrets for this hook alone, by their key ids: as hooks.keys, and instead of hooks.secret and hooks.keys.",
    ),
    perMinute: Type.Optional(wholeNumber({ minimum: 1, maximum: MAX_PER_MINUTE }, "Default: hooks.perMinute.")),
  },
  { additionalProperties: false },
);

const Target = Type.Object(
  {
    url: webAddress({}, "The address that results are posted to."),
    secret: secretText("Signs what is posted, in the way requests to hooks are signed. At least 22 characters."),
    privateNetwork: flag(
      { default: false },
      "The target is on this machine or in a private network, or has an unusual port, and that is right.",
    ),
  },
  { additionalProperties: false },
);

export const HooksSection = Type.Object(
  {
    enabled: flag({ default: false }, "POST /hooks/… is answered."),
    token: secretText(
      "What senders put into the Authorization header. At least 22 characters, and another one than the gateway's.",
    ),
    secret: secretText(
      "Senders sign with it: HMAC-SHA256 over time and body. At least 22 characters. Every mapping that has none of its own needs this one, or hooks.keys.",
    ),
    previousSecret: secretText("Accepted besides secret, while senders change over to a new one."),
    keys: namedSecrets(
      NAME.pattern,
      "More secrets to sign with, by their key ids; up to eight. A sender names its own in the header X-Pi-Key-Id.",
    ),
    role: choice(
      { of: ["owner", "member", "guest"], default: "guest" },
      "With whose rights agents work on what hooks send. What is sent is somebody else's text.",
    ),
    perMinute: wholeNumber(
      { default: 60, minimum: 1, maximum: MAX_PER_MINUTE },
      "Requests that one hook takes in a minute. What is more is told to come back later.",
    ),
    mappings: named(NAME.pattern, Mapping, "Hooks of your own, by name: POST /hooks/{name}."),
    targets: named(
      NAME.pattern,
      Target,
      "Webhook targets: addresses that jobs and hooks can post their results to, by name.",
    ),
  },
  {
    ...closed,
    security: true,
    description:
      "Incoming webhooks: requests of other programs that begin something. Webhook targets: addresses that results are posted to.",
  },
);
