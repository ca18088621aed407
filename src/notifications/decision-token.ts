/**
 * What lets a notification decide: bound to one approval, the hash of its call, the person, the sign-in of the browser that got it, and one
 * decision. It is worth nothing without that browser's cookie, and nothing once the approval has ended. Pure.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { NotificationChoice, BrowserSignIn } from "../contracts/notifications.ts";

interface DecidedCall {
  readonly approval: string;
  /** Of exactly the call that will run. */
  readonly hash: string;
  readonly decision: NotificationChoice;
}

export function decisionToken(
  key: Uint8Array,
  { approval, hash, decision }: DecidedCall,
  browser: BrowserSignIn,
): string {
  const bound = JSON.stringify([approval, hash, decision, browser.principal, browser.signIn]);
  return createHmac("sha256", key).update(bound).digest("base64url");
}

export function isDecisionToken(key: Uint8Array, token: string, call: DecidedCall, browser: BrowserSignIn): boolean {
  const expected = Buffer.from(decisionToken(key, call, browser));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
