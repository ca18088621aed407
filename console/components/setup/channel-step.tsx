/** From where people write besides the web console, and who of them is the owner: a bot whose token is tried, then its own code from the chat. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { SetupInput } from "../../../src/contracts/setup.ts";
import { closePeople, openPeople, peopleRows } from "../../state/people.ts";
import { Person } from "../channels/person.tsx";
import { SelectField, TextField } from "../parts/fields.tsx";
import { Said, Step, StepButtons, useTrying } from "./step.tsx";

type ChannelName = NonNullable<SetupInput["channel"]>["channel"];

const MAX_TOKEN = 4_096;
const MAX_ID = 200;
const CHANNELS: readonly (readonly [ChannelName, string])[] = [
  ["telegram", "Telegram"],
  ["discord", "Discord"],
];
const HOW: Readonly<Record<ChannelName, string>> = {
  telegram: "In Telegram, send /newbot to @BotFather. It asks for a name and gives you a token: paste it here.",
  discord:
    "In Discord's developer portal, make an application, switch on the Message Content Intent on its Bot page, and copy the bot's token from there.",
};

export function ChannelStep() {
  const channel = useSignal<string>("telegram");
  const token = useSignal("");
  const trying = useTrying();
  const name = channel.value as ChannelName;
  const input = { channel: { channel: name, token: token.value.trim() } };
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (await trying.save(input)) token.value = "";
  };
  return (
    <Step name="Channel" id="channel" check="channel">
      <form class="form" aria-label="Connect a channel" onSubmit={(event) => void submit(event)}>
        <p class="about setup-how">{HOW[name]}</p>
        <SelectField label="Channel" value={channel} choices={CHANNELS} />
        <TextField label="The bot's token" value={token} type="password" required maxLength={MAX_TOKEN} exact wide />
        <StepButtons trying={trying} incomplete={token.value.trim() === ""} onTest={() => void trying.test(input)} />
        <Said trying={trying} />
      </form>
    </Step>
  );
}

/** Whoever shows the code that the bot gave them is known to be the one who writes there. */
export function OwnerStep() {
  useEffect(() => {
    openPeople();
    return closePeople;
  }, []);
  const owner = useSignal("");
  const trying = useTrying();
  const rows = peopleRows.value ?? [];
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (await trying.save({ owners: [owner.value.trim()] })) owner.value = "";
  };
  return (
    <Step name="Owner" id="owner">
      <p class="about">
        Whoever is signed in here is an owner already. To be one in your chat too, write anything to the bot from there:
        it answers with a code. You appear here then, and give yourself access with that code.
      </p>
      <ul class="setup-people" aria-label="People who wait">
        {rows.map((row) => (
          <li key={row.person.id}>
            <Person row={row} offered="owner" />
          </li>
        ))}
      </ul>
      <form class="form" aria-label="Name an owner" onSubmit={(event) => void submit(event)}>
        <TextField
          label="Or your id, if you know it"
          value={owner}
          maxLength={MAX_ID}
          placeholder="telegram:user:123"
          exact
          wide
        />
        <button type="submit" class="quiet edged" disabled={trying.busy || owner.value.trim() === ""}>
          Make owner
        </button>
        <Said trying={trying} />
      </form>
    </Step>
  );
}
