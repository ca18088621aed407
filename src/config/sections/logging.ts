/** What is written down about the gateway's own work. */
import { Type } from "typebox";
import { choice, closed, flag, wholeNumber } from "./kinds.ts";

export const LoggingSection = Type.Object(
  {
    level: choice(
      { of: ["debug", "info", "warn", "error"], default: "info" },
      "The least important thing that is written.",
    ),
    file: flag({ default: true }, "Write logs/ in the state directory as well."),
    retentionDays: wholeNumber(
      { default: 14, minimum: 1, maximum: 3650 },
      "Log files and transcripts older than this are deleted.",
    ),
    transcripts: Type.Object(
      {
        enabled: flag({ default: true }, "Write what is said in each session to a readable file in logs/transcripts/."),
        maxMb: wholeNumber(
          { default: 4, minimum: 1, maximum: 1_024 },
          "A transcript that would pass this size, in MiB, goes on in a new file.",
        ),
        keep: wholeNumber(
          { default: 3, minimum: 0, maximum: 100 },
          "How many earlier files of a session stay beside the newest.",
        ),
      },
      closed,
    ),
  },
  { ...closed, description: "What is written down about the gateway's own work." },
);
