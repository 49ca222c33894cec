import type { ChatTarget } from './chatTarget.ts';
import type { ChatText } from './chatText.ts';

/**
 * Most characters of a message.
 * @see https://core.telegram.org/bots/api#sendmessage (1 to 4096 characters; quoted by teloxide-core 0.13).
 * @see https://discord.com/developers/docs/resources/webhook#execute-webhook (2000 characters).
 * @see https://api.slack.com/methods/chat.postMessage#truncating (4,000 characters advised).
 */
const LENGTH_MAX = { telegram: 4_096, discord: 2_000, slack: 4_000 } as const;
const ELLIPSIS = '…';
/** Discord's flag for a message whose links are not expanded. */
const DISCORD_SUPPRESS_EMBEDS = 4;
const DISCORD_MARKDOWN = /[\\*_~`|>#[\]()-]/g;

/** The body of a message's request. Names in a text never mention a person, and never become markup. */
export function chatBody({ format, members }: ChatTarget, text: ChatText): Buffer {
  const max = LENGTH_MAX[format];
  switch (format) {
    case 'telegram':
      // Without `parse_mode` Telegram reads no markup.
      return json({
        ...members,
        text: joined(text, max),
        link_preview_options: { is_disabled: true },
      });
    case 'discord':
      return json({
        ...members,
        content: joined(text, max, (line) => line.replaceAll(DISCORD_MARKDOWN, '\\$&')),
        allowed_mentions: { parse: [] },
        flags: DISCORD_SUPPRESS_EMBEDS,
      });
    case 'slack':
      return json({
        ...members,
        text: joined(text, max, (line) =>
          line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
        ),
        mrkdwn: false,
        unfurl_links: false,
        unfurl_media: false,
      });
  }
}

/** The link is never cut: the lines before it are. @param escaped Applied to the lines, character by character. */
function joined({ lines, link }: ChatText, max: number, escaped = (line: string) => line): string {
  const ending = link === null ? '' : `\n${link}`;
  const text = lines.join('\n');
  const whole = escaped(text) + ending;
  if (whole.length <= max) return whole;
  const room = max - ending.length - ELLIPSIS.length;
  let cut = '';
  // By code point, so that neither an escape nor a surrogate pair is divided.
  for (const character of text) {
    const added = escaped(character);
    if (cut.length + added.length > room) break;
    cut += added;
  }
  return cut + ELLIPSIS + ending;
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
