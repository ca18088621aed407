/** The gateway as its operator looks after it: checks, settings and where they come from, log lines, signed-in browsers. Types only. */
import type { ConfigEditor, SettingForm } from "./config-api.ts";
import type { ConfigStatus } from "./wire.ts";

/** `note`: works, but worth knowing. `broken`: needs attention. */
export interface HealthCheck {
  readonly check: string;
  readonly state: "ok" | "note" | "broken";
  readonly say: string;
  /** What helps against it, and can be done from the web console. */
  readonly fix?: HealthFix | "token";
}

/** What the gateway does about itself when it is asked to: files made private, the last good settings, a backup, a look at the audit log. */
export const HEALTH_FIXES = ["modes", "settings", "backup", "audit"] as const;
export type HealthFix = (typeof HEALTH_FIXES)[number];

export interface SettingRow {
  /** `gateway.port`. */
  readonly path: string;
  /** Secrets are "set" or "not set"; null: it is not set, and has no default. */
  readonly value: unknown;
  readonly form: SettingForm;
  /** What it does, in a sentence. */
  readonly about: string;
  /** `start`: a flag or the environment of the start. */
  readonly source: "default" | "file" | "start";
  /** Of the file. */
  readonly line?: number;
  /** What it would be without the file; absent: the same. */
  readonly byDefault?: unknown;
  /** A change of it holds after a restart. */
  readonly needsRestart: boolean;
}

export interface SettingsReport extends ConfigStatus {
  readonly rows: readonly SettingRow[];
  /** The file is not in force, and the last one that was is kept. */
  readonly canRevert: boolean;
}

export type LogLevelName = "debug" | "info" | "warn" | "error";

export interface LogEntry {
  /** As it is written, such as 2026-01-31T12:00:00.000Z. */
  readonly time: string;
  readonly level: LogLevelName;
  readonly msg: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LogQuery {
  /** The least important ones. */
  readonly level: LogLevelName;
  /** In the message, or in the names and values of its fields. */
  readonly text: string;
  /** The group of the gateway that wrote them; empty: any. */
  readonly module: string;
  readonly limit: number;
}

/** Newest last. `searched`: how many lines were looked at. `modules`: those that were met there, by name. */
export interface LogPage {
  readonly lines: readonly LogEntry[];
  readonly modules: readonly string[];
  readonly searched: number;
}

export interface SystemLook {
  doctor(): Promise<readonly HealthCheck[]>;
  /** A sentence about what was done. Throws GatewayError `conflict` with the reason when it could not be. */
  fix(which: HealthFix): Promise<string>;
  settings(): Promise<SettingsReport>;
  /** Puts the last good settings in the place of a broken file, of which a copy stays. Sentences about why not; empty: it is done. */
  revert(): Promise<readonly string[]>;
  logs(query: LogQuery): Promise<LogPage>;
  readonly config: ConfigEditor;
}

/** A browser that is signed in. */
export interface SignedInBrowser {
  readonly id: string;
  /** Such as "Firefox on Windows"; null: it signed in before this was kept, or has not said. */
  readonly browser: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The one that asks. */
  readonly current: boolean;
}
