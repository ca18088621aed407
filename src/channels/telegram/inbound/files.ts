/** Which files came with a message. Names and types are what Telegram says; nobody believes them. */
import type { Message } from "grammy/types";

export interface FileSpec {
  readonly fileId: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: number | null;
  /** Spoken words: they are written down if that is set up. */
  readonly spoken: boolean;
}

interface Sized {
  readonly file_id: string;
  readonly file_size?: number;
  readonly file_name?: string;
  readonly mime_type?: string;
}

export function filesOf(message: Message): readonly FileSpec[] {
  const photo = message.photo?.at(-1); // sizes go up
  const { document, video, video_note: note, animation, audio, voice } = message;
  return [
    photo && spec(photo, { name: "photo.jpg", mimeType: "image/jpeg" }),
    animation ? spec(animation, { name: "animation.mp4", mimeType: "video/mp4" }) : undefined,
    document && !animation ? spec(document, { name: "document", mimeType: "application/octet-stream" }) : undefined, // an animation comes as both
    video && spec(video, { name: "video.mp4", mimeType: "video/mp4" }),
    note && spec(note, { name: "video-note.mp4", mimeType: "video/mp4" }),
    audio && spec(audio, { name: "audio.mp3", mimeType: "audio/mpeg" }),
    voice && { ...spec(voice, { name: "voice.ogg", mimeType: "audio/ogg" }), spoken: true },
  ].filter((file) => file !== undefined);
}

function spec(file: Sized, usual: Pick<FileSpec, "name" | "mimeType">): FileSpec {
  return {
    fileId: file.file_id,
    name: file.file_name ?? usual.name,
    mimeType: file.mime_type ?? usual.mimeType,
    bytes: file.file_size ?? null,
    spoken: false,
  };
}
