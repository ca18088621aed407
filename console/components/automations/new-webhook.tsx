/** Makes webhooks: switches them on with a token and a key of their own, and adds one in either direction to the settings. */
import { useSignal } from "@preact/signals";
import { madeSecrets, readWebhooks } from "../../state/automations-state.ts";
import { changeConfig } from "../../state/config-state.ts";
import { localDate } from "../../text/month.ts";
import { TextArea, TextField } from "../parts/fields.tsx";
import { Problem, useAction } from "../parts/use-action.tsx";

const SECRET_BYTES = 32;
const NAME_CHARS = 64;
const MAX_MESSAGE = 8_000;

/** As a sender can write it into a file: 64 hexadecimal digits. */
function newSecret(): string {
  return [...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

export function SwitchOn() {
  const { busy, problem, run } = useAction();
  const switchOn = async (): Promise<string | null> => {
    const token = newSecret();
    const key = newSecret();
    const keyId = localDate(new Date());
    const edits = [
      { path: ["hooks", "enabled"], value: true },
      { path: ["hooks", "token"], value: token },
      { path: ["hooks", "keys", keyId], value: key },
    ];
    const because = await changeConfig({ edits });
    if (because === null)
      madeSecrets.value = [
        { name: "token of the header Authorization", secret: token },
        { name: `key ${keyId} that requests are signed with`, secret: key },
      ];
    await readWebhooks();
    return because;
  };
  return (
    <div class="tool card" data-testid="switch-on">
      <p>Webhooks are switched off: every request is refused.</p>
      <button type="button" class="primary" disabled={busy} onClick={() => void run(switchOn)}>
        Switch on
      </button>
      <p class="about">
        This writes <code>hooks.enabled</code>, a new token and a key to sign with into the settings.
      </p>
      <Problem text={problem} />
    </div>
  );
}

export function NewWebhook() {
  const name = useSignal("");
  const message = useSignal("");
  const task = useSignal("");
  const { busy, problem, run } = useAction();
  const add = async (): Promise<string | null> => {
    const value = {
      message: message.value,
      ...(task.value.trim() === "" ? {} : { task: task.value.trim() }),
    };
    const because = await changeConfig({ edits: [{ path: ["hooks", "mappings", name.value], value }] });
    await readWebhooks();
    return because;
  };
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!(await run(add))) return;
    for (const field of [name, message, task]) field.value = "";
  };
  return (
    <details>
      <summary>New webhook</summary>
      <form class="form" aria-label="New webhook" onSubmit={(event) => void submit(event)}>
        <TextField label="Name" value={name} required maxLength={NAME_CHARS} placeholder="build" exact />
        <TextArea
          label="What the agent gets, with {{names}} of values from the request"
          value={message}
          rows={3}
          required
          maxLength={MAX_MESSAGE}
          placeholder="Build {{build.id}} failed: {{build.log}}"
        />
        <TextArea
          label="What the agent is to do with it"
          value={task}
          rows={2}
          maxLength={MAX_MESSAGE}
          placeholder="Say in one sentence what broke."
        />
        <button type="submit" class="primary" disabled={busy}>
          Add webhook
        </button>
        <Problem text={problem} />
      </form>
    </details>
  );
}

export function NewTarget() {
  const name = useSignal("");
  const url = useSignal("");
  const { busy, problem, run } = useAction();
  const add = async (): Promise<string | null> => {
    const secret = newSecret();
    const path = ["hooks", "targets", name.value];
    const because = await changeConfig({ edits: [{ path, value: { url: url.value, secret } }] });
    if (because === null) madeSecrets.value = [{ name: `key that posts to ${name.value} are signed with`, secret }];
    await readWebhooks();
    return because;
  };
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!(await run(add))) return;
    name.value = "";
    url.value = "";
  };
  return (
    <details>
      <summary>New target</summary>
      <form class="form" aria-label="New webhook target" onSubmit={(event) => void submit(event)}>
        <TextField label="Name" value={name} required maxLength={NAME_CHARS} placeholder="ops" exact />
        <TextField label="Address" value={url} required placeholder="https://ops.example/pi" exact wide />
        <button type="submit" class="primary" disabled={busy}>
          Add target
        </button>
        <Problem text={problem} />
      </form>
    </details>
  );
}
