/** Which plugins run, where they are looked for, and what each is told. */
import { Type } from "typebox";
import { closed, list, named, text } from "./kinds.ts";

const ID = "^[a-z0-9][a-z0-9_-]{0,63}$";

const pluginId = () =>
  text({ pattern: ID, expects: "the id of a plugin: small letters, digits and dashes" }, "A plugin.");

export const PluginsSection = Type.Object(
  {
    dirs: list(
      Type.String({ minLength: 1, maxLength: 4096 }),
      32,
      "Folders with plugins, besides plugins/ in the state directory. They and what is in them must belong to you and be writable by nobody else.",
    ),
    enabled: list(
      pluginId(),
      200,
      "Plugins to run, by id. A plugin is a program inside the gateway: list only what you trust.",
    ),
    disabled: list(
      pluginId(),
      200,
      "Plugins not to run, whatever enabled says; also channels (telegram, discord) and tools (such as cron) that come with the gateway. A name that means nothing is reported in the status.",
    ),
    pins: named(
      ID,
      Type.String({ pattern: "^[0-9a-f]{64}$", expects: "a SHA-256 digest of 64 small hexadecimal digits" }),
      "The SHA-256 digest that a plugin's folder must have, by id. GET /api/plugins shows it.",
    ),
    config: Type.Record(
      Type.String({ pattern: ID }),
      Type.Unsafe<Readonly<Record<string, unknown>>>({ type: "object", free: true }),
      { default: {}, description: "What each plugin is told, by id; its plugin.json says what it takes." },
    ),
  },
  { ...closed, security: true, description: "Programs of your choice that run inside the gateway." },
);
