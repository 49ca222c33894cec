import { describe, expect, it } from 'vitest';
import { opportunity } from '../../../test/support/opportunity.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import type { ChatFormat } from '../../schema/notification.ts';
import type { SystemEvent } from '../../schema/systemEvent.ts';
import { chatBody } from './chatBody.ts';
import { chatPauseMs, withoutSecrets } from './chatReply.ts';
import { parseChatTarget } from './chatTarget.ts';
import { chatTextOf } from './chatText.ts';

const TOKEN = 'AAH-3n_verySecretTokenOfABot';
const TELEGRAM = `https://api.telegram.org/bot110201543:${TOKEN}/sendMessage`;
const DISCORD = `https://discord.com/api/webhooks/1234567890/${TOKEN}`;
const SLACK = `https://hooks.slack.com/services/T00000000/B00000000/${TOKEN}`;
const target = (format: ChatFormat, url: string) => parseChatTarget(format, new URL(url));
const bodyOf = (format: ChatFormat, url: string, text: Parameters<typeof chatBody>[1]) =>
  JSON.parse(chatBody(target(format, url), text).toString());

describe('the address of a chat', () => {
  it.each([
    [
      'telegram',
      `${TELEGRAM}?chat_id=42`,
      'https://api.telegram.org/bot110201543:***/sendMessage?chat_id=42',
    ],
    ['discord', `${DISCORD}?thread_id=7`, 'https://discord.com/api/webhooks/1234567890/***?thread_id=7'],
    ['discord', `https://discord.com/api/v10/webhooks/1/${TOKEN}`, 'https://discord.com/api/webhooks/1/***'],
    ['slack', SLACK, 'https://hooks.slack.com/services/***'],
  ] as const)('of %s is shown without its secret', (format, url, shown) => {
    expect(target(format, url).shown).toBe(shown);
    expect(target(format, url).secrets).toContain(TOKEN);
    expect(shown).not.toContain(TOKEN);
  });

  it.each([
    ['telegram', TELEGRAM, 'a Telegram URL needs ?chat_id=<chat>'],
    ['telegram', `${TELEGRAM}?chat_id=a b`, "the URL's parameter chat_id is malformed"],
    ['telegram', `${TELEGRAM}?chat_id=1&chat_id=`, "the URL's parameter chat_id is malformed"],
    [
      'telegram',
      `${TELEGRAM}?chat_id=1&message_thread_id=x`,
      "the URL's parameter message_thread_id is malformed",
    ],
    ['telegram', `${TELEGRAM}?chat_id=1&toString=1`, 'the URL has a parameter that is not supported'],
    ['discord', `${DISCORD}?thread_id=a`, "the URL's parameter thread_id is malformed"],
    ['telegram', `${TELEGRAM}?chat_id=1&parse_mode=HTML`, 'the URL has a parameter that is not supported'],
    [
      'telegram',
      `https://api.telegram.org/bot1:${TOKEN}/getMe?chat_id=1`,
      'a Telegram URL ends with /bot<token>/sendMessage?chat_id=<chat>',
    ],
    ['discord', 'https://discord.com/channels/1/2', 'a Discord URL ends with /api/webhooks/<id>/<token>'],
    ['discord', `${DISCORD}?wait=true`, 'the URL has a parameter that is not supported'],
    ['slack', 'https://hooks.slack.com/', 'a Slack URL ends with /services/<team>/<app>/<token>'],
    ['slack', `${SLACK}?x=${TOKEN}`, 'the URL has a parameter that is not supported'],
  ] as const)('of %s is refused if it is another page, and not repeated: %s', (format, url, message) => {
    expect(() => target(format, url)).toThrow(new InvalidInputError(message));
  });

  it.each([
    ['42', 1_000],
    ['-100123', 3_000],
    ['@channel', 3_000],
  ])('of Telegram chat %s gets a message every %d ms at most', (chat, spacingMs) => {
    expect(target('telegram', `${TELEGRAM}?chat_id=${chat}`)).toMatchObject({
      ...{ spacingMs, members: { chat_id: chat } },
      path: `/bot110201543:${TOKEN}/sendMessage`,
    });
  });
});

it.each([
  ['discord', `${DISCORD}?thread_id=7`, `/api/webhooks/1234567890/${TOKEN}?thread_id=7`, 2_000],
  ['slack', SLACK, `/services/T00000000/B00000000/${TOKEN}`, 1_000],
] as const)('a message to %s is posted to its whole path, at its pace', (format, url, path, spacingMs) => {
  expect(target(format, url)).toMatchObject({ format, path, spacingMs, members: {} });
});

/** The part of a URL that repeats a character so many times. */
type Part = (length: number) => string;

it.each<[string, ChatFormat, Part, number, number]>([
  ['id of a bot', 'telegram', (n) => `/bot${'1'.repeat(n)}:${TOKEN}/sendMessage?chat_id=1`, 1, 20],
  ['token of a bot', 'telegram', (n) => `/bot1:${'a'.repeat(n)}/sendMessage?chat_id=1`, 10, 100],
  ['number of a chat', 'telegram', (n) => `/bot1:${TOKEN}/sendMessage?chat_id=-${'1'.repeat(n)}`, 1, 20],
  ['name of a chat', 'telegram', (n) => `/bot1:${TOKEN}/sendMessage?chat_id=@${'a'.repeat(n)}`, 4, 64],
  ['id of a webhook', 'discord', (n) => `/api/webhooks/${'1'.repeat(n)}/${TOKEN}`, 1, 25],
  ['token of a webhook', 'discord', (n) => `/api/webhooks/1/${'a'.repeat(n)}`, 10, 200],
  ['number of a thread', 'discord', (n) => `/api/webhooks/1/${TOKEN}?thread_id=${'1'.repeat(n)}`, 1, 20],
  ['version of an API', 'discord', (n) => `/api/v${'1'.repeat(n)}/webhooks/1/${TOKEN}`, 1, 2],
  ['secret', 'slack', (n) => `/services/${'a'.repeat(n)}`, 8, 300],
])('a %s for %s has a length within bounds', (_, format, pathOf, min, max) => {
  const isAccepted = (length: number) => {
    try {
      return target(format, `https://chat.example${pathOf(length)}`) !== null;
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidInputError);
      return false;
    }
  };
  expect([min - 1, min, max, max + 1].map(isAccepted)).toEqual([false, true, true, false]);
});

describe('the text of', () => {
  it('an opportunity has its price, its profit and the market', () => {
    const event = { ...opportunity({ nowMs: 0 }), tau_minutes: 3.21, model_yes_prob: 0.5 };
    const { lines, link } = chatTextOf(JSON.stringify(event));
    expect(lines).toEqual([
      `BTC 5m: buy YES and NO at ${event.fill_price} (logical)`,
      `Expected profit ${event.expected_pnl_per_share} USDC a pair after a fee of ${event.est_fee_per_share}.`,
      'Model: YES 50.0 %. Price held for 30 s or more. 3 min 12 s left at detection.',
    ]);
    expect(link).toBe(event.polymarket_url);
  });

  it.each([
    ['BUY_YES', 'buy YES'],
    ['BUY_NO', 'buy NO'],
  ] as const)('an opportunity to %s says %s, and its profit a share', (direction, words) => {
    const facts = { direction, tier: 'endgame', confidence: 'stale', tau_minutes: 0.999 } as const;
    const event = { ...opportunity({ nowMs: 0 }), ...facts, fill_price: 0.93, model_yes_prob: 0.98765 };
    expect(chatTextOf(JSON.stringify(event)).lines).toEqual([
      `BTC 5m: ${words} at 0.93 (endgame)`,
      `Expected profit ${event.expected_pnl_per_share} USDC a share after a fee of ${event.est_fee_per_share}.`,
      'Model: YES 98.8 %. Price newer than 30 s. 0 min 59 s left at detection.',
    ]);
  });

  it('an opportunity whose market is over has no time left', () => {
    const event = { ...opportunity({ nowMs: 0 }), tau_minutes: -0.5 };
    expect(chatTextOf(JSON.stringify(event)).lines[2]).toContain(' 0 min 0 s left at detection.');
  });

  it('a test says so', () => {
    const event = { ...opportunity({ nowMs: 0 }), polymarket_slug: 'test-event' };
    expect(chatTextOf(JSON.stringify(event))).toEqual({ lines: ['Test: this webhook works.'], link: null });
  });

  it.each([
    ['began', null, ['Problem: No books.', 'Since 2026-11-23T12:00:00.000+00:00.']],
    ['ended', 'then', ['Resolved: No books.', 'From 2026-11-23T12:00:00.000+00:00 to then.']],
  ] as const)('a system event that %s says when', (state, ended_at, lines) => {
    const event: SystemEvent = {
      ...{ type: 'system.gap', state, incident_id: 'inc_1', subject: 'clob', summary: 'No books.' },
      ...{ began_at: '2026-11-23T12:00:00.000+00:00', ended_at, url: null },
    };
    expect(chatTextOf(JSON.stringify(event))).toEqual({ lines, link: null });
  });
});

describe('a message', () => {
  it('to Telegram is plain text for its chat', () => {
    const url = `${TELEGRAM}?chat_id=-5&message_thread_id=9`;
    expect(bodyOf('telegram', url, { lines: ['a <b>', 'c'], link: 'https://x/' })).toEqual({
      ...{ chat_id: '-5', message_thread_id: 9, text: 'a <b>\nc\nhttps://x/' },
      link_preview_options: { is_disabled: true },
    });
  });

  it('that fits exactly is sent whole, and one character more is cut', () => {
    const textOf = (length: number) =>
      bodyOf('slack', SLACK, { lines: ['x'.repeat(length)], link: null }).text as string;
    expect(textOf(4_000)).toBe('x'.repeat(4_000));
    expect(textOf(4_001)).toBe(`${'x'.repeat(3_999)}…`);
  });

  it('to Discord mentions nobody and has no markup, except in its link', () => {
    const text = { lines: ['@everyone *a_b*'], link: 'https://x/a_b' };
    expect(bodyOf('discord', DISCORD, text)).toEqual({
      content: '@everyone \\*a\\_b\\*\nhttps://x/a_b',
      ...{ allowed_mentions: { parse: [] }, flags: 4 },
    });
  });

  it('to Slack calls nobody', () => {
    expect(bodyOf('slack', SLACK, { lines: ['<!channel> & <@U1>'], link: null })).toEqual({
      text: '&lt;!channel&gt; &amp; &lt;@U1&gt;',
      ...{ mrkdwn: false, unfurl_links: false, unfurl_media: false },
    });
  });

  it.each([
    ['telegram', `${TELEGRAM}?chat_id=1`, 4_096, 'text'],
    ['discord', DISCORD, 2_000, 'content'],
    ['slack', SLACK, 4_000, 'text'],
  ] as const)('to %s has at most its length, and keeps its link', (format, url, max, member) => {
    // A pair of code units begins at an even place, or at an odd one.
    for (const start of ['x', '&', '*', '😀', 'x😀']) {
      const text = start + start.slice(-2).repeat(5_000);
      const got: string = bodyOf(format, url, { lines: [text], link: 'https://x/' })[member];
      expect(got.length).toBeLessThanOrEqual(max);
      expect(got.length).toBeGreaterThan(max - 8);
      expect(got.endsWith('…\nhttps://x/')).toBe(true);
      expect(got).not.toMatch(/[\uD800-\uDBFF]…/);
    }
  });
});

it('masks the token of a Slack URL that ends with a slash, wherever it appears', () => {
  const withSlash = target('slack', `${SLACK}/`);
  expect(withoutSecrets(withSlash, `no team for ${TOKEN}`)).toBe('no team for ***');
  expect(withoutSecrets(withSlash, `${TOKEN}, ${TOKEN}`)).toBe('***, ***');
});

it.each([
  ['1.0001', 1_001],
  ['0', 0],
  ['3600.1', 3_600_000],
  ['soon', null],
])('a chat whose last request is used is left alone for %j s, rounded up to %j ms', (resetAfter, pauseMs) => {
  const rate = { retryAfter: undefined, remaining: '0', resetAfter };
  expect(chatPauseMs(200, rate, Buffer.alloc(0))).toBe(pauseMs);
});

it.each([
  ['0', '{"retry_after":9}', 0],
  [undefined, '{"retry_after":0}', 0],
  [undefined, '{"parameters":{"retry_after":0}}', 0],
  [undefined, '{"retry_after":-1}', 30_000],
  ['soon', 'no JSON', 30_000],
])(
  'a refusal for the rate with Retry-After %j and the reply %j is a pause of %i ms',
  (retryAfter, reply, ms) => {
    const rate = { retryAfter, remaining: undefined, resetAfter: undefined };
    expect(chatPauseMs(429, rate, Buffer.from(reply))).toBe(ms);
  },
);
