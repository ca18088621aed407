/** Which files leave, as tables: names that never do, names that merely look like it, and who may send what. */
import { describe, expect, test } from "bun:test";
import { type FileReach, type FileSource, judgeName, judgeSource } from "./file-rules.ts";

describe("the name of a file", () => {
  test.each([
    [".env"],
    [".ENV"],
    [".env.local"],
    ["prod.env"],
    ["env"],
    ["..."],
    [".git/config"],
    ["app/.git/HEAD"],
    [".ssh/config"],
    [".aws/credentials"],
    ["cvs/Entries"],
    ["_darcs/prefs"],
    ["server.pem"],
    ["SERVER.PEM"],
    ["server.pem.bak"],
    ["server.pem~"],
    ["server.pem.old.1"],
    ["server.pem. "],
    ["tls.key"],
    ["store.p12"],
    ["store.jks"],
    ["AuthKey_ABC.p8"],
    ["vault.kdbx"],
    ["office.ovpn"],
    ["terraform.tfstate"],
    ["id_rsa"],
    ["id_ed25519"],
    ["id_ed25519_work"],
    ["id_rsa.bak"],
    ["keys/id_ecdsa"],
    ["netrc"],
    ["npmrc"],
    ["auth.json"],
    ["pi-gateway.jsonc"],
    ["kubeconfig"],
    ["credentials"],
    ["credentials.json"],
    ["google-credentials.json"],
    ["secrets.yaml"],
    ["db-password.txt"],
    ["api_keys.csv"],
    ["apikey"],
    ["private-key.txt"],
    ["token"],
    ["bot-token.txt"],
    ["service-account-prod.json"],
    ["client_secret_123.json"],
    ["secrets/readme.md"],
    ["ｉｄ＿ｒｓａ"],
  ])("%s is never sent", (path) => {
    const decision = judgeName(path.split("/"));
    expect(decision).toEqual({ ok: false, because: expect.stringContaining("never sent") });
  });

  test.each([
    ["chart.png"],
    ["out/chart.png"],
    ["report.pdf"],
    ["id_rsa.pub"],
    ["environment.md"],
    ["keyboard.png"],
    ["monkey.txt"],
    ["secret-santa.txt"],
    ["password.png"],
    ["design-tokens.json"],
    ["tokenizer.json"],
    ["passwords-explained.pdf"],
    ["a.b.c.txt"],
    ["notes~"],
    ["data.1"],
    ["日本語.txt"],
    ["attachments/media_1.txt"],
  ])("%s may be sent", (path) => {
    expect(judgeName(path.split("/"))).toEqual({ ok: true });
  });
});

describe("who may send a file", () => {
  test.each([
    ["workspace", "made", true],
    ["workspace", "received", true],
    ["workspace", "elsewhere", true],
    ["conversation", "made", true],
    ["conversation", "received", true],
    ["conversation", "elsewhere", false],
    ["nothing", "made", false],
    ["nothing", "received", false],
    ["nothing", "elsewhere", false],
  ] satisfies [FileReach, FileSource, boolean][])("with the reach %s a file that was %s: %p", (reach, source, ok) => {
    const decision = judgeSource(reach, source);
    expect(decision.ok).toBe(ok);
    if (!decision.ok) expect(decision.because).toEndWith(".");
  });
});
