/** Everything the web console shows, as signals, and everything a person can do on it. Components read and call; they hold no truth. */
import { batch, computed, effect, signal } from "@preact/signals";
import type { GatewayStatus, WireEvent, WireMethods } from "../../src/contracts/wire.ts";
import { readStatus, signIn, signOut, type Credential } from "../net/api.ts";
import { openConnection, type Connection, type LineState } from "../net/connection.ts";
import { whyNotSent } from "../net/error-text.ts";
import { hear, readOpen } from "./news.ts";
import { addEarlier, applyEvent, beginRead, emptyChat, openChat, type Chat } from "./chat.ts";
import { keep, kept, NOTIFIED_KEY } from "./kept.ts";
import { refreshPeople } from "./people.ts";
import { codeOf, hashOf, newSessionKey, randomId, sessionOf, titleOfView, type View, viewOf } from "./route.ts";
import {
  addSend,
  changeSend,
  dropSend,
  openSends,
  readSends,
  sendParams,
  visibleSends,
  type Attached,
  type Send,
} from "./sends.ts";
import { forgetList, list, readListSoon, touchList } from "./session-list.ts";
import { soon } from "./soon.ts";

type SignInState =
  | { readonly at: "checking" }
  | { readonly at: "in" }
  | { readonly at: "out"; readonly problem: string | null; readonly lockedUntil: number };

const PAGE_ITEMS = 50;
/** A turn that ended without words this long after is read again from the gateway. */
const LAST_WORDS_MS = 3_000;
/** Which model answers is known when the first agent has started; until then the web console asks now and then. */
const MODEL_AGAIN_MS = 2_000;
const MEDIA_AGAIN_MS = 2_000;
const SENDS_KEY = "pi-gateway.sends";

export const signInState = signal<SignInState>({ at: "checking" });
export const line = signal<LineState>("connecting");
/** Becomes true after the first time the line was open, so that a first load does not look like a fault. */
const wasOpen = signal(false);
/** The connection was there and is gone; it is tried again. */
export const isAway = computed(() => line.value === "waiting" || (line.value === "connecting" && wasOpen.value));
export const status = signal<GatewayStatus | null>(null);
export const newVersion = signal(false);
export const chat = signal<Chat>(emptyChat(""));
const sends = signal<readonly Send[]>([]);
export const loadingEarlier = signal(false);
/** The newest finished reply, for screen readers. */
export const spoken = signal("");
/** Becomes true when somebody has gone from one address to another. */
export const hasNavigated = signal(false);
/** What follows the `#`, with it. */
export const address = signal("");
export const view = signal<View>("chat");
export const shownSends = computed(() => visibleSends(sends.value, chat.value.key, chat.value.items));
export const openKey = computed(() => chat.value.key);
export const turnRuns = computed(() => chat.value.live !== null && !chat.value.live.ended);
export const title = computed(() => {
  if (view.value !== "chat") return titleOfView(view.value);
  const known = list.value.items.find((one) => one.key === chat.value.key)?.title;
  return known || chat.value.items.find((item) => item.role === "user")?.text.slice(0, 80) || "New chat";
});

let connection: Connection | null = null;
let signingInAgain: Promise<unknown> = Promise.resolve();
let build: string | null = null;

// ── start, sign in, sign out ────────────────────────────────────────────────────────────────────────────────────────────────────

export async function startConsole(): Promise<void> {
  sends.value = readSends(kept(SENDS_KEY));
  sends.subscribe((all) => keep(SENDS_KEY, all.length > 0 ? JSON.stringify(all) : ""));
  effect(() => {
    document.title = `${title.value} · pi-gateway`;
  });
  const code = takeCode();
  showAddress();
  addEventListener("hashchange", onAddress);
  addEventListener("online", () => connection?.nudge());
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && connection?.nudge());
  if (code && (await trySignIn({ code }))) return;
  if (signInState.value.at === "checking") await knock();
}

/** The code of a sign-in link leaves the address bar, and with it the browser's history, before anything else happens. */
function takeCode(): string | null {
  const code = codeOf(location.hash);
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}

/** A sign-in link opened in a tab that already shows the web console changes only the address. */
function onAddress(): void {
  const code = takeCode();
  hasNavigated.value = true;
  showAddress();
  if (code && signInState.value.at === "out") void trySignIn({ code });
}

async function knock(): Promise<void> {
  const answer = await readStatus();
  if (!answer.ok && answer.error.code === "unauthorized") return showSignIn(null, 0);
  if (answer.ok) status.value = answer.value;
  enter(); // an unreachable gateway is the connection's business: it keeps trying
}

async function trySignIn(credential: Credential): Promise<boolean> {
  const answer = await signIn(credential);
  if (answer.ok) {
    enter();
    return true;
  }
  const { error } = answer;
  // An old link in the address of a browser that is signed in already is no reason to ask again.
  if ("code" in credential && (await readStatus()).ok) return false;
  showSignIn(error.message, error.retryAfterMs ?? 0);
  return false;
}

export async function signInWith(secret: string): Promise<void> {
  await trySignIn({ secret });
}

export async function leave(): Promise<void> {
  await signOut();
  connection?.close();
  connection = null;
  batch(() => {
    forgetList();
    chat.value = emptyChat(chat.value.key);
    showSignIn(null, 0);
  });
}

/** Ends this browser's sign-in and begins another. Whether it is signed in is asked when that is over, so that nobody is shown the form meanwhile. */
export async function signInAgain<T>(run: () => Promise<T>): Promise<T> {
  const running = run();
  signingInAgain = running.catch(() => null); // whoever asked for it is told
  return running;
}

function showSignIn(problem: string | null, retryAfterMs: number): void {
  signInState.value = { at: "out", problem, lockedUntil: retryAfterMs > 0 ? Date.now() + retryAfterMs : 0 };
}

/** A browser that gets notifications says so again after a sign-in. Never rejects. */
async function renewNotifications(): Promise<void> {
  if (kept(NOTIFIED_KEY, "browser") === null) return;
  try {
    const { renew } = await import("./notifications-state.ts");
    await renew();
  } catch {
    // the gateway is away; the next start of the web console tries again
  }
}

function enter(): void {
  connection?.close();
  signInState.value = { at: "in" };
  void renewNotifications();
  const own = new URL("/ws", location.href);
  own.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  let first = true;
  connection = openConnection({
    dial: () => new WebSocket(own) as unknown as ReturnType<Parameters<typeof openConnection>[0]["dial"]>,
    signedIn: async () => {
      await signingInAgain;
      const answer = await readStatus();
      return answer.ok || answer.error.code !== "unauthorized";
    },
    later(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    random: Math.random,
    onState(state) {
      line.value = state;
      if (state === "signed-out" && signInState.value.at === "in" && connection) showSignIn(null, 0);
    },
    onEvent: receive,
    onResync: readAll,
    onOpen() {
      wasOpen.value = true;
      void refreshStatus();
      if (first) readAll();
      first = false;
    },
  });
  for (const send of sends.value) if (send.accepted === null && send.refused === null) void deliver(send);
}

// ── what the gateway says ───────────────────────────────────────────────────────────────────────────────────────────────────────

function receive(event: WireEvent): void {
  batch(() => {
    chat.value = applyEvent(chat.value, event);
    if (event.event === "message") onMessage(event);
    hear(event);
    if (event.event === "status") {
      void refreshStatus();
      if (event.data.what === "sessions") readListSoon(request);
      if (event.data.what === "pairing") void refreshPeople();
    }
    if (event.event === "turn.ended" && event.data.sessionKey === chat.value.key) {
      soon("last-words", LAST_WORDS_MS, () => chat.value.live?.ended && readChat());
    }
  });
}

function onMessage(event: Extract<WireEvent, { event: "message" }>): void {
  if (!touchList(event)) readListSoon(request);
  if (event.data.sessionKey !== chat.value.key) return;
  sends.value = openSends(sends.value, chat.value.key, chat.value.items);
  if (event.data.item.role === "assistant") spoken.value = event.data.item.text;
}

function readAll(): void {
  void refreshPeople();
  readChat();
  readListSoon(request);
  void readOpen(request);
}

/** Asks the gateway over the open line. */
export function request<M extends keyof WireMethods>(
  method: M,
  params: WireMethods[M]["params"],
): Promise<WireMethods[M]["result"]> {
  return connection?.request(method, params) ?? Promise.reject(new Error("Not connected right now."));
}

export async function refreshStatus(): Promise<void> {
  const now = await connection?.request("status", {}).catch(() => null);
  if (!now) return;
  newVersion.value ||= build !== null && build !== now.build;
  build ??= now.build;
  status.value = now;
  if (now.model.name === null && !now.model.demo) soon("status", MODEL_AGAIN_MS, () => void refreshStatus());
}

function readChat(): void {
  const session = chat.value.key;
  chat.value = beginRead(chat.value);
  connection?.request("sessions.get", { session, limit: PAGE_ITEMS }).then(
    (view) => {
      if (chat.value.key !== session) return;
      chat.value = openChat(chat.value, view);
      sends.value = openSends(sends.value, session, chat.value.items);
    },
    () => {
      if (chat.value.key === session && chat.value.phase === "loading") chat.value = { ...chat.value, phase: "failed" };
    },
  );
}

export function retryChat(): void {
  readChat();
}

export async function loadEarlier(): Promise<void> {
  const { key: session, next: cursor } = chat.value;
  if (!cursor || loadingEarlier.value || !connection) return;
  loadingEarlier.value = true;
  try {
    const view = await connection.request("sessions.get", { session, limit: PAGE_ITEMS, cursor });
    if (chat.value.key === session) chat.value = addEarlier(chat.value, view);
  } catch {
    // the button stays, to try again
  } finally {
    loadingEarlier.value = false;
  }
}

/** Signed addresses of images run out, and events carry none: asks for fresh ones. */
let mediaAsked = false;
let mediaWanted = false;

export function refreshMedia(): void {
  mediaWanted = mediaAsked;
  if (mediaWanted) return;
  mediaAsked = true;
  soon("media", MEDIA_AGAIN_MS, () => {
    mediaAsked = false;
    if (mediaWanted) refreshMedia(); // another file came while the addresses of the last one were on their way
  });
  const session = chat.value.key;
  connection?.request("sessions.get", { session, limit: PAGE_ITEMS }).then(
    (view) => {
      if (chat.value.key !== session) return;
      chat.value = { ...chat.value, mediaUrls: { ...chat.value.mediaUrls, ...view.mediaUrls } };
    },
    () => undefined, // the name of the file is shown instead
  );
}

// ── the open conversation ───────────────────────────────────────────────────────────────────────────────────────────────────────

function showAddress(): void {
  address.value = location.hash;
  view.value = viewOf(location.hash);
  if (view.value !== "chat" && chat.value.key !== "") return; // the conversation stays as it is behind it
  const session = sessionOf(location.hash) ?? newSessionKey();
  if (sessionOf(location.hash) === null && view.value === "chat") history.replaceState(null, "", hashOf(session));
  if (session === chat.value.key) return;
  chat.value = emptyChat(session);
  spoken.value = "";
  if (connection) readChat();
}

export function openSession(session: string): void {
  location.hash = hashOf(session);
}

export function newChat(): void {
  const unused = chat.value.phase === "ready" && chat.value.items.length === 0 && shownSends.value.length === 0;
  openSession(unused ? chat.value.key : newSessionKey());
}

export function sendMessage(
  text: string,
  attachments: readonly Attached[],
  how: Pick<Send, "replyTo" | "steer"> = {},
): void {
  const send: Send = {
    clientId: randomId(),
    session: chat.value.key,
    text,
    attachments,
    ...how,
    at: Date.now(),
    accepted: null,
    refused: null,
  };
  const urls = Object.fromEntries(attachments.map((one) => [one.mediaId, one.url]));
  batch(() => {
    chat.value = { ...chat.value, mediaUrls: { ...chat.value.mediaUrls, ...urls } };
    sends.value = addSend(sends.value, send);
  });
  void deliver(send);
}

async function deliver(send: Send): Promise<void> {
  if (!connection) return;
  const { clientId, session } = send;
  try {
    const { accepted } = send.steer
      ? await connection.request("chat.steer", { session, text: send.text, clientId })
      : await connection.request("chat.send", sendParams(send));
    const marked = changeSend(sends.value, clientId, { accepted });
    sends.value =
      session === chat.value.key ? openSends(marked, session, chat.value.items) : dropSend(marked, clientId);
  } catch (error) {
    if (line.value === "signed-out") return; // still unsent: goes out after the next sign-in
    sends.value = changeSend(sends.value, clientId, { refused: whyNotSent(error) });
  }
}

export function sendAgain(send: Send): void {
  // A refused send was never accepted, so its id may be used again; that also covers a "yes" that got lost.
  sends.value = changeSend(sends.value, send.clientId, { refused: null });
  void deliver({ ...send, refused: null });
}

export function discardSend(send: Send): void {
  sends.value = dropSend(sends.value, send.clientId);
}

export function stopTurn(): void {
  const session = chat.value.key;
  connection?.request("chat.abort", { session }).catch(() => undefined); // the turn is still visibly running
}
