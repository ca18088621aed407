/** How the gateway is: one chip in the header, and one banner that lists what needs attention. The chip opens what was dismissed in the banner, and without a problem the view of health. */
import { computed, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { approvalsElsewhere, questionsElsewhere, titleOf } from "../../state/asking.ts";
import { isAway, line, newVersion, openSession, status, view } from "../../state/console-state.ts";
import { healthText, problemsOf } from "../../state/problems.ts";
import { ADDRESSES } from "../../state/route.ts";
import { Icon } from "../icons.tsx";

const BANNER_ID = "needs-attention";
/** More than this is folded: the conversation needs the room. */
const SHOWN_LINES = 3;

const dismissed = signal<ReadonlySet<string>>(new Set());
const unfolded = signal(false);

const problems = computed(() => problemsOf(status.value, isAway.value));
/** A lost connection cannot be dismissed: it is over by itself. */
const shownProblems = computed(() =>
  problems.value.filter(({ id, kind }) => kind === "offline" || !dismissed.value.has(id)),
);

export function HealthChip() {
  const found = problems.value;
  const words = healthText(found, line.value === "open");
  const hidden = found.length > shownProblems.value.length;
  const open = () => {
    if (found.length === 0) location.hash = ADDRESSES.health;
    else if (hidden) dismissed.value = new Set();
    else dismissed.value = new Set(found.map(({ id }) => id));
  };
  return (
    <button
      type="button"
      class="health"
      data-testid="connection"
      data-state={line.value}
      data-problems={found.length}
      {...(found.length === 0 ? {} : { "aria-expanded": !hidden, "aria-controls": BANNER_ID })}
      title={found.length === 0 ? "Everything works. Open Health" : "What is not in order"}
      onClick={open}
    >
      <i aria-hidden="true" />
      <span>{words}</span>
    </button>
  );
}

export function Banner() {
  const lines = [...problemLines(), ...askLines(), ...versionLines()];
  const folded = unfolded.value ? 0 : Math.max(0, lines.length - SHOWN_LINES);
  return (
    <section class="banners" id={BANNER_ID} aria-label="Needs attention" role="status">
      {lines.length > 0 && (
        <div class="banner" data-testid="banner">
          <ul>{lines.slice(0, lines.length - folded)}</ul>
          {folded > 0 && (
            <button type="button" class="quiet small" onClick={() => (unfolded.value = true)}>
              Show {folded} more
            </button>
          )}
        </div>
      )}
    </section>
  );
}

function problemLines() {
  return shownProblems.value.map(({ id, kind, text }) => (
    <Line key={id} kind={kind} text={text}>
      {kind !== "offline" && (
        <button
          type="button"
          class="icon-button"
          aria-label={`Dismiss: ${text}`}
          title="Dismiss"
          onClick={() => dismiss(id)}
        >
          <Icon name="close" size={16} />
        </button>
      )}
    </Line>
  ));
}

/** Calls and running turns that wait for the owner in conversations that are not open: of each the one that has waited longest. */
function askLines() {
  if (view.value === "inbox") return []; // there they are themselves
  const [approval, ...more] = approvalsElsewhere.value;
  const [question] = questionsElsewhere.value;
  const others = more.length === 0 ? "" : ` ${more.length} more ${more.length === 1 ? "waits" : "wait"}.`;
  return [
    approval && (
      <Line
        key="approval"
        kind="asks"
        text={`${approval.tool} waits for your approval in “${titleOf(approval.sessionKey)}”.${others}`}
      >
        <Show session={approval.sessionKey} />
      </Line>
    ),
    question && (
      <Line key="question" kind="asks" text={`The assistant asks you something in “${titleOf(question.sessionKey)}”.`}>
        <Show session={question.sessionKey} />
      </Line>
    ),
  ].filter((one) => one !== undefined);
}

function Show({ session }: { readonly session: string }) {
  return (
    <button type="button" class="quiet small" onClick={() => openSession(session)}>
      Show
    </button>
  );
}

function versionLines() {
  if (!newVersion.value) return [];
  return [
    <Line key="version" kind="version" text="A new version is ready.">
      <button type="button" class="quiet small" onClick={() => location.reload()}>
        Reload
      </button>
    </Line>,
  ];
}

function dismiss(id: string): void {
  dismissed.value = new Set([...dismissed.value, id]);
}

interface LineProps {
  readonly kind: "offline" | "version" | "notice" | "channel" | "asks";
  readonly text: string;
  readonly children: ComponentChildren;
}

function Line({ kind, text, children }: LineProps) {
  return (
    <li data-kind={kind}>
      <p dir="auto">{text}</p>
      {children}
    </li>
  );
}
