/** The first setup in the web console and for programs: what is there, tries of a model or a channel, and writing what a person wants. Secrets go in and never come out. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { ChannelWish, ModelInput, ModelWish, SetupInput } from "../../contracts/setup.ts";
import { secret } from "../../kit/secret.ts";
import { ADMIN, READ } from "../access/key-reach.ts";
import { bodyOf, checkedObject } from "../checked.ts";
import { jsonOf, OPERATOR_GET, OPERATOR_POST, type Route, SMALL_JSON } from "../route.ts";
import type { HttpDeps } from "../types.ts";

const MAX_NAME_CHARS = 64;
const MAX_MODEL_CHARS = 200;
const MAX_SECRET_CHARS = 4_096;
const MAX_PATH_CHARS = 1_024;
const MAX_OWNERS = 100;
const DEFAULT_LOGIN = "~/.pi/agent";

export function setupRoutes({ operations }: Pick<HttpDeps, "operations">): readonly Route[] {
  const { model, channel } = stepFields();
  const Test = bodyOf<"POST /api/setup/test">()(checkedObject({ model, channel }));
  const owner = Type.String({ minLength: 1, maxLength: MAX_MODEL_CHARS });
  const Saved = bodyOf<"POST /api/setup">()(
    checkedObject({
      model,
      channel,
      owners: Type.Optional(Type.Unsafe<readonly string[]>(Type.Array(owner, { maxItems: MAX_OWNERS }))),
      backup: Type.Optional(Type.Boolean()),
      test: Type.Optional(Type.Boolean()),
    }),
  );
  return [
    {
      ...OPERATOR_GET,
      path: "/api/setup",
      scope: READ,
      handle: async () => jsonOf<"GET /api/setup">({ items: await operations.views.setup.checks() }),
    },
    {
      ...OPERATOR_POST,
      path: "/api/setup/test",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle({ json, signal }) {
        const asked = await Test.parse(json);
        const wish = modelWish(asked.model) ?? channelWish(asked.channel);
        if (wish === null || (asked.model && asked.channel))
          throw new GatewayError("invalid_params", "not one step", { say: "Give a model or a channel, and not both." });
        return jsonOf<"POST /api/setup/test">(await operations.views.setup.test(wish, signal));
      },
    },
    {
      ...OPERATOR_POST,
      path: "/api/setup",
      scope: ADMIN,
      body: SMALL_JSON,
      async handle({ json, signal }) {
        const { owners = [], backup = false, test = true, ...steps } = await Saved.parse(json);
        const wishes = { model: modelWish(steps.model), channel: channelWish(steps.channel), owners, backup };
        return jsonOf<"POST /api/setup">(await operations.views.setup.save(wishes, test, signal));
      },
    },
  ];
}

function stepFields() {
  const closed = { additionalProperties: false };
  const typed = Type.String({ minLength: 1, maxLength: MAX_SECRET_CHARS });
  const name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS });
  const modelId = Type.Optional(Type.String({ minLength: 1, maxLength: MAX_MODEL_CHARS }));
  const address = Type.String({ minLength: 1, maxLength: MAX_PATH_CHARS });
  return {
    model: Type.Optional(
      Type.Unsafe<ModelInput>(
        Type.Union([
          Type.Object({ kind: Type.Literal("demo") }, closed),
          Type.Object({ kind: Type.Literal("key"), provider: name, key: typed, model: modelId }, closed),
          Type.Object({ kind: Type.Literal("login"), folder: Type.Optional(address) }, closed),
          Type.Object(
            { kind: Type.Literal("endpoint"), baseUrl: address, key: Type.Optional(typed), model: modelId },
            closed,
          ),
        ]),
      ),
    ),
    channel: Type.Optional(
      Type.Object({ channel: Type.Union([Type.Literal("telegram"), Type.Literal("discord")]), token: typed }, closed),
    ),
  };
}

function modelWish(input: ModelInput | undefined): ModelWish | null {
  switch (input?.kind) {
    case undefined:
      return null;
    case "demo":
      return input;
    case "login":
      return { kind: "login", folder: input.folder ?? DEFAULT_LOGIN };
    case "key":
      return { kind: "key", provider: input.provider, key: secret(input.key), model: input.model ?? null };
    case "endpoint": {
      const key = input.key === undefined ? null : secret(input.key);
      return { kind: "endpoint", baseUrl: input.baseUrl.replace(/\/+$/, ""), key, model: input.model ?? null };
    }
  }
}

function channelWish(input: SetupInput["channel"]): ChannelWish | null {
  return input ? { channel: input.channel, token: secret(input.token) } : null;
}
