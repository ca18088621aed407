/** The four checks of a new gateway, each with where it is done: the next one in a sentence, the others by name, so that there is room for the first prompts below. Goes away when all are done, or when somebody puts it away. */
import { useEffect } from "preact/hooks";
import type { SetupCheck } from "../../../src/contracts/setup.ts";
import { ADDRESSES } from "../../state/route.ts";
import { cardShown, checks, dismissCard, followSetup } from "../../state/setup-state.ts";
import { Icon } from "../icons.tsx";

const NAMES: Readonly<Record<SetupCheck["check"], string>> = {
  model: "Model",
  channel: "Channel",
  notifications: "Notifications",
  backup: "Backup",
};

/** In an empty conversation. */
export function SetupCard() {
  useEffect(followSetup, []);
  if (!cardShown.value) return null;
  const done = checks.value?.filter((check) => check.done).length ?? 0;
  return (
    <section class="setup-card" aria-labelledby="setup-card-title" data-testid="setup-card">
      <header>
        <h3 id="setup-card-title">Set up your gateway</h3>
        <span class="soft">{done} of 4 done</span>
        <button
          type="button"
          class="icon-button"
          aria-label="Put the setup away"
          title="Put it away"
          onClick={dismissCard}
        >
          <Icon name="close" size={16} />
        </button>
      </header>
      <CheckList />
    </section>
  );
}

function CheckList() {
  const all = checks.value ?? [];
  const [next, ...later] = all.filter(({ done }) => !done);
  const others = [...later, ...all.filter(({ done }) => done)];
  return (
    <ul class="setup-checks" aria-label="What is set up">
      {next && <Check key={next.check} item={next} isNext />}
      {others.map((item) => (
        <Check key={item.check} item={item} isNext={false} />
      ))}
    </ul>
  );
}

function Check({ item, isNext }: { readonly item: SetupCheck; readonly isNext: boolean }) {
  const { check, done, say } = item;
  const name = NAMES[check];
  const link = { class: "quiet small edged", href: `${ADDRESSES.setup}/${check}`, "aria-label": `Set up: ${name}` };
  return (
    <li
      data-testid="setup-check"
      data-check={check}
      data-done={done}
      data-next={isNext}
      title={isNext ? undefined : say}
    >
      {(done || isNext) && <Icon name={done ? "check" : "unknown"} size={18} />}
      <span>
        {done || isNext ? <strong>{name}</strong> : <a {...link}>{name}</a>}{" "}
        <span class="hidden">{done ? "done" : "not done"}: </span>
        <small dir="auto" class={isNext ? "" : "hidden"}>
          {say}
        </small>
      </span>
      {isNext && <a {...link}>Set up</a>}
    </li>
  );
}
