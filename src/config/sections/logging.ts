/** What is written down about the gateway's own work. */
import { Type } from "typebox";
import { closed } from "./kinds.ts";

export const LoggingSection = Type.Object(
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
