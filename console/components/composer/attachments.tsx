/** Pictures and files chosen for the next message: checked here first, uploaded at once, shown small, removable. */
import { signal } from "@preact/signals";
import { uploadFile, type Uploaded } from "../../net/api.ts";
import { isPicture, refuseFile } from "../../net/files.ts";
import { randomId } from "../../state/route.ts";
import { Icon } from "../icons.tsx";

interface Chosen {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly preview: string;
  readonly cancel: AbortController;
}

type Image = Chosen &
  (
    | { readonly state: "uploading"; readonly share: number }
    | { readonly state: "done"; readonly mediaId: string; readonly url: string }
    | { readonly state: "failed"; readonly because: string }
  );

export const images = signal<readonly Image[]>([]);
export const imageProblem = signal("");

export function addImages(files: readonly File[]): void {
  const problems: string[] = [];
  for (const file of files) {
    const problem = refuseFile(file, images.value.length);
    if (problem) problems.push(problem);
    else void upload(file, false);
  }
  imageProblem.value = problems.join(" ");
}

/** Gives the words of the recording; empty when the gateway has nobody who listens. */
export async function addVoice(file: File): Promise<string> {
  const problem = refuseFile(file, images.value.length);
  imageProblem.value = problem ?? "";
  if (problem !== null) return "";
  const { words = "", trouble = "" } = (await upload(file, true)) ?? {};
  if (trouble !== "") imageProblem.value = trouble;
  return words;
}

/** Null: it was not taken in, and the thumbnail says why. */
async function upload(file: File, voice: boolean): Promise<Uploaded | null> {
  const cancel = new AbortController();
  const chosen: Chosen = {
    id: randomId(),
    name: file.name || "file",
    mimeType: file.type,
    preview: URL.createObjectURL(file),
    cancel,
  };
  images.value = [...images.value, { ...chosen, state: "uploading", share: 0 }];
  const answer = await uploadFile(
    file,
    voice,
    (share) => change(chosen, { ...chosen, state: "uploading", share }),
    cancel.signal,
  );
  if (!answer.ok) {
    change(chosen, { ...chosen, state: "failed", because: answer.error.message });
    return null;
  }
  const { mediaId, url } = answer.value;
  change(chosen, { ...chosen, state: "done", mediaId, url });
  return answer.value;
}

function change(chosen: Chosen, to: Image): void {
  images.value = images.value.map((image) => (image.id === chosen.id ? to : image));
}

function remove(image: Image): void {
  image.cancel.abort();
  URL.revokeObjectURL(image.preview);
  images.value = images.value.filter((one) => one.id !== image.id);
  imageProblem.value = "";
}

export function clearImages(): void {
  for (const image of images.peek()) remove(image);
  imageProblem.value = "";
}

export function Thumbnails() {
  if (images.value.length === 0) return null;
  return (
    <ul class="thumbs" aria-label="Files to send">
      {images.value.map((image) => (
        <li key={image.id} class={`thumb ${image.state}`}>
          {isPicture(image.mimeType) ? (
            <img src={image.preview} alt={image.name} />
          ) : (
            <span class="thumb-name" dir="auto">
              {image.name}
            </span>
          )}
          {image.state === "uploading" && (
            <progress aria-label={`Uploading ${image.name}`} max={1} value={image.share} />
          )}
          {image.state === "failed" && (
            <span class="thumb-problem" role="alert">
              {image.because}
            </span>
          )}
          <button type="button" class="thumb-remove" aria-label={`Remove ${image.name}`} onClick={() => remove(image)}>
            <Icon name="close" size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}
