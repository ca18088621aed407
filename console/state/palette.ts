/** Finding everything from one field (Ctrl+K): what can be found, read from the gateway while somebody looks, and what happens on choosing. */
import { batch, computed, signal } from "@preact/signals";
import type { SessionSummary } from "../../src/contracts/chat.ts";
import type { SettingRow } from "../../src/contracts/system-api.ts";
import type { WireListedJob } from "../../src/contracts/wire.ts";
import { ago } from "../net/error-text.ts";
import { leave, newChat, openSession, request, view } from "./console-state.ts";
import { type Entry, findEntries } from "./find.ts";
import { HELP_PAGES } from "./help-pages.ts";
import { ADDRESSES, VIEW_TITLES } from "./route.ts";
import { minute } from "./screen.ts";
import { list } from "./session-list.ts";
import { soon } from "./soon.ts";
import { nextTheme } from "./theme.ts";

interface Choice extends Entry {
  run(): void;
}

const SEARCH_PAUSE_MS = 120;
const MAX_CONVERSATIONS = 8;
const MAX_JOBS = 200;

export const paletteOpen = signal(false);
export const typed = signal("");
/** Which of the found entries Enter chooses. */
export const chosen = signal(0);
/** `searched`: what the gateway was asked for when it gave these. */
const conversations = signal<{ readonly searched: string; readonly items: readonly SessionSummary[] }>({
  searched: "",
  items: [],
});
const jobs = signal<readonly WireListedJob[]>([]);
/** Read when somebody first looks: few ever look for one. */
const settingRows = signal<readonly SettingRow[]>([]);

const COMMANDS: readonly Choice[] = [
  { id: "new-chat", group: "Commands", name: "New chat", run: newChat },
  { id: "theme", group: "Commands", name: "Change the theme", detail: "light, dark, as the system", run: nextTheme },
  { id: "help", group: "Commands", name: "Help", detail: "about this view", run: openHelp },
  { id: "sign-out", group: "Commands", name: "Sign out", run: () => void leave() },
];

const VIEWS: readonly Choice[] = (Object.keys(ADDRESSES) as (keyof typeof ADDRESSES)[])
  .filter((name) => name !== "more")
  .map((name) => ({
    id: `view ${name}`,
    group: "Views",
    name: VIEW_TITLES[name],
    run: () => (location.hash = ADDRESSES[name]),
  }));

export const found = computed<readonly Choice[]>(() => [
  ...findEntries([...COMMANDS, ...VIEWS], typed.value),
  ...foundConversations(typed.value),
  ...findEntries(jobs.value.map(jobChoice), typed.value),
  // with nothing typed they would only fill the list
  ...(typed.value.trim() === "" ? [] : findEntries(settingRows.value.map(settingChoice), typed.value)),
]);

/** The gateway also finds what titles do not say, so what it found is not judged again; until then Enter must not open a conversation that does not fit. */
function foundConversations(text: string): readonly Choice[] {
  const { searched, items } = conversations.value;
  const choices = items.map(conversationChoice);
  return searched === text.trim() ? choices : findEntries(choices, text);
}

/** In a tab of its own, so that what is being written here stays. */
function openHelp(): void {
  window.open(HELP_PAGES[view.value] ?? "/docs/", "_blank", "noopener");
}

/** Several may have the same name, and then it matters which was the last one. */
function conversationChoice({ key, title, channel, lastActivityAt }: SessionSummary): Choice {
  const age = ago(lastActivityAt, minute.value);
  return {
    id: key,
    group: "Conversations",
    name: title || "Untitled",
    detail: channel === "webchat" ? age : `${channel}, ${age}`,
    run: () => openSession(key),
  };
}

function jobChoice({ id, task }: WireListedJob): Choice {
  return { id: `job ${id}`, group: "Jobs", name: id, detail: task, run: () => void openJobs(id) };
}

/** By its name alone: sentences about settings have every common word in them. */
function settingChoice({ path }: SettingRow): Choice {
  return { id: `setting ${path}`, group: "Settings", name: path, run: () => void openSetting(path) };
}

/** The list of settings, narrowed to those that begin so. */
export async function openSetting(path: string): Promise<void> {
  const { settingFilter } = await import("./system-state.ts");
  settingFilter.value = { typed: path, onlySet: false };
  location.hash = ADDRESSES.settings;
}

async function readSettingRows(): Promise<void> {
  if (settingRows.value.length > 0) return;
  const { readSettings, settings } = await import("./system-state.ts");
  if (settings.value === null) await readSettings();
  const now = settings.value;
  if (now !== null && now !== "failed") settingRows.value = now.rows;
}

/** Shows the runs of a job. */
export async function openJobs(id: string): Promise<void> {
  const { showRuns } = await import("./jobs-state.ts");
  showRuns(id);
  location.hash = ADDRESSES.jobs;
}

export function openPalette(): void {
  batch(() => {
    paletteOpen.value = true;
    typed.value = "";
    chosen.value = 0;
    conversations.value = { searched: "", items: list.value.items.slice(0, MAX_CONVERSATIONS) };
  });
  request("cron.list", { limit: MAX_JOBS }).then(
    ({ items }) => (jobs.value = items),
    () => undefined, // without a connection the rest is still found
  );
  void readSettingRows();
}

export function closePalette(): void {
  paletteOpen.value = false;
}

export function typeToFind(text: string): void {
  batch(() => {
    typed.value = text;
    chosen.value = 0;
  });
  soon("palette", SEARCH_PAUSE_MS, () => void searchConversations(text.trim()));
}

async function searchConversations(text: string): Promise<void> {
  const query = text === "" ? {} : { search: text };
  const page = await request("sessions.list", { ...query, limit: MAX_CONVERSATIONS }).catch(() => null); // the last ones stay
  if (page && typed.value.trim() === text) conversations.value = { searched: text, items: page.items };
}

export function choose(choice: Choice | undefined): void {
  if (!choice) return;
  closePalette();
  choice.run();
}

/** Past the end it begins again. */
export function moveChosen(step: 1 | -1): void {
  const count = found.value.length;
  if (count > 0) chosen.value = (chosen.value + step + count) % count;
}
