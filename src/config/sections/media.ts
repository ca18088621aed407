/** Pictures and files. */
import { Type } from "typebox";
import { closed } from "./kinds.ts";

export const MediaSection = Type.Object(
  { maxMb: Type.Integer({ default: 25, minimum: 1, maximum: 25, description: "Largest upload, in MiB." }) },
  { ...closed, description: "Pictures and files." },
);
