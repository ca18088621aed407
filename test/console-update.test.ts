/** An update from the web console, of a gateway that npm installed, by the same steps as the command: the page follows it and reconnects to the new version. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { freePort } from "../src/testing/free-port.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { createPackages } from "../verification/updates/packages.ts";
import { type Supervised, supervise } from "../verification/updates/supervised.ts";
import { accessibilityProblems } from "./console-axe.ts";
import { openBrowser, visit } from "./console-stage.ts";
import { eventually, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

let browser: Browser;
let folder: TempHome;
let gateway: Supervised;
let url: string;
let home: string;

/** Names version 1.1.0 as the newest, and installs it from a prepared folder. */
async function npmWith(bin: string, packed: string): Promise<string> {
  await mkdir(bin);
  const script = `#!/bin/sh
[ "$1" = view ] && { echo 1.1.0; exit 0; }
before=; into=
for word in "$@"; do [ "$before" = --prefix ] && into=$word; before=$word; done
exec cp -al "$(cat "${packed}")/." "$into/"
`;
  await writeFile(join(bin, "npm"), script);
  await chmod(join(bin, "npm"), 0o755);
  return bin;
}

beforeAll(async () => {
  folder = await tempHome();
  home = join(folder.path, "home");
  await mkdir(home, { mode: 0o700 });
  const packages = createPackages(folder.path);
  const packed = packages.pack({ version: "1.1.0", migrations: 1, flaw: "none" });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const agent = { pool: { min: 0, max: 1 } };
  await writeFile(join(home, "pi-gateway.jsonc"), JSON.stringify({ gateway: { port }, agent }), { mode: 0o600 });
  gateway = supervise({
    command: ["/bin/sh", packages.launcher, "start", "--home", home],
    home,
    path: await npmWith(join(folder.path, "npm-bin"), packed),
    notifySocket: () => undefined,
  });
  browser = await openBrowser();
  const isReady = async () => (await fetch(`${url}/ready`).catch(() => null))?.ok === true;
  await eventually("the gateway serves", isReady, Boolean);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

test.if(process.platform === "linux")(
  "an update is looked for when somebody asks, runs with its steps on the page, and the page says which version serves",
  async () => {
    const token = (await readFile(join(home, "token"), "utf8")).trim();
    await using on = await visit(browser, { url, token }, { path: "/#/system" });
    const part = on.page.getByTestId("version");
    await part.getByText("This is version 1.0.0. The gateway does not look for newer ones by itself.").waitFor();
    expect(await part.getByRole("button", { name: /^Update/ }).count()).toBe(0);
    await part.getByRole("button", { name: "Look for an update" }).press("Enter");
    await part.getByText("Version 1.1.0 is there.").waitFor();
    expect(await accessibilityProblems(on.page)).toEqual([]);
    await part.getByRole("button", { name: "Update to version 1.1.0…" }).click();
    await part.getByRole("button", { name: "Update", exact: true }).click();
    await part.getByText("Installing pi-gateway@1.1.0 beside version 1.0.0 …").waitFor();
    await part.getByText("Version 1.1.0 serves now. It was 1.0.0.").waitFor({ timeout: 90_000 });
    await part.getByText(/^This is version 1\.1\.0\./).waitFor();
    await part.getByText("Switching: turns that run may finish …").waitFor();
    expect([on.foreign, (await on.seen()).violations]).toEqual([[], []]);
    const authorization = `Bearer ${token}`;
    const report = await (await fetch(`${url}/api/update`, { headers: { authorization } })).json();
    expect(report).toMatchObject({ version: "1.1.0", isRunning: false, last: { to: "1.1.0", kind: "updated" } });
  },
);
