/**
 * The text of the systemd unit. Only directives that leave the wall around agents whole: it makes user, mount, process and network namespaces,
 * mounts a /proc of its own and compiles code. Pure: what is written where is decided elsewhere.
 */

export interface ServiceSpec {
  /** The gateway itself, without a launcher: it is the process that systemd watches. */
  readonly command: readonly string[];
  readonly home: string;
  readonly environmentFile: string;
  /** Where agents find programs. */
  readonly path: string;
  /** Of the whole machine, under this user; null: of the user who installs it. */
  readonly systemUser: string | null;
}

/** After a failure; 78 (the configuration is wrong) would only fail again, and 0 was wanted. */
const LIFE = [
  "Restart=on-failure",
  "RestartSec=2",
  "RestartPreventExitStatus=78",
  "TimeoutStartSec=120",
  "# turns that run may finish (gateway.stopGraceMs), then replies are delivered and agents end",
  "TimeoutStopSec=90",
  "WatchdogSec=60",
  "# a core file would hold keys; whatever was accepted is on the disk",
  "WatchdogSignal=SIGKILL",
  "KillMode=mixed",
  "# a cgroup of its own for each agent; one that uses up its memory does not end the gateway",
  "Delegate=yes",
  "OOMPolicy=continue",
  "LimitNOFILE=65536",
  "UMask=0077",
];

const CONFINED = [
  "NoNewPrivileges=yes",
  "LockPersonality=yes",
  "RestrictRealtime=yes",
  "RestrictSUIDSGID=yes",
  "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
  "SystemCallArchitectures=native",
  "# Not set, because agents would lose their own wall: RestrictNamespaces, PrivateUsers, SystemCallFilter, ProtectKernelTunables,",
  "# ProtectKernelLogs, ProcSubset, ProtectControlGroups. Not set, because Bun compiles: MemoryDenyWriteExecute.",
];

export function unitText(spec: ServiceSpec): string {
  const isSystem = spec.systemUser !== null;
  return [
    "# Made by pi-gw service install.",
    "[Unit]",
    "Description=pi-gateway",
    "Wants=network-online.target",
    "After=network-online.target",
    "StartLimitIntervalSec=300",
    "StartLimitBurst=10",
    "",
    "[Service]",
    "Type=notify",
    "NotifyAccess=main",
    `ExecStart=${[...spec.command, "start", "--home", spec.home].map(commandWord).join(" ")}`,
    ...(spec.systemUser === null ? [] : [`User=${spec.systemUser}`]),
    `WorkingDirectory=${escaped(spec.home)}`,
    `Environment=${quoted(`PATH=${spec.path}`)}`,
    `EnvironmentFile=-${escaped(spec.environmentFile)}`,
    ...LIFE,
    ...CONFINED,
    ...(isSystem ? systemOnly(spec) : []),
    "",
    "[Install]",
    `WantedBy=${isSystem ? "multi-user.target" : "default.target"}`,
    "",
  ].join("\n");
}

/** Those that need a mount namespace, which the manager of a user cannot always make. */
function systemOnly({ home, command }: ServiceSpec): readonly string[] {
  const inHomes = [home, ...command].some((path) => /^\/(?:home|root)\//.test(path));
  return [
    "CapabilityBoundingSet=",
    "ProtectSystem=strict",
    `ReadWritePaths=${quoted(home)}`,
    `ProtectHome=${inHomes ? "read-only" : "yes"}`,
    "PrivateTmp=yes",
    "ProtectKernelModules=yes",
    "ProtectClock=yes",
  ];
}

/** One word of a command line, where `$` begins a variable. */
function commandWord(word: string): string {
  return quoted(word.replaceAll("$", "$$$$"));
}

/** `%` means something to systemd, and so do quotes and spaces. */
function quoted(word: string): string {
  const safe = escaped(word);
  return /^[\w@%+=:,./$-]+$/.test(safe) ? safe : `"${safe.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function escaped(text: string): string {
  return text.replaceAll("%", "%%");
}
