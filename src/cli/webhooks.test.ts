import { beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/commandLine.ts';
import { WEBHOOK_EVENTS } from '../schema/notification.ts';
import { registerUsers } from './users.ts';
import { registerWebhooks } from './webhooks.ts';

const { run, json } = commandLine(registerUsers, registerWebhooks);

const HOOK = ['--email', 'a@example.com', '--url', 'https://93.184.215.14/in', '--label', 'bot'];

const UNKNOWN_EVENT = `events must be some of ${WEBHOOK_EVENTS.join(', ')}`;

describe('webhooks', () => {
  beforeEach(async () => {
    await json('users', 'create', '--email', 'a@example.com', '--tier', 'premium');
  });

  it("create prints the webhook's fields in the order of the API", async () => {
    const made = await json('webhooks', 'create', ...HOOK, '--tiers', 'logical,endgame', '--tickers', 'BTC');
    expect(made).toEqual({
      webhook_id: expect.stringMatching(/^wh_[0-9A-Za-z]{16}$/),
      secret: expect.stringMatching(/^whsec_[0-9A-Za-z+/]{32}$/),
      url: 'https://93.184.215.14/in',
      label: 'bot',
      tiers: ['logical', 'endgame'],
      tickers: ['BTC'],
      state: 'active',
    });
    expect(Object.keys(made)).toEqual(['webhook_id', 'secret', 'url', 'label', 'tiers', 'tickers', 'state']);
    const other = await json('webhooks', 'create', ...HOOK);
    expect(other).toMatchObject({ tiers: ['logical', 'endgame'], tickers: null });
  });

  it('can be listed, paused, resumed, rotated, tested and deleted', async () => {
    const { webhook_id: id, secret } = await json('webhooks', 'create', ...HOOK);
    const listed = await json('webhooks', 'list', '--email', 'a@example.com');
    expect(listed.webhooks).toMatchObject([{ webhook_id: id, state: 'active', failing: false }]);
    expect(JSON.stringify(listed)).not.toContain('whsec_');
    expect(await json('webhooks', 'pause', id)).toMatchObject({ state: 'paused', failing: false });
    expect((await run('webhooks', 'test', id)).err).toEqual([
      'underround: the webhook is paused; resume it first',
    ]);
    expect(await json('webhooks', 'resume', id)).toMatchObject({ state: 'active', paused_at: null });
    expect((await json('webhooks', 'test', id)).delivery_id).toMatch(/^dl_[0-9a-f]{31}$/);
    const rotated = await json('webhooks', 'rotate', id);
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    expect((await run('webhooks', 'list')).out.join()).toContain(`${id}  bot    https://93.184.215.14/in`);
    expect(await json('webhooks', 'delete', id)).toEqual({ webhook_id: id });
    expect(await json('webhooks', 'list')).toEqual({ webhooks: [] });
  });

  it('update changes single fields and keeps the others', async () => {
    const { webhook_id: id } = await json('webhooks', 'create', ...HOOK, '--tickers', 'BTC');
    const filters = { label: 'bot', tiers: ['logical', 'endgame'], tickers: ['BTC'] };
    const update = (...words: string[]) => json('webhooks', 'update', id, ...words);
    expect(await update('--tiers', 'endgame')).toMatchObject({ ...filters, tiers: ['endgame'] });
    expect(await update('--tickers', 'SOL, ETH', '--tiers', 'all')).toMatchObject({
      ...{ ...filters, tickers: ['ETH', 'SOL'] },
    });
    expect(await update('--label', 'desk', '--tickers', 'all')).toMatchObject({
      ...{ ...filters, label: 'desk', tickers: null, webhook_id: id, state: 'active' },
    });
    expect((await json('webhooks', 'list')).webhooks).toMatchObject([{ label: 'desk', tickers: null }]);
  });

  it.each([
    ['nothing', [], 'nothing to change: give --label, --tiers, --tickers or --events'],
    ['an unknown tier', ['--tiers', 'stable'], 'tiers must be some of logical, endgame'],
    ['no ticker', ['--tickers', ''], 'tickers must be some of BTC, ETH, SOL'],
    ['all events, of which some are for operators', ['--events', 'all'], UNKNOWN_EVENT],
    ['no label', ['--label', ' '], 'a label has 1 to 128 characters and no control characters'],
  ])('a change to %s is refused and changes nothing', async (_, words, line) => {
    const { webhook_id: id } = await json('webhooks', 'create', ...HOOK, '--tickers', 'BTC');
    const before = await json('webhooks', 'list');
    expect(await run('webhooks', 'update', id, ...words)).toEqual({
      ...{ out: [], err: [`underround: ${line}`], exit: 1 },
    });
    expect(await json('webhooks', 'list')).toEqual(before);
  });

  it.each([
    ['http', ['--url', 'http://93.184.215.14/'], 'the URL must start with https://'],
    ['no URL', ['--url', 'nonsense'], 'not a valid URL'],
    ['a password', ['--url', 'https://u:p@example.com/'], 'the URL must not hold a user or password'],
    ['loopback', ['--url', 'https://127.1:99/'], 'the URL is not allowed: the address 127.0.0.1 is loopback'],
    ['an unknown user', ['--email', 'b@example.com'], 'no user with this e-mail address'],
    ['an unknown tier', ['--tiers', 'stable'], 'tiers must be some of logical, endgame'],
    ['an unknown ticker', ['--tickers', 'BTC,DOGE'], 'tickers must be some of BTC, ETH, SOL'],
    ['all events', ['--events', 'all'], UNKNOWN_EVENT],
    ['no label', ['--label', ' '], 'a label has 1 to 128 characters and no control characters'],
  ])('%s is refused', async (_, words, line) => {
    const refused = await run('webhooks', 'create', ...HOOK, ...words);
    expect(refused).toEqual({ out: [], err: [`underround: ${line}`], exit: 1 });
    expect(await json('webhooks', 'list')).toEqual({ webhooks: [] });
  });

  it.each(['free', 'pro', 'plus'])('tier %s cannot create one; an existing one remains', async (tier) => {
    const { webhook_id: id } = await json('webhooks', 'create', ...HOOK);
    await json('users', 'set-tier', '--email', 'a@example.com', '--tier', tier);
    const line = `tier ${tier} does not include webhooks; premium does`;
    expect(await run('webhooks', 'create', ...HOOK)).toEqual({
      out: [],
      err: [`underround: ${line}`],
      exit: 1,
    });
    expect((await json('webhooks', 'list')).webhooks).toMatchObject([{ webhook_id: id, state: 'active' }]);
  });

  it.each([
    ...['resume', 'pause', 'delete', 'rotate', 'test'].map((verb) => [verb]),
    ['update', '--label', 'x'],
  ])('%s refuses an unknown id', async (verb = '', ...words) => {
    const line = 'no webhook with this id; `webhooks list` shows the ids';
    expect(await run('webhooks', verb, 'wh_none', ...words)).toEqual({
      out: [],
      err: [`underround: ${line}`],
      exit: 1,
    });
  });
});
