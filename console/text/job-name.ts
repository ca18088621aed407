/** The name that a new job gets when nobody gives it one: the first words of its task, as names of jobs are written. Pure. */
const MAX_WORDS = 4;
const MAX_CHARS = 32;

/** Empty: its letters cannot be in a name, and the gateway makes one. */
export function jobNameOf(task: string): string {
  const words = task
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .slice(0, MAX_WORDS);
  if (words.some((word) => /[^a-z0-9]/.test(word))) return "";
  const name = words.join("-");
  return name.length <= MAX_CHARS ? name : name.slice(0, MAX_CHARS).replace(/-[^-]*$/, "");
}
