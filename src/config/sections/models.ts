/** Model endpoints besides those pi knows. */
import { Type } from "typebox";
import { choice, closed, flag, named, secretText, text, webAddress, wholeNumber } from "./kinds.ts";

const price = (description: string) => Type.Number({ default: 0, minimum: 0, description });

const ProviderModel = Type.Object(
  {
    id: text({ minLength: 1, maxLength: 200 }, "What the endpoint calls the model."),
    name: Type.Optional(text({ maxLength: 200 }, "What people see. Default: the id.")),
    reasoning: flag({ default: false }, "The model can think before it answers."),
    input: Type.Array(Type.Union([Type.Literal("text"), Type.Literal("image")]), {
      default: ["text"],
      description: 'What it can read: "text", "image".',
    }),
    contextWindow: wholeNumber(
      { default: 32_000, minimum: 1_000 },
      "Tokens it can keep in mind; older parts of a long chat are summarised before that.",
    ),
    maxTokens: wholeNumber({ default: 4_096, minimum: 1 }, "Tokens in one answer at most."),
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

const KeySource = Type.Object(
  {
    value: secretText('The key itself, or "${NAME}" of an environment variable.'),
    file: Type.Optional(
      text(
        { maxLength: 4_096 },
        "A file that holds the key and nothing else. It is read again when the key is refused.",
      ),
    ),
    command: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
        minItems: 1,
        maxItems: 64,
        description:
          'A program that prints the key, and its arguments, such as ["op", "read", "op://vault/openai/key"]. It runs with the rights of the gateway, and again when the key is refused.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const ModelsSection = Type.Object(
  {
    keys: named(
      "^[a-z0-9][a-z0-9_-]{0,63}$",
      Type.Array(KeySource, { minItems: 1, maxItems: 32 }),
      "Keys by provider, used in turn: of those pi knows and of models.providers, in the place of apiKey and of the environment. Each has one of value, file and command. A key that is limited or refused is left alone for a while.",
    ),
    providers: named(
      "^[a-z0-9][a-z0-9_-]{0,63}$",
      Type.Object(
        {
          baseUrl: webAddress({}, "Where it answers, for example http://127.0.0.1:11434/v1"),
          api: choice(
            {
              of: ["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"],
              default: "openai-completions",
            },
            "The protocol the endpoint speaks.",
          ),
          apiKey: secretText(
            "The provider's key; most local servers take any text. Stays in the gateway: agent processes have a placeholder.",
          ),
          models: Type.Array(ProviderModel, {
            minItems: 1,
            maxItems: 200,
            description: "The models it serves; the first one is used unless agent.model says otherwise.",
          }),
        },
        { additionalProperties: false },
      ),
      "OpenAI-compatible and other endpoints of your own, by name.",
    ),
  },
  { ...closed, description: "Model endpoints besides those pi knows." },
);
