/** The first setup inside a running gateway: tries what a person wants, and writes it into the configuration, which is in force at once. */
import { type Config, keyFileOf, writeKeyFile } from "../config/index.ts";
import type { ConfigEditor } from "../contracts/config-api.ts";
import type { Notifications } from "../contracts/notifications.ts";
import type { ChannelWish, ModelWish, SavedSetup, Setup, SetupTest, SetupWishes } from "../contracts/setup.ts";
import type { GatewayStatus } from "../contracts/wire.ts";
import { modelChosen, setupChecks, setupEdits, testChannel, testModel } from "../setup/index.ts";
import type { Core } from "./core.ts";

interface SetupParts {
  status(): GatewayStatus;
  readonly editor: ConfigEditor;
  readonly notifications: Pick<Notifications, "isEnabled" | "list">;
}

export function createSetup(core: Core, { status, editor, notifications }: SetupParts): Setup {
  const { clock, config, options, secrets, channels } = core;
  const { home, environment } = options;
  const logins = { userHome: environment.userHome, folder: home };
  const test = (wish: ModelWish | ChannelWish, signal: AbortSignal): Promise<SetupTest> => {
    hide(wish);
    return "kind" in wish
      ? testModel({ clock, logins }, wish, signal)
      : testChannel({ clock }, wish, config().channels, signal);
  };
  /** From the moment it is typed, before the configuration has it. */
  const hide = (wish: ModelWish | ChannelWish): void => {
    const typed = "token" in wish ? wish.token : "key" in wish ? wish.key : null;
    if (typed !== null) secrets.hide(typed);
  };
  return {
    checks: async () =>
      setupChecks({
        notifiedBrowsers: notifications.isEnabled() ? (await notifications.list()).length : null,
        ...status(),
        isOwnChannel: (id) => channels.isOwn(id.split("/")[0] ?? id),
      }),
    test,
    async save(wishes, isTested, signal) {
      const tests: SavedSetup["tests"][number][] = [];
      let listed: readonly string[] = [];
      for (const [step, wish] of [
        ["model", wishes.model],
        ["channel", wishes.channel],
      ] as const) {
        if (wish === null) continue;
        if (!isTested) {
          hide(wish);
          continue;
        }
        const { ok, say, models } = await test(wish, signal);
        tests.push({ step, ok, say });
        if (step === "model") listed = models;
        if (!ok) return { written: false, tests, problems: [] };
      }
      return { tests, ...(await write({ home, config: config(), editor }, wishes, listed)) };
    },
  };
}

interface Written {
  readonly home: string;
  readonly config: Config;
  readonly editor: ConfigEditor;
}

/** The file with the key comes first, so that the configuration never names one that is not there. */
async function write(
  { home, config, editor }: Written,
  wishes: SetupWishes,
  listed: readonly string[],
): Promise<Omit<SavedSetup, "tests">> {
  const { model } = wishes;
  const keyFile = model?.kind === "key" ? keyFileOf(home, model.provider) : null;
  const edits = setupEdits(wishes, { modelId: modelChosen(model, listed), keyFile, config });
  if (edits.length === 0) return { written: false, problems: ["Nothing was chosen."] };
  const { version } = await editor.file();
  const change = {
    version,
    edits: edits.map(({ keys, value, comment }) => ({
      path: keys,
      ...(value === undefined ? {} : { value }),
      comment,
    })),
  };
  const { problems } = await editor.propose(change);
  if (problems.length > 0) return { written: false, problems: problems.map(({ message }) => message) };
  if (keyFile !== null && model?.kind === "key") await writeKeyFile(keyFile, model.key);
  const saved = await editor.save(change);
  return { written: saved.written, problems: [...saved.problems.map(({ message }) => message), ...saved.notInForce] };
}
