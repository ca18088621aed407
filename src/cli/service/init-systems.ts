/** Which service manager there is, where its file of our service lies, and which of its commands do what. Runs nothing. */
import { join } from "node:path";
import { LAUNCHD_LABEL, plistText } from "./launchd-plist.ts";
import { type ServiceSpec, unitText } from "./systemd-unit.ts";

const UNIT = "pi-gateway.service";

type Step = readonly string[];

export interface InitSystem {
  readonly kind: "systemd" | "launchd";
  /** The file of the service. */
  readonly file: string;
  text(spec: ServiceSpec): string;
  /** After the file was written. */
  readonly begin: readonly Step[];
  /** Before the file is deleted. */
  readonly end: readonly Step[];
  /** After it was deleted. */
  readonly forget: readonly Step[];
  readonly status: Step;
  logs(lines: number, follow: boolean): Step;
  /** What else its owner should know. */
  readonly hint: string | null;
}

interface Machine {
  readonly platform: string;
  readonly userHome: string;
  readonly uid: number;
  /** XDG_CONFIG_HOME, when it is set. */
  readonly configHome: string | undefined;
  readonly isSystem: boolean;
  readonly home: string;
}

/** Null: there is none that is known. */
export function initSystemOf(machine: Machine): InitSystem | null {
  if (machine.platform === "linux") return systemd(machine);
  return machine.platform === "darwin" && !machine.isSystem ? launchd(machine) : null;
}

function systemd({ isSystem, userHome, configHome }: Machine): InitSystem {
  const scope = isSystem ? [] : ["--user"];
  const systemctl = (...words: readonly string[]): Step => ["systemctl", ...scope, ...words];
  const folder = isSystem ? "/etc/systemd/system" : join(configHome ?? join(userHome, ".config"), "systemd", "user");
  return {
    kind: "systemd",
    file: join(folder, UNIT),
    text: unitText,
    begin: [systemctl("daemon-reload"), systemctl("enable", UNIT), systemctl("restart", UNIT)],
    end: [systemctl("disable", "--now", UNIT)],
    forget: [systemctl("daemon-reload")],
    status: systemctl("status", "--no-pager", "--lines=5", UNIT),
    logs: (lines, follow) => [
      "journalctl",
      ...scope,
      ...["--unit", UNIT, "--no-pager", "--lines", String(lines)],
      ...(follow ? ["--follow"] : []),
    ],
    hint: isSystem ? null : "So that it goes on running when you sign out: loginctl enable-linger",
  };
}

function launchd({ userHome, uid, home }: Machine): InitSystem {
  const domain = `gui/${uid}`;
  const file = join(userHome, "Library", "LaunchAgents", `${LAUNCHD_LABEL}.plist`);
  return {
    kind: "launchd",
    file,
    text: plistText,
    begin: [["launchctl", "bootstrap", domain, file]],
    end: [["launchctl", "bootout", `${domain}/${LAUNCHD_LABEL}`]],
    forget: [],
    status: ["launchctl", "print", `${domain}/${LAUNCHD_LABEL}`],
    logs: (lines, follow) => ["tail", "-n", String(lines), ...(follow ? ["-f"] : []), join(home, "service.log")],
    hint: "launchd reads no file of variables: put keys into the configuration file.",
  };
}
