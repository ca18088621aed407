/**
 * A stage for the tests of the web console: one real browser, and visits to a gateway that note everything the web console did. Each visit is a browser
 * profile of its own, so that no test sees the cookies or drafts of another.
 */
import { type Browser, type BrowserContext, type Locator, type Page, chromium } from "playwright-core";
import { findBrowser } from "../src/testing/whole/find-browser.ts";
import type { GatewayProcess } from "../src/testing/whole/gateway-process.ts";

const WAIT_MS = 45_000;
const WIDE = { width: 1_280, height: 800 } as const;

/** The little of the browser's own world that is used here; the project's types know only the server's. */
declare const DataTransfer: new () => { readonly items: { add(file: File): void } };
declare const ClipboardEvent: new (type: string, init: Readonly<Record<string, unknown>>) => Event;

/** What the web console itself noticed, from before its first line of code ran. */
export interface Seen {
  /** Every different length of the reply that was streaming in. */
  readonly lengths: readonly number[];
  /** The most assistant rows there ever were at one time. */
  readonly mostReplies: number;
  /** What the content security policy had to stop. */
  readonly violations: readonly string[];
  /** Set by hostile content that managed to run. */
  readonly ran: boolean;
}

export interface Visit extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors, uncaught errors and dialogs. */
  readonly problems: readonly string[];
  /** Requests and sockets to anything but the visited gateway. */
  readonly foreign: readonly string[];
  /** The methods the web console asked for over its socket, in order. */
  readonly asked: readonly string[];
  /** Those of them that the gateway has answered, in the order of its answers. */
  readonly answered: readonly string[];
  readonly replies: Locator;
  readonly composer: Locator;
  send(text: string): Promise<void>;
  /** Sends, and resolves when one more reply is complete. */
  ask(text: string): Promise<void>;
  seen(): Promise<Seen>;
  reload(): Promise<void>;
  /** Another tab of the same profile, at the same address. */
  secondTab(): Promise<Visit>;
}

export interface VisitOptions {
  /** What follows the gateway's address. */
  readonly path?: string;
  readonly signedIn?: boolean;
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
  readonly scale?: number;
}

const WATCH = `
  window.seen = { lengths: [], mostReplies: 0, violations: [], ran: false };
  document.addEventListener("securitypolicyviolation", (event) => {
    window.seen.violations.push(event.violatedDirective + " " + event.blockedURI);
  });
  new MutationObserver(() => {
    const length = document.querySelector("[data-testid=live] .prose")?.textContent.length ?? 0;
    if (length > 0 && window.seen.lengths.at(-1) !== length) window.seen.lengths.push(length);
    const replies = document.querySelectorAll("[data-role=assistant]").length;
    window.seen.mostReplies = Math.max(window.seen.mostReplies, replies);
  }).observe(document, { subtree: true, childList: true, characterData: true });
`;

/** `more`: arguments of its own, such as a microphone that only plays a tone. */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  const found = await findBrowser();
  const env = Object.entries({ ...process.env, ...found.env }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return chromium.launch({ executablePath: found.path, args: [...found.args, ...more], env: Object.fromEntries(env) });
}

export async function visit(
  browser: Browser,
  gateway: Pick<GatewayProcess, "url" | "token">,
  options: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: options.viewport ?? WIDE,
    colorScheme: options.colorScheme ?? "light",
    locale: "en-US", // else that of the machine, which need not be one that browsers know
    deviceScaleFactor: options.scale ?? 1,
    reducedMotion: "reduce",
  });
  await context.addInitScript({ content: WATCH });
  if (options.signedIn !== false) await context.addCookies([await cookieOf(gateway)]);
  return openTab(context, gateway.url, `${gateway.url}${options.path ?? "/"}`);
}

async function openTab(context: BrowserContext, own: string, address: string): Promise<Visit> {
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const problems: string[] = [];
  const foreign: string[] = [];
  const asked: string[] = [];
  const answered: string[] = [];
  const note = (url: string) => {
    const local = url.startsWith("data:") || url.startsWith("blob:");
    if (!local && new URL(url).host !== new URL(own).host) foreign.push(url);
  };
  page.on("request", (request) => note(request.url()));
  page.on("websocket", (socket) => {
    note(socket.url());
    const methods = new Map<unknown, string>();
    socket.on("framesent", ({ payload }) => {
      const { id, method } = JSON.parse(String(payload));
      asked.push(String(method));
      methods.set(id, String(method));
    });
    socket.on("framereceived", ({ payload }) => {
      const method = methods.get(JSON.parse(String(payload)).id);
      if (method !== undefined) answered.push(method);
    });
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const composer = page.getByTestId("composer");
  const replies = page.locator("[data-testid=message][data-role=assistant]");
  const send = async (text: string) => {
    await composer.fill(text);
    await composer.press("Enter");
  };
  await page.goto(address);
  return {
    page,
    context,
    problems,
    foreign,
    asked,
    answered,
    composer,
    replies,
    send,
    async ask(text) {
      const before = await replies.count();
      await send(text);
      await replies.nth(before).waitFor();
    },
    seen: () => page.evaluate<Seen>("window.seen"),
    reload: async () => void (await page.reload()),
    secondTab: () => openTab(context, own, page.url()),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** Puts a PNG into the field the way Ctrl+V does; a browser without a screen has no clipboard to fill. */
export async function paste(field: Locator, file: { readonly name: string; readonly bytes: Buffer }): Promise<void> {
  const data = file.bytes.toString("base64");
  await field.evaluate(
    (target, { name, data: encoded }) => {
      const clipboardData = new DataTransfer();
      const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
      clipboardData.items.add(new File([bytes], name, { type: "image/png" }));
      target.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    },
    { name: file.name, data },
  );
}

/** Signs in the way the form does, without the form: most tests are about what comes after. */
async function cookieOf({ url, token }: Pick<GatewayProcess, "url" | "token">) {
  const response = await fetch(`${url}/api/sign-in`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-pi-gateway": "1", origin: url },
    body: JSON.stringify({ token, browser: "Chrome on Linux" }),
  });
  const [pair = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  const at = pair.indexOf("=");
  if (!response.ok || at < 1) throw new Error(`signing in was answered with ${response.status}`);
  return { name: pair.slice(0, at), value: pair.slice(at + 1), url };
}
