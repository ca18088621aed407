/** Records a voice message and attaches it. Where the gateway turns voice into words, these are put into the composer, to be read before they are sent. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { openKey } from "../../state/console-state.ts";
import { Icon } from "../icons.tsx";
import { addVoice, imageProblem } from "./attachments.tsx";
import { editDraft } from "./draft.ts";

const MAX_RECORDING_MS = 10 * 60_000;
const SECOND_MS = 1_000;
/** What browsers record; each takes the first that it can. */
const FORMATS = [
  { mimeType: "audio/ogg;codecs=opus", ending: "ogg" },
  { mimeType: "audio/webm;codecs=opus", ending: "webm" },
  { mimeType: "audio/mp4", ending: "m4a" },
] as const;

interface Recording {
  readonly since: number;
  /** False: what was recorded is thrown away. */
  end(attach: boolean): void;
}

export function VoiceButton() {
  const recording = useSignal<Recording | null>(null);
  const seconds = useSignal(0);
  const asked = useRef(false);
  useEffect(() => {
    const now = recording.value;
    if (!now) return;
    const timer = setInterval(() => {
      seconds.value = Math.floor((Date.now() - now.since) / SECOND_MS);
      if (Date.now() - now.since >= MAX_RECORDING_MS) now.end(true);
    }, SECOND_MS);
    return () => clearInterval(timer);
  }, [recording.value]);
  useEffect(() => () => recording.peek()?.end(false), []); // the microphone does not stay on behind another view
  if (typeof MediaRecorder === "undefined" || !navigator.mediaDevices) return null; // also pages that are not on HTTPS or loopback

  const begin = async (): Promise<void> => {
    if (asked.current) return;
    asked.current = true;
    try {
      imageProblem.value = "";
      seconds.value = 0;
      recording.value = await record(() => (recording.value = null));
    } catch (error) {
      imageProblem.value = whyNotRecorded(error);
    } finally {
      asked.current = false;
    }
  };
  if (!recording.value)
    return (
      <button
        type="button"
        class="round quiet"
        data-testid="record"
        aria-label="Record a voice message"
        title="Record a voice message"
        onClick={() => void begin()}
      >
        <Icon name="microphone" />
      </button>
    );
  return (
    <div class="recording" role="group" aria-label="Recording">
      <span class="recording-time" data-testid="recording">
        {clock(seconds.value)}
      </span>
      <button
        type="button"
        class="round quiet"
        aria-label="Discard the recording"
        title="Discard"
        onClick={() => recording.value?.end(false)}
      >
        <Icon name="close" />
      </button>
      <button
        type="button"
        class="round stop"
        data-testid="end-recording"
        aria-label="End the recording and attach it"
        title="Attach"
        ref={focus}
        onClick={() => recording.value?.end(true)}
      >
        <Icon name="check" />
      </button>
    </div>
  );
}

async function record(onEnd: () => void): Promise<Recording> {
  const format = FORMATS.find(({ mimeType }) => MediaRecorder.isTypeSupported(mimeType));
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream, format ? { mimeType: format.mimeType } : {});
  const pieces: Blob[] = [];
  let wanted = false;
  recorder.ondataavailable = ({ data }) => pieces.push(data);
  recorder.onstop = () => {
    for (const track of stream.getTracks()) track.stop();
    onEnd();
    const type = recorder.mimeType.split(";")[0] ?? "";
    if (wanted) void attach(new File(pieces, `voice.${format?.ending ?? "webm"}`, { type }));
  };
  recorder.start(SECOND_MS);
  return {
    since: Date.now(),
    end(attach) {
      wanted = attach;
      if (recorder.state !== "inactive") recorder.stop();
    },
  };
}

async function attach(file: File): Promise<void> {
  const session = openKey.value;
  const words = await addVoice(file);
  if (words !== "" && openKey.value === session) editDraft(words);
}

function whyNotRecorded(error: unknown): string {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError") return "The browser does not let this page use the microphone.";
  if (name === "NotFoundError") return "There is no microphone.";
  return "Recording did not begin.";
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function focus(element: HTMLElement | null): void {
  element?.focus();
}
