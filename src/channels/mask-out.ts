/**
 * The last place before a platform: nothing passes with a secret the gateway knows. Replies were masked when they were stored; a secret that
 * became known since then, and what tools do to messages directly, is masked here.
 */
import type { Channel } from "../contracts/channel.ts";
import type { OutboxRow } from "../contracts/delivery.ts";
import { maskTexts, type SecretMask } from "../kit/secret.ts";

export function maskOut({ mask }: { readonly mask: SecretMask }, channel: Channel): Channel {
  const { react, edit, questions, messages } = channel;
  const masked: Partial<Channel> = {
    send: (part, signal) => channel.send(maskPart(part, mask), signal),
    ...(messages && {
      messages: {
        delivered: (part, signal) => messages.delivered(maskPart(part, mask), signal),
        skip: (part, signal) => messages.skip(maskPart(part, mask), signal),
      },
    }),
    ...(react && {
      react: (target, { emoji, remove }, signal) =>
        react.call(channel, target, { emoji: emoji.map(mask.text), remove }, signal),
    }),
    ...(edit && { edit: (target, text, signal) => edit.call(channel, target, mask.text(text), signal) }),
    ...(questions && {
      questions: Object.assign(Object.create(questions) as typeof questions, {
        show: (...[shown, signal]: Parameters<typeof questions.show>) =>
          questions.show(
            { ...shown, text: mask.text(shown.text), labels: maskTexts(shown.labels, mask) as readonly string[] },
            signal,
          ),
      }),
    }),
  };
  return Object.assign(Object.create(channel) as Channel, masked);
}

function maskPart(part: OutboxRow, mask: SecretMask): OutboxRow {
  const { text, attachments } = part.message;
  const files = attachments?.map((file) => ({ ...file, name: mask.text(file.name) }));
  return { ...part, message: { ...part.message, text: mask.text(text), ...(files ? { attachments: files } : {}) } };
}
