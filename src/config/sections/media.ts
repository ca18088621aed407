/** Pictures and files. */
import { Type } from "typebox";
import { closed } from "./kinds.ts";

export const MediaSection = Type.Object(
  {
    maxMb: Type.Integer({
      default: 25,
      minimum: 1,
      maximum: 25,
      description: "Largest file that is taken in or sent, in MiB.",
    }),
    roots: Type.Array(Type.String({ pattern: "^/", expects: "an absolute path", maxLength: 4096 }), {
      default: [],
      maxItems: 32,
      description:
        "Folders besides the agent's workspace whose files the assistant may send. Fixed at the start. A folder that contains the state directory is not used.",
    }),
  },
  { ...closed, description: "Pictures and files." },
);
