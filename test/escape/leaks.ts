/** The probes that may get through the basic tier: rows of the table in SECURITY.md that say "no" there, and the probes that each stands for. */
import { release } from "node:os";

const FILES = "names, sizes and times of other files; watching them; changing modes and times of yours";
const PROC = "command lines and states of other processes; names of ports, sockets, mounts and keys";
const SIGNALS = "signals to other processes";
const OUTLIVING = "programs that outlive their agent";
const PROCESSES = "too many processes";
const WATCHES = "file watches of the whole user";

/** The gateway finds them by their mark, and ends them with the turn; without a gateway they stay. */
export const DAEMONS: readonly string[] = [
  "a program in a session of its own",
  "a program without parents",
  "a program without parents and without its mark",
  "a program by nohup",
  "a program that ignores signals",
  "a program that is stopped",
];

export const BASIC_LEAKS: Readonly<Record<string, readonly string[]>> = {
  [FILES]: [
    "look at size and time",
    "look whether a file is there",
    "watch a folder",
    "change its mode",
    "change the mode of its folder",
    "change its time",
  ],
  [PROC]: [
    "a handle of the gateway",
    "command line of the gateway",
    "state of the gateway",
    "descriptors of the gateway",
    "processes of the machine",
    "sockets of the machine",
    "ports of the machine",
    "ports of the machine by the gateway's /proc",
    "shared memory of the machine",
    "keys of the machine",
    "mounts of the gateway",
  ],
  // Landlock 6 came with Linux 6.12
  [SIGNALS]: isOlderThan(6, 12)
    ? [
        "kill of the gateway",
        "kill of the gateway's process group",
        "the command kill",
        "a stop of the gateway",
        "tgkill of the gateway",
        "tkill of the gateway",
        "rt_sigqueueinfo to the gateway",
        "rt_tgsigqueueinfo to the gateway",
        "pidfd_send_signal to the gateway",
        "a signal by the owner of a descriptor",
        "a signal by the owner of a pipe, with a number of its own",
        "the question whether the gateway is there",
      ]
    : [],
  [OUTLIVING]: DAEMONS,
  [PROCESSES]: ["processes without end", "threads without end"],
  [WATCHES]: ["watchers of files used up", "watches of files used up"],
};

function isOlderThan(major: number, minor: number): boolean {
  const [first = 0, second = 0] = release().split(".").map(Number);
  return first < major || (first === major && second < minor);
}
