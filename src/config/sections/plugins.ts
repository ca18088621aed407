/** Which plugins run, where they are looked for, and what each is told. */
import { Type } from "typebox";
import { closed } from "./kinds.ts";

const ID = "^[a-z0-9][a-z0-9_-]{0,63}$";

const pluginId = () =>
  Type.String({
    pattern: ID,
    expects: "the id of a plugin: small letters, digits and dashes",
    description: "A plugin.",
  });

export const PluginsSection = Type.Object(
  {
    dirs: Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
      default: [],
      maxItems: 32,
      description:
        "Folders with plugins, besides plugins/ in the state directory. They and what is in them must belong to you and be writable by nobody else.",
    }),
    enabled: Type.Array(pluginId(), {
      default: [],
      maxItems: 200,
      description: "Plugins to run, by id. A plugin is a program inside the gateway: list only what you trust.",
    }),
    disabled: Type.Array(pluginId(), {
      default: [],
      maxItems: 200,
      description:
        "Plugins not to run, whatever enabled says; also channels (telegram, discord) and tools (such as cron) that come with the gateway. A name that means nothing is reported in the status.",
    }),
    pins: Type.Record(
      Type.String({ pattern: ID }),
      Type.String({ pattern: "^[0-9a-f]{64}$", expects: "a SHA-256 digest of 64 small hexadecimal digits" }),
      {
        default: {},
        description: "The SHA-256 digest that a plugin's folder must have, by id. GET /api/plugins shows it.",
      },
    ),
    config: Type.Record(
      Type.String({ pattern: ID }),
      Type.Unsafe<Readonly<Record<string, unknown>>>({
        type: "object",
        free: true,
        expects: "a group of settings in { }",
      }),
      { default: {}, description: "What each plugin is told, by id; its plugin.json says what it takes." },
    ),
  },
  { ...closed, security: true, description: "Programs of your choice that run inside the gateway." },
);
