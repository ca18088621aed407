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
      description: "Log files and transcripts older than this are deleted.",
    }),
    transcripts: Type.Object(
      {
        enabled: Type.Boolean({
          default: true,
          description: "Write what is said in each session to a readable file in logs/transcripts/.",
        }),
        maxMb: Type.Integer({
          default: 4,
          minimum: 1,
          maximum: 1_024,
          description: "A transcript that would pass this size, in MiB, goes on in a new file.",
        }),
        keep: Type.Integer({
          default: 3,
          minimum: 0,
          maximum: 100,
          description: "How many earlier files of a session stay beside the newest.",
        }),
      },
      closed,
    ),
  },
  { ...closed, description: "What is written down about the gateway's own work." },
);
