/** The name of a person's own folder below one that several people have: readable, and different for any two people. Pure. */
import { join } from "node:path";

/** Holds the folders of people, and nothing else. */
export const PEOPLE = "people";
const READABLE_CHARS = 40;
const DIGEST_CHARS = 12;

export function personFolder(below: string, principal: string): string {
  const digest = new Bun.CryptoHasher("sha256").update(principal).digest("hex").slice(0, DIGEST_CHARS);
  const readable = principal
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, READABLE_CHARS);
  return join(below, PEOPLE, `${readable}-${digest}`);
}
