/** The few things the web console asks over plain HTTP: signing in and out, whether it is signed in, names, the record of tool calls, keys of programs, and uploads. Same origin only. */
import { browserName } from "../state/browser-name.ts";
import type { ApprovalRule } from "../../src/contracts/tools/approval-rule.ts";
import type { PairedPerson } from "../../src/contracts/channels/pairing.ts";
import type { TroubledPart } from "../../src/contracts/delivery.ts";
import type { ApiKey } from "../../src/contracts/api-keys.ts";
import type { Role } from "../../src/contracts/ids.ts";
import type { SessionExport } from "../../src/contracts/http-api.ts";
import type { Listed } from "../../src/contracts/paging.ts";
import type { MessageHit } from "../../src/contracts/store/session-care.ts";
import type { AuditRow } from "../../src/contracts/store/tool-calls.ts";
import type { GatewayStatus, WireError, WireKeyInput } from "../../src/contracts/wire.ts";
import { parseError, parseObject } from "./frames.ts";

const OURS = { "X-Pi-Gateway": "1" } as const;
const ANSWER_WITHIN_MS = 15_000;
/** A running turn is stopped first. */
const DELETED_WITHIN_MS = 30_000;

export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: WireError };
/** The code of a sign-in link, or what a person typed: the token or the password. */
export type Credential = { readonly code: string } | { readonly secret: string };

const UNREACHABLE: WireError = {
  code: "unreachable",
  message: "The gateway does not answer. Is it running?",
  requestId: "",
};

export async function signIn(credential: Credential): Promise<Answer<null>> {
  const answer = await send("POST", "/api/sign-in", { ...credential, browser: browserName(navigator.userAgent) });
  return answer.ok ? { ok: true, value: null } : answer;
}

export async function signOut(): Promise<void> {
  await ask("/api/sign-out", { method: "POST", headers: OURS });
}

export async function readStatus(): Promise<Answer<GatewayStatus>> {
  const answer = await ask("/api/status", {});
  if (!answer.ok) return answer;
  return { ok: true, value: parseObject(answer.value) as unknown as GatewayStatus };
}

/** Replies that were given up, or may have arrived twice or not at all; newest first. */
export async function readTroubledReplies(state: TroubledPart["state"]): Promise<Answer<Listed<TroubledPart>>> {
  const answer = await ask(`/api/outbox?state=${state}&limit=50`, {});
  if (!answer.ok) return answer;
  return { ok: true, value: parseObject(answer.value) as unknown as Listed<TroubledPart> };
}

/** `mayRepeat`: somebody knows that its chat may show it twice. */
export function retryReply(id: string, mayRepeat: boolean): Promise<Answer<unknown>> {
  const query = mayRepeat ? "?mayRepeat=true" : "";
  return ask(`/api/outbox/${encodeURIComponent(id)}/retry${query}`, { method: "POST", headers: OURS });
}

export async function readPairing(): Promise<Answer<readonly PairedPerson[]>> {
  const answer = await ask("/api/pairing", {});
  if (!answer.ok) return answer;
  const items = parseObject(answer.value)?.items;
  return { ok: true, value: Array.isArray(items) ? (items as readonly PairedPerson[]) : [] };
}

/** Gives the role the person has now. */
export async function approvePairing(id: string, code: string, role: Role): Promise<Answer<string>> {
  const answer = await postPairing(id, { decision: "approve", code, role });
  return answer.ok ? { ok: true, value: String(parseObject(answer.value)?.role ?? role) } : answer;
}

export function decidePairing(id: string, decision: "revoke" | "undo"): Promise<Answer<unknown>> {
  return postPairing(id, { decision });
}

function postPairing(id: string, body: object): Promise<Answer<string>> {
  return send("POST", `/api/pairing/${encodeURIComponent(id)}`, body);
}

export async function readKeys(): Promise<Answer<readonly ApiKey[]>> {
  const answer = await ask("/api/keys", {});
  if (!answer.ok) return answer;
  const items = parseObject(answer.value)?.items;
  return { ok: true, value: Array.isArray(items) ? (items as readonly ApiKey[]) : [] };
}

/** Gives the secret, which nobody is told again. */
export async function makeKey(asked: WireKeyInput): Promise<Answer<string>> {
  const answer = await send("POST", "/api/keys", asked);
  return answer.ok ? { ok: true, value: String(parseObject(answer.value)?.secret ?? "") } : answer;
}

export function revokeKey(id: string): Promise<Answer<unknown>> {
  return ask(`/api/keys/${encodeURIComponent(id)}`, { method: "DELETE", headers: OURS });
}

export async function readRules(cursor: string | null): Promise<Answer<Listed<ApprovalRule>>> {
  const page = new URLSearchParams({ limit: "50", ...(cursor === null ? {} : { cursor }) });
  const answer = await ask(`/api/approval-rules?${page.toString()}`, {});
  if (!answer.ok) return answer;
  return { ok: true, value: parseObject(answer.value) as unknown as Listed<ApprovalRule> };
}

export function removeRule(id: string): Promise<Answer<unknown>> {
  return ask(`/api/approval-rules/${encodeURIComponent(id)}`, { method: "DELETE", headers: OURS });
}

interface SessionChange {
  /** Null removes it. */
  readonly name?: string | null;
  readonly pinned?: boolean;
  readonly archived?: boolean;
}

/** Gives the title the conversation has now. */
export async function changeSession(key: string, change: SessionChange): Promise<Answer<string>> {
  const answer = await send("PATCH", sessionPath(key), change);
  if (!answer.ok) return answer;
  const session = parseObject(answer.value)?.session as { readonly title?: unknown } | undefined;
  return { ok: true, value: String(session?.title ?? "") };
}

export function deleteSession(key: string): Promise<Answer<unknown>> {
  return ask(sessionPath(key), { method: "DELETE", headers: OURS, signal: AbortSignal.timeout(DELETED_WITHIN_MS) });
}

export async function exportSession(key: string, format: string): Promise<Answer<SessionExport>> {
  const answer = await ask(`${sessionPath(key)}/export?format=${format}`, {});
  return answer.ok ? { ok: true, value: parseObject(answer.value) as unknown as SessionExport } : answer;
}

export async function searchMessages(words: string): Promise<Answer<readonly MessageHit[]>> {
  const answer = await ask(`/api/search?${new URLSearchParams({ q: words, limit: "20" }).toString()}`, {});
  if (!answer.ok) return answer;
  const items = parseObject(answer.value)?.items;
  return { ok: true, value: Array.isArray(items) ? (items as readonly MessageHit[]) : [] };
}

function sessionPath(key: string): string {
  return `/api/sessions/${encodeURIComponent(key)}`;
}

/** What a route answers with, as the contract of the HTTP interface says. */
export async function readJson<T>(path: string): Promise<Answer<T>> {
  const answer = await ask(path, {});
  return answer.ok ? { ok: true, value: parseObject(answer.value) as unknown as T } : answer;
}

export async function sendJson<T>(
  method: "POST" | "PATCH",
  path: string,
  body: object,
  withinMs = ANSWER_WITHIN_MS,
): Promise<Answer<T>> {
  const answer = await send(method, path, body, withinMs);
  return answer.ok ? { ok: true, value: parseObject(answer.value) as unknown as T } : answer;
}

export function deleteJson(path: string): Promise<Answer<unknown>> {
  return ask(path, { method: "DELETE", headers: OURS });
}

/** `query` as GET /api/tool-calls takes it. */
export async function readToolCalls(query: URLSearchParams): Promise<Answer<Listed<AuditRow>>> {
  const answer = await ask(`/api/tool-calls?${query.toString()}`, {});
  if (!answer.ok) return answer;
  return { ok: true, value: parseObject(answer.value) as unknown as Listed<AuditRow> };
}

function send(
  method: "POST" | "PATCH",
  path: string,
  body: object,
  withinMs = ANSWER_WITHIN_MS,
): Promise<Answer<string>> {
  const headers = { ...OURS, "Content-Type": "application/json" };
  return ask(path, { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(withinMs) });
}

async function ask(path: string, init: RequestInit): Promise<Answer<string>> {
  try {
    const response = await fetch(path, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS), ...init });
    const text = await response.text();
    if (response.ok) return { ok: true, value: text };
    return { ok: false, error: errorOf(response.status, text) };
  } catch {
    return { ok: false, error: UNREACHABLE }; // fetch does not say more than that
  }
}

function errorOf(status: number, text: string): WireError {
  const error = parseError(parseObject(text)?.error);
  return status === 401 ? { ...error, code: "unauthorized" } : error;
}

export interface Uploaded {
  readonly mediaId: string;
  readonly url: string;
  /** Of a voice recording, where the gateway has a service that listens. */
  readonly words?: string;
  /** Why there are no words. */
  readonly trouble?: string;
}

/** XMLHttpRequest, because fetch does not report how much of an upload is done. */
export function uploadFile(
  file: File,
  voice: boolean,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Answer<Uploaded>> {
  return new Promise((resolve) => {
    const call = new XMLHttpRequest();
    const fail = (error: WireError) => resolve({ ok: false, error });
    call.open("POST", "/api/media");
    call.setRequestHeader("X-Pi-Gateway", "1");
    call.setRequestHeader("X-Filename", encodeURIComponent(file.name || "file"));
    call.setRequestHeader("Content-Type", file.type || "application/octet-stream");
    if (voice) call.setRequestHeader("X-Transcribe", "1");
    call.upload.onprogress = (event) => onProgress(event.total > 0 ? event.loaded / event.total : 0);
    call.onerror = call.ontimeout = () => fail(UNREACHABLE);
    call.onabort = () => fail({ code: "removed", message: "The upload was removed.", requestId: "" });
    call.onload = () => {
      const body = parseObject(call.responseText);
      if (call.status >= 200 && call.status < 300 && typeof body?.mediaId === "string") {
        return resolve({ ok: true, value: body as unknown as Uploaded });
      }
      fail(errorOf(call.status, call.responseText));
    };
    signal.addEventListener("abort", () => call.abort(), { once: true });
    call.send(file);
  });
}
