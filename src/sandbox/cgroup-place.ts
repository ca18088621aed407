/** Where the gateway may make cgroups of its own: below the one that it was given, where nobody else is. Decided from what the kernel tells. Pure. */

/** The part of it that the gateway itself, and whoever started it, moves into: limits hold only below a cgroup without processes. */
export const OWN_PART = "gateway";

interface CgroupFacts {
  /** `/proc/self/cgroup`. */
  readonly self: string;
  /** `/proc/self/mounts`. */
  readonly mounts: string;
}

type CgroupPlace = { readonly folder: string } | { readonly because: string };

export function cgroupPlace({ self, mounts }: CgroupFacts): CgroupPlace {
  const mounted = mounts.split("\n").flatMap((line) => {
    const [, at = "", type = ""] = line.split(" ");
    return type === "cgroup2" ? [at] : [];
  })[0];
  if (mounted === undefined) return { because: "cgroup v2 is not mounted" };
  const path = /^0::(\/.*)$/m.exec(self)?.[1];
  if (path === undefined) return { because: "the gateway is in no cgroup of version 2" };
  // after a restart it is in its own part already
  const given = path.endsWith(`/${OWN_PART}`) ? path.slice(0, -OWN_PART.length - 1) || "/" : path;
  // a session of a terminal is shared with everything else that runs in it; a service and a container are not
  if (given !== "/" && !given.endsWith(".service"))
    return {
      because: "the gateway is in a cgroup that it shares (it has its own as a systemd service with Delegate=yes)",
    };
  return { folder: given === "/" ? mounted : `${mounted}${given}` };
}

/** Null: only the gateway and those that started it are there. */
export function strangerIn(processes: readonly number[], own: ReadonlySet<number>): number | null {
  return processes.find((pid) => !own.has(pid)) ?? null;
}
