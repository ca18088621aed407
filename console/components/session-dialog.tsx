/** What can be done with a conversation: name, pin, archive, keep as a file, delete. Says what a deletion takes and what it leaves. */
import { signal } from "@preact/signals";
import type { SessionSummary } from "../../src/contracts/chat.ts";
import { newChat, openKey } from "../state/console-state.ts";
import { markSession, removeSession, saveExport } from "../state/session-list.ts";
import { Icon } from "./icons.tsx";
import { AskFirst } from "./parts/ask-first.tsx";
import { Dialog } from "./parts/dialog.tsx";
import { Problem, useAction } from "./parts/use-action.tsx";

export const managed = signal<SessionSummary | null>(null);
const FORMATS = [
  ["markdown", "Markdown"],
  ["json", "JSON"],
  ["html", "HTML"],
] as const;

interface Props {
  readonly session: SessionSummary;
  readonly onRename: () => void;
}

export function SessionDialog({ session, onRename }: Props) {
  const { key, pinnedAt, archivedAt } = session;
  const title = session.title || "Untitled";
  const { busy, problem, run } = useAction();
  const close = () => (managed.value = null);
  const mark = async (marks: Parameters<typeof markSession>[1]) => {
    if (await run(() => markSession(key, marks))) close();
  };
  const deleted = () => {
    close();
    if (openKey.value === key) newChat();
  };
  return (
    <Dialog name={`Manage ${title}`} class="manage" onClose={close}>
      <div class="manage-head">
        <h2 dir="auto">{title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      <div class="approval-buttons">
        <button type="button" class="quiet small edged" onClick={onRename}>
          Rename
        </button>
        <button
          type="button"
          class="quiet small edged"
          disabled={busy}
          onClick={() => void mark({ pinned: pinnedAt === undefined })}
        >
          {pinnedAt === undefined ? "Pin" : "Unpin"}
        </button>
        <button
          type="button"
          class="quiet small edged"
          disabled={busy}
          onClick={() => void mark({ archived: archivedAt === undefined })}
        >
          {archivedAt === undefined ? "Archive" : "Unarchive"}
        </button>
      </div>
      <h3 class="label">Keep as a file</h3>
      <div class="approval-buttons">
        {FORMATS.map(([format, words]) => (
          <button
            key={format}
            type="button"
            class="quiet small edged"
            onClick={() => void run(() => saveExport(key, format))}
          >
            {words}
          </button>
        ))}
      </div>
      <Problem text={problem} />
      <h3 class="label">Delete</h3>
      <AskFirst
        verb="Delete"
        to={title}
        question={<WhatGoes channel={session.channel} />}
        act={() => removeSession(key)}
        onDone={deleted}
      />
    </Dialog>
  );
}

function WhatGoes({ channel }: { readonly channel: string }) {
  return (
    <>
      This deletes everything that was said here, its files and pictures, and what the assistant remembers of it. A
      running answer is stopped. Tool calls stay in the audit log, and so does what was spent. A conversation that was
      branched off this one shows its messages no more, and the assistant still remembers them there.
      {channel !== "webchat" && channel !== "api" && ` Messages on ${channel} itself stay there.`}
    </>
  );
}
