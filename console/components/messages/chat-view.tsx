/** The conversation and its scrolling: stays at the end while you are there, stays put while you read earlier things. */
import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { TranscriptItem } from "../../../src/contracts/chat.ts";
import { shownApprovals, shownQuestions } from "../../state/asking.ts";
import { chat, loadEarlier, loadingEarlier, retryChat, shownSends, spoken } from "../../state/console-state.ts";
import { arrange } from "../../state/chat.ts";
import { jumpTo } from "../../state/jump.ts";
import { ApprovalCard } from "../approval-card.tsx";
import { QuestionCard } from "../question-card.tsx";
import { Empty } from "../empty.tsx";
import { Icon } from "../icons.tsx";
import { Lightbox } from "./lightbox.tsx";
import { LiveRow } from "./live-row.tsx";
import { Message } from "./message.tsx";
import { anchorOf } from "./reply.tsx";
import { SendRow } from "./send-row.tsx";
import { TurnFooter } from "./turn-footer.tsx";

/** This close to the end counts as being there; a finger or a wheel rarely stops exactly at it. */
const AT_END_PX = 80;
const LOAD_EARLIER_PX = 160;

export function ChatView() {
  const box = useRef<HTMLDivElement>(null);
  const away = useSignal(false);
  const jump = useScrolling(box, away);
  useJump();
  return (
    <div class="chat-frame">
      <div class="chat" ref={box} tabindex={0} role="region" aria-label="Conversation" id="conversation">
        <div class="column">
          <Conversation />
        </div>
      </div>
      {away.value && (
        <button type="button" class="jump" onClick={jump}>
          <Icon name="down" size={16} /> Jump to latest
        </button>
      )}
      <div class="hidden" aria-live="polite">
        {spoken.value}
      </div>
      <Lightbox />
    </div>
  );
}

function Conversation() {
  const { phase, items, live, next } = chat.value;
  const sending = shownSends.value;
  const rows = useMemo(() => arrangedRows(items), [items]);
  if (phase === "loading" && sending.length === 0) return <Skeleton />;
  if (phase === "failed") return <Failed />;
  const alone = shownApprovals.value.filter(({ callId }) => !live?.tools.some((tool) => tool.callId === callId));
  const asked = shownQuestions.value;
  if (items.length === 0 && sending.length === 0 && !live && alone.length + asked.length === 0) return <Empty />;
  return (
    <>
      {next && (
        <button type="button" class="quiet earlier" disabled={loadingEarlier.value} onClick={() => void loadEarlier()}>
          {loadingEarlier.value ? "Loading…" : "Load earlier"}
        </button>
      )}
      {rows.settled}
      {live && <LiveRow live={live} />}
      {alone.map((approval) => (
        <ApprovalCard key={approval.id} approval={approval} />
      ))}
      {asked.map((one) => (
        <QuestionCard key={one.id} asked={one} />
      ))}
      {rows.queued}
      {sending.map((send) => (
        <SendRow key={send.clientId} send={send} />
      ))}
    </>
  );
}

/** Kept between renders: while a reply streams in, everything above it is the same and need not be looked at. */
function arrangedRows(items: readonly TranscriptItem[]) {
  const { settled, queued } = arrange(items);
  const row = (item: TranscriptItem) => <Message key={item.id} item={item} />;
  const footed = settled.flatMap((item, index) => {
    const ends = item.role === "assistant" && item.turnId !== null && settled[index + 1]?.turnId !== item.turnId;
    return ends ? [row(item), <TurnFooter key={`foot ${item.turnId}`} turnId={item.turnId} />] : [row(item)];
  });
  return { settled: footed, queued: queued.map(row) };
}

function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label="Loading the conversation">
      <i class="short right" />
      <i />
      <i />
      <i class="short" />
    </div>
  );
}

function Failed() {
  return (
    <div class="state">
      <h2>This conversation could not be read.</h2>
      <p>It is still stored in the gateway. Try again, or look at the gateway's log if it keeps happening.</p>
      <button type="button" class="primary" onClick={retryChat}>
        Try again
      </button>
    </div>
  );
}

/** How far back a found message is looked for: pages of the conversation. */
const MAX_PAGES_BACK = 200;

/** Shows the message that a search has found, reading earlier pages until it is there. */
function useJump(): void {
  const pages = useRef(0);
  const wanted = jumpTo.value;
  const { key, phase, items, next } = chat.value;
  useEffect(() => {
    if (!wanted || wanted.session !== key || phase !== "ready" || loadingEarlier.value) return;
    const row = document.getElementById(anchorOf(wanted.id));
    if (!row && next && pages.current++ < MAX_PAGES_BACK) return void loadEarlier();
    pages.current = 0;
    jumpTo.value = null;
    row?.scrollIntoView({ block: "center" });
    row?.focus({ preventScroll: true });
  }, [wanted, key, phase, items, loadingEarlier.value]);
}

function isEmpty(): boolean {
  const { items, live } = chat.value;
  return items.length === 0 && !live && shownSends.value.length === 0;
}

function useScrolling(box: RefObject<HTMLDivElement | null>, away: { value: boolean }): () => void {
  const fromEnd = useRef(0);
  const stick = useRef(true);
  const firstId = chat.value.items[0]?.id;
  const own = shownSends.value.at(-1)?.clientId;
  const toEnd = () => {
    stick.current = true;
    away.value = false;
    const el = box.current;
    if (el) el.scrollTop = isEmpty() ? 0 : el.scrollHeight; // an empty conversation is read from its beginning
  };

  useLayoutEffect(toEnd, [chat.value.key, own]); // another conversation, or one's own words: the end is what counts
  useLayoutEffect(() => {
    const el = box.current;
    if (el && !stick.current) el.scrollTop = el.scrollHeight - fromEnd.current; // earlier items came in above
  }, [firstId]);
  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    let lastTop = el.scrollTop;
    const onScroll = () => {
      fromEnd.current = el.scrollHeight - el.scrollTop;
      const atEnd = isEmpty() || fromEnd.current - el.clientHeight < AT_END_PX;
      // Only moving up lets go of the end: when the box gets smaller, the end moves away without anybody scrolling.
      stick.current = atEnd || (stick.current && el.scrollTop >= lastTop);
      lastTop = el.scrollTop;
      away.value = !stick.current;
      if (el.scrollTop < LOAD_EARLIER_PX && el.scrollHeight > el.clientHeight) void loadEarlier();
    };
    const grown = new ResizeObserver(() => stick.current && toEnd());
    grown.observe(el);
    if (el.firstElementChild) grown.observe(el.firstElementChild);
    el.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      grown.disconnect();
      el.removeEventListener("scroll", onScroll);
    };
  }, []);
  return toEnd;
}
