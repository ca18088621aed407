/** Help above the composer while a slash command is written: those that fit, what one takes, or that there is none. */
import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { commands, needCommands } from "../../state/commands-state.ts";
import { type SlashCommand, slashHelp } from "../../text/slash.ts";
import { draft, write } from "./draft.ts";

export const SLASH_LIST_ID = "slash-commands";

/** Of the fitting commands, which Enter takes. */
const chosen = signal(0);
/** The draft for which Escape closed the list. */
const closedFor = signal<string | null>(null);

const help = computed(() => {
  if (!draft.value.startsWith("/") || closedFor.value === draft.value) return null;
  return commands.value && slashHelp(commands.value, draft.value);
});
const choices = computed(() => (help.value?.kind === "choose" ? help.value.items : []));

export const slashOptionId = computed(() => {
  const command = choices.value[chosen.value];
  return command && optionId(command);
});

const optionId = ({ name }: SlashCommand): string => `slash-${name}`;
const withUsage = ({ name, usage }: SlashCommand): string => `/${name}${usage ? ` ${usage}` : ""}`;

function complete({ name }: SlashCommand): void {
  write(`/${name} `);
}

/** True: the key was meant for the list of commands. */
export function slashKey(event: KeyboardEvent): boolean {
  const shown = choices.value;
  const command = shown[chosen.value];
  if (!command || event.isComposing) return false;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const step = event.key === "ArrowDown" ? 1 : -1;
    chosen.value = (chosen.value + step + shown.length) % shown.length;
  } else if (event.key === "Escape") {
    closedFor.value = draft.value;
  } else if (event.key === "Tab" && !event.shiftKey) {
    complete(command);
  } else if (event.key === "Enter" && !event.shiftKey && draft.value !== `/${command.name}`) {
    complete(command);
  } else return false;
  event.preventDefault();
  event.stopPropagation(); // Escape would stop a running answer
  return true;
}

export function SlashMenu() {
  const writing = draft.value.startsWith("/");
  useEffect(() => {
    if (writing) needCommands();
    chosen.value = 0;
  }, [writing, draft.value]);
  const shown = help.value;
  if (!shown) return null;
  if (shown.kind === "choose") return <Choices items={shown.items} />;
  return (
    <p class="slash-help" data-testid="slash-help" role="status">
      {shown.kind === "known" ? (
        <>
          <code>{withUsage(shown.command)}</code> {shown.command.help}
        </>
      ) : (
        <>
          There is no command <code>/{shown.name}</code>. The gateway would say so, at no cost; to say it to the
          assistant, begin with two slashes.
        </>
      )}
    </p>
  );
}

function Choices({ items }: { readonly items: readonly SlashCommand[] }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen.value]);
  return (
    <ul class="slash-list" id={SLASH_LIST_ID} role="listbox" aria-label="Commands" data-testid="slash-list" ref={list}>
      {items.map((command, at) => (
        <li
          key={command.name}
          id={optionId(command)}
          role="option"
          aria-selected={at === chosen.value}
          onPointerDown={(event) => event.preventDefault()} // the composer keeps the focus
          onClick={() => complete(command)}
        >
          <code>{withUsage(command)}</code>
          <span>{command.help}</span>
        </li>
      ))}
    </ul>
  );
}
