import { InvalidInputError } from '../../runtime/errors.ts';
import type { ChatFormat } from '../../schema/notification.ts';

/** Where a chat's messages are posted. The path has the secret, so only `shown` is ever displayed. */
export interface ChatTarget {
  readonly format: ChatFormat;
  /** Path and query of every request. */
  readonly path: string;
  /** Members that every message has besides its text. */
  readonly members: Readonly<Record<string, string | number>>;
  /** Least time between the beginnings of two messages. */
  readonly spacingMs: number;
  /** The URL without its secret. */
  readonly shown: string;
  /** Texts that must not appear in a log. */
  readonly secrets: readonly string[];
}

export const MASK = '***';

/**
 * One message a second to a chat, 20 a minute to a group or channel.
 * @see https://telegra.ph/Hitting-limits-bot-FAQ (Telegram Bot Support), read 2026-11-23.
 */
const TELEGRAM_CHAT_SPACING_MS = 1_000;
const TELEGRAM_GROUP_SPACING_MS = 3_000;
/**
 * Discord publishes no number: the headers of every reply say how many requests are left, and the queue obeys them.
 * Observed by others are five in two seconds. This spacing keeps a burst from being refused at all.
 * @see https://discord.com/developers/docs/topics/rate-limits, and
 * https://birdie0.github.io/discord-webhooks-guide/other/rate_limits.html, the second read 2026-11-23.
 */
const DISCORD_SPACING_MS = 2_000;
/** One message a second. @see https://api.slack.com/docs/rate-limits, read 2026-11-23. */
const SLACK_SPACING_MS = 1_000;

const TELEGRAM_PATH = /^\/bot(\d{1,20}):([\w-]{10,100})\/sendMessage$/;
const TELEGRAM_CHAT = /^(?:-?\d{1,20}|@\w{4,64})$/;
const DISCORD_PATH = /^\/api(?:\/v\d{1,2})?\/webhooks\/(\d{1,25})\/([\w-]{10,200})$/;
const SLACK_PATH = /^\/([\w-]+)\/([\w/-]{8,300})$/;
const NUMBER = /^\d{1,20}$/;

/** @throws {InvalidInputError} If the URL is not one of this kind of chat. It does not repeat the URL. */
export function parseChatTarget(format: ChatFormat, url: URL): ChatTarget {
  switch (format) {
    case 'telegram':
      return telegramTarget(url);
    case 'discord':
      return discordTarget(url);
    case 'slack':
      return slackTarget(url);
  }
}

function telegramTarget({ origin, pathname, searchParams }: URL): ChatTarget {
  const [, bot = '', token = ''] = TELEGRAM_PATH.exec(pathname) ?? [];
  if (token === '')
    throw new InvalidInputError('a Telegram URL ends with /bot<token>/sendMessage?chat_id=<chat>');
  checkQuery(searchParams, { chat_id: TELEGRAM_CHAT, message_thread_id: NUMBER });
  const chat = searchParams.get('chat_id');
  if (chat === null) throw new InvalidInputError('a Telegram URL needs ?chat_id=<chat>');
  const thread = searchParams.get('message_thread_id');
  const isGroup = !NUMBER.test(chat);
  return {
    format: 'telegram',
    path: pathname,
    members: { chat_id: chat, ...(thread === null ? {} : { message_thread_id: Number(thread) }) },
    spacingMs: isGroup ? TELEGRAM_GROUP_SPACING_MS : TELEGRAM_CHAT_SPACING_MS,
    shown: `${origin}/bot${bot}:${MASK}/sendMessage?${searchParams}`,
    secrets: [token],
  };
}

function discordTarget({ origin, pathname, search, searchParams }: URL): ChatTarget {
  const [, id = '', token = ''] = DISCORD_PATH.exec(pathname) ?? [];
  if (token === '') throw new InvalidInputError('a Discord URL ends with /api/webhooks/<id>/<token>');
  checkQuery(searchParams, { thread_id: NUMBER });
  return {
    format: 'discord',
    path: pathname + search,
    members: {},
    spacingMs: DISCORD_SPACING_MS,
    shown: `${origin}/api/webhooks/${id}/${MASK}${search}`,
    secrets: [token],
  };
}

/** Other services (Mattermost, Rocket.Chat) take Slack's messages under other paths. */
function slackTarget({ origin, pathname, searchParams }: URL): ChatTarget {
  const [, first = '', secret = ''] = SLACK_PATH.exec(pathname) ?? [];
  if (secret === '') throw new InvalidInputError('a Slack URL ends with /services/<team>/<app>/<token>');
  checkQuery(searchParams, {});
  return {
    format: 'slack',
    path: pathname,
    members: {},
    spacingMs: SLACK_SPACING_MS,
    shown: `${origin}/${first}/${MASK}`,
    // The path may end with a slash; an empty text would be found everywhere.
    secrets: [secret, ...secret.split('/').filter(Boolean).slice(-1)],
  };
}

/** An unknown parameter could change what is sent, or be a secret. */
function checkQuery(given: URLSearchParams, known: Readonly<Record<string, RegExp>>): void {
  for (const [name, value] of given) {
    const pattern = Object.hasOwn(known, name) ? known[name] : undefined;
    if (pattern === undefined) throw new InvalidInputError('the URL has a parameter that is not supported');
    if (!pattern.test(value)) throw new InvalidInputError(`the URL's parameter ${name} is malformed`);
  }
}
