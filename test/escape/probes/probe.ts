/** One try to get past the wall, as data. */

/** The twelve classes, in the order of SECURITY.md. */
export const CLASSES = [
  "code for the next start",
  "network",
  "ways around the network rules",
  "sockets of services",
  "memory and descriptors of others",
  "limits and messages of others",
  "descriptors, rights and devices",
  "files outside",
  "signals and daemons",
  "resources",
  "namespaces and kernel",
  "/proc and /sys",
] as const;
type ProbeClass = (typeof CLASSES)[number];

export interface Probe {
  readonly class: ProbeClass;
  readonly name: string;
  /** Python; runner.py says which functions it has. */
  readonly program: string;
  /** A shell command of the next start, in `$PLACE`, where the program has left its files. */
  readonly next?: string;
  /** Has a process of its own outside, `me.victim`, whose state is compared afterwards. */
  readonly victim?: true;
  /** Why it does not get through on some machines even without a wall. */
  readonly needs?: string;
}

type ProbeText = string | Omit<Probe, "class" | "name">;

export function probesOf(className: ProbeClass, texts: Readonly<Record<string, ProbeText>>): readonly Probe[] {
  return Object.entries(texts).map(([name, text]) =>
    typeof text === "string" ? { class: className, name, program: text } : { ...text, class: className, name },
  );
}
