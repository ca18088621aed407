/** Settings as an operator reads and changes them: what each takes, the text of the file without its secrets, and a change before it is written. Types only. */

/** What a setting takes, from the schema of the configuration. */
export type SettingForm =
  | { readonly kind: "flag" }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | { readonly kind: "number"; readonly isWhole: boolean; readonly minimum?: number; readonly maximum?: number }
  /** `text`: its value as it is written, such as 30m. */
  | { readonly kind: "duration"; readonly text: string }
  | { readonly kind: "text"; readonly expects?: string; readonly maxLength?: number }
  /** Written, and never read. */
  | { readonly kind: "secret" }
  /** Lists and groups of the author's own names. `inFileOnly`: it holds groups or secrets, and a form could not write it as it was written. */
  | { readonly kind: "json"; readonly inFileOnly: boolean };

/** The file as an editor shows it. */
export interface ConfigFile {
  /** Where it is, or would be written. */
  readonly path: string;
  /** Without secrets. Null: it is not JSONC, so that nobody can tell what in it is secret. */
  readonly text: string | null;
  /** Names this text; a change of another text is refused. */
  readonly version: string;
}

export interface SettingEdit {
  /** Names from the root on. A list is changed as a whole. */
  readonly path: readonly string[];
  /** Absent: the setting is taken out of the file. */
  readonly value?: unknown;
  /** One line. It stands above the section of the setting where that is new in the file. */
  readonly comment?: string;
}

export type ProposedConfig = { readonly text: string } | { readonly edits: readonly SettingEdit[] };

/** `version`: of the file that was shown. */
export type ConfigChange = ProposedConfig & { readonly version: string };

interface PlacedProblem {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface SettingChange {
  readonly path: string;
  /** Secrets are "set" or "not set"; null: none. */
  readonly before: unknown;
  readonly after: unknown;
  readonly needsRestart: boolean;
}

export interface ConfigProposal {
  /** The whole text as it would be, without secrets. */
  readonly text: string | null;
  /** With one of these nothing is written. */
  readonly problems: readonly PlacedProblem[];
  readonly warnings: readonly PlacedProblem[];
  /** Against what is in force now. */
  readonly changes: readonly SettingChange[];
  /** It is easier to get in afterwards: it counts after a restart, and not before. */
  readonly weakensAuth: boolean;
}

/** `written` false: the proposal has problems, and nothing was changed. */
export interface SavedConfig extends ConfigProposal {
  readonly written: boolean;
  /** The file as it was. */
  readonly backup: string | null;
  /** Why the file that was written is not in force. */
  readonly notInForce: readonly string[];
}

export interface ConfigEditor {
  file(): Promise<ConfigFile>;
  /** Throws GatewayError `conflict` when the file is another one than was shown. */
  propose(change: ConfigChange): Promise<ConfigProposal>;
  save(change: ConfigChange): Promise<SavedConfig>;
}
