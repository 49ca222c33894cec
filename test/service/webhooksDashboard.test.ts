import { describe, expect, it } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
const URL = 'https://hooks.example.com/in?token=1';

async function premium() {
  const dashboard = await openDashboard();
  const browser = await dashboard.signedUp('a@example.com');
  await dashboard.accounts.users.setTier('a@example.com', 'premium');
  return { ...dashboard, browser };
}

describe('test events', () => {
  it('are limited to ten per minute and user, over all webhooks', async () => {
    const { browser, clock, signedUp, accounts } = await premium();
    const register = async (by: typeof browser) =>
      `/app/webhooks/${(await by.ask('POST', '/app/webhooks', { url: URL })).json().webhook_id}/test`;
    const [one, second] = [await register(browser), await register(browser)];
    for (let n = 0; n < 10; n++) expect(await browser.status('POST', n % 2 === 0 ? one : second)).toBe(202);
    await clock.advance(20_000);
    const refused = await browser.ask('POST', second);
    expect([refused.statusCode, refused.headers['retry-after'], refused.json()]).toEqual([
      429,
      '40',
      { detail: 'At most 10 test events a minute are sent; retry in 40 s' },
    ]);
    const other = await signedUp('b@example.com');
    await accounts.users.setTier('b@example.com', 'premium');
    expect(await other.status('POST', await register(other))).toBe(202);
    await clock.advance(40_000);
    expect(await browser.status('POST', second)).toBe(202);
  });
});

describe('webhooks on the dashboard', () => {
  it('are registered with a secret that is shown once', async () => {
    const { browser } = await premium();
    const made = await browser.ask('POST', '/app/webhooks', {
      url: URL,
      label: 'bot',
      tiers: ['logical'],
      tickers: null,
    });
    expect(made.statusCode).toBe(201);
    expect(made.json()).toEqual({
      webhook_id: expect.stringMatching(/^wh_[0-9A-Za-z]{16}$/),
      secret: expect.stringMatching(/^whsec_[0-9A-Za-z+/]{32}$/),
      ...{ url: URL, label: 'bot', tiers: ['logical'], tickers: null, state: 'active', failing: false },
      ...{ consecutive_failures: 0, created_at: TIME, paused_at: null, previous_secret_until: null },
      ...{ format: 'signed', events: ['opportunity'] },
    });
    const { secret, ...shown } = made.json();
    expect((await browser.ask('GET', '/app/webhooks')).json()).toEqual({ webhooks: [shown], count: 1 });
    expect((await browser.ask('GET', `/app/webhooks/${shown.webhook_id}`)).json()).toEqual(shown);
    expect(secret).toBeDefined();
  });

  it('have no plain secret in the database', async () => {
    const { browser, accounts } = await premium();
    const { secret, webhook_id } = (await browser.ask('POST', '/app/webhooks', { url: URL })).json();
    const { secret: second } = (await browser.ask('POST', `/app/webhooks/${webhook_id}/rotate`)).json();
    const rows = JSON.stringify(await accounts.database.selectFrom('webhooks').selectAll().execute());
    for (const text of [secret, second]) {
      expect(rows).not.toContain(text);
      expect(rows).not.toContain(text.slice(6));
      expect(rows).not.toContain(Buffer.from(text.slice(6), 'base64').toString('hex'));
    }
  });

  it.each(['free', 'pro', 'plus'] as const)('refuse tier %s before any other check', async (tier) => {
    const { browser, accounts } = await premium();
    const { webhook_id } = (await browser.ask('POST', '/app/webhooks', { url: URL })).json();
    await accounts.users.setTier('a@example.com', tier);
    for (const body of [{ url: URL }, { url: 'http://x' }, {}]) {
      const refused = await browser.ask('POST', '/app/webhooks', body);
      expect([refused.statusCode, refused.json()]).toEqual([
        403,
        { detail: `Tier ${tier} does not include this endpoint; premium does` },
      ]);
    }
    expect(await browser.status('POST', `/app/webhooks/${webhook_id}/pause`)).toBe(200);
    expect(await browser.status('POST', `/app/webhooks/${webhook_id}/resume`)).toBe(200);
    expect(await browser.status('POST', `/app/webhooks/${webhook_id}/test`)).toBe(202);
  });

  it.each([
    ['http://hooks.example.com/', 'Value error, the URL must start with https://'],
    ['HTTP://hooks.example.com/', 'Value error, the URL must start with https://'],
    ['ftp://hooks.example.com/', 'Value error, the URL must start with https://'],
    ['hooks.example.com', 'Value error, not a valid URL'],
    ['https://', 'Value error, not a valid URL'],
    ['https://a:b@hooks.example.com/', 'Value error, the URL must not hold a user or password'],
    ['https://[::1]/', 'Value error, the URL is not allowed: the address ::1 is loopback'],
    ['https://0x7f.1/', 'Value error, the URL is not allowed: the address 127.0.0.1 is loopback'],
    [
      'https://localhost/',
      'Value error, the URL is not allowed: the host localhost leads to an address that is loopback',
    ],
    [
      'https://inside.example/',
      'Value error, the URL is not allowed: the host inside.example leads to an address that is private',
    ],
  ])('reject the URL %s', async (url, msg) => {
    const { browser } = await premium();
    const refused = await browser.ask('POST', '/app/webhooks', { url });
    expect(refused.statusCode).toBe(422);
    const problem = { type: 'value_error', loc: ['body', 'url'], msg, input: url, ctx: { error: {} } };
    expect(refused.json()).toEqual({ detail: [problem] });
    expect((await browser.ask('GET', '/app/webhooks')).json()).toEqual({ webhooks: [], count: 0 });
  });

  it.each([
    [{ tiers: [] }, 'too_short'],
    [{ tiers: ['stable'] }, 'literal_error'],
    [{ tickers: ['DOGE'] }, 'literal_error'],
    [{ tickers: 'BTC' }, 'list_type'],
    [{ label: '' }, 'value_error'],
    [{ surprise: 1 }, 'extra_forbidden'],
  ])('reject %j', async (body, type) => {
    const { browser } = await premium();
    const refused = await browser.ask('POST', '/app/webhooks', { url: URL, ...body });
    expect([refused.statusCode, refused.json().detail[0].type]).toEqual([422, type]);
  });

  it('are changed in parts, paused, resumed, rotated and deleted', async () => {
    const { browser } = await premium();
    const { secret, ...made } = (
      await browser.ask('POST', '/app/webhooks', { url: URL, tickers: ['SOL', 'BTC'] })
    ).json();
    const path = `/app/webhooks/${made.webhook_id}`;
    expect(made).toMatchObject({ label: 'webhook', tiers: ['logical', 'endgame'], tickers: ['BTC', 'SOL'] });
    expect((await browser.ask('PATCH', path, {})).json()).toEqual(made);
    const changed = { ...made, label: 'other', tiers: ['endgame'] };
    expect((await browser.ask('PATCH', path, { label: 'other', tiers: ['endgame'] })).json()).toEqual(
      changed,
    );
    expect((await browser.ask('PATCH', path, { tickers: null, tiers: null })).json()).toEqual({
      ...{ ...changed, tickers: null, tiers: ['logical', 'endgame'] },
    });
    expect((await browser.ask('POST', `${path}/pause`)).json()).toMatchObject({
      state: 'paused',
      failing: false,
      paused_at: TIME,
    });
    const refused = await browser.ask('POST', `${path}/test`);
    expect([refused.statusCode, refused.json()]).toEqual([
      409,
      { detail: 'The webhook is paused; resume it first' },
    ]);
    expect((await browser.ask('POST', `${path}/resume`)).json()).toMatchObject({
      state: 'active',
      paused_at: null,
    });
    const rotated = (await browser.ask('POST', `${path}/rotate`)).json();
    expect(rotated).toMatchObject({ previous_secret_until: TIME });
    expect(rotated.secret).not.toBe(secret);
    expect(await browser.status('DELETE', path)).toBe(204);
    expect(await browser.status('GET', path)).toBe(404);
  });

  it.each([
    ...['pause', 'resume', 'rotate', 'test', 'redeliver'].map((verb) => ['POST', `/${verb}`] as const),
    ['DELETE', ''] as const,
  ])('%s %s reaches the sender at once', async (method, verb) => {
    const { browser, wakes } = await premium();
    const { webhook_id } = (await browser.ask('POST', '/app/webhooks', { url: URL })).json();
    expect(wakes()).toBe(0);
    const body = verb === '/redeliver' ? {} : undefined;
    expect(await browser.status(method, `/app/webhooks/${webhook_id}${verb}`, body)).toBeLessThan(300);
    expect(wakes()).toBe(1);
  });

  it('are rotated a few times a day, then refused with the next allowed time', async () => {
    const { browser } = await premium();
    const { webhook_id } = (await browser.ask('POST', '/app/webhooks', { url: URL })).json();
    const path = `/app/webhooks/${webhook_id}/rotate`;
    for (let n = 0; n < 5; n++) expect(await browser.status('POST', path)).toBe(200);
    const refused = await browser.ask('POST', path);
    expect([refused.statusCode, refused.json()]).toEqual([
      409,
      {
        detail:
          '5 earlier secrets are still signed with; rotate again when the oldest is over, at 2026-11-21T12:00:00.000Z',
      },
    ]);
  });

  it('are invisible to other users', async () => {
    const { browser, signedUp } = await premium();
    const { webhook_id } = (await browser.ask('POST', '/app/webhooks', { url: URL })).json();
    const { delivery_id } = (await browser.ask('POST', `/app/webhooks/${webhook_id}/test`)).json();
    const other = await signedUp('b@example.com');
    const path = `/app/webhooks/${webhook_id}`;
    const asked: ['GET' | 'POST' | 'PATCH' | 'DELETE', string, unknown?][] = [
      ['GET', path],
      ['PATCH', path, { label: 'x' }],
      ['DELETE', path],
      ...['pause', 'resume', 'rotate', 'test'].map((verb) => ['POST', `${path}/${verb}`] as ['POST', string]),
      ['POST', `${path}/redeliver`, {}],
      ['GET', `${path}/deliveries`],
      ['POST', `${path}/deliveries/${delivery_id}/redeliver`],
    ];
    for (const [method, url, body] of asked) {
      const refused = await other.ask(method, url, body);
      expect([refused.statusCode, refused.json()], `${method} ${url}`).toEqual([
        404,
        { detail: 'Webhook not found' },
      ]);
    }
    expect((await browser.ask('GET', path)).json().state).toBe('active');
  });

  it('are limited to twenty', async () => {
    const { browser } = await premium();
    const made = await Promise.all(
      Array.from({ length: 25 }, () => browser.status('POST', '/app/webhooks', { url: URL })),
    );
    expect(made.filter((status) => status === 201)).toHaveLength(20);
    expect(made.filter((status) => status === 403)).toHaveLength(5);
  });
});

describe('the delivery log', () => {
  it('pages newest first, and listed deliveries can be sent again', async () => {
    const { browser, clock, accounts } = await premium();
    const { webhook_id } = (await browser.ask('POST', '/app/webhooks', { url: URL })).json();
    const path = `/app/webhooks/${webhook_id}`;
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      ids.unshift((await browser.ask('POST', `${path}/test`)).json().delivery_id);
      await clock.advance(1000);
    }
    const first = (await browser.ask('GET', `${path}/deliveries?limit=2`)).json();
    expect(first.count).toBe(2);
    expect(first.deliveries[0]).toEqual({
      ...{
        delivery_id: ids[0],
        state: 'pending',
        tier: 'logical',
        ticker: 'BTC',
        attempts: 0,
        attempt_log: [],
      },
      ...{
        market_id: `0x${'0'.repeat(64)}`,
        test: true,
        detected_at: TIME,
        created_at: TIME,
        expires_at: TIME,
        next_attempt_at: TIME,
        event: 'opportunity',
      },
    });
    const rest = (await browser.ask('GET', `${path}/deliveries?limit=9&cursor=${first.next_cursor}`)).json();
    const shown = [...first.deliveries, ...rest.deliveries].map(({ delivery_id }) => delivery_id);
    expect(shown).toEqual(ids);
    expect(rest.next_cursor).toBeNull();
    expect((await browser.ask('GET', `${path}/deliveries?limit=0`)).json().count).toBe(5);
    expect((await browser.ask('GET', `${path}/deliveries?cursor=nonsense`)).statusCode).toBe(400);

    await accounts.database
      .updateTable('webhook_deliveries')
      .set({ state: 'delivered', attempts: 1 })
      .execute();
    expect((await browser.ask('GET', `${path}/deliveries?state=pending`)).json().count).toBe(0);
    const again = await browser.ask('POST', `${path}/deliveries/${ids[4]}/redeliver`);
    expect([again.statusCode, again.json()]).toEqual([202, { delivery_id: ids[4] }]);
    const [pending] = (await browser.ask('GET', `${path}/deliveries?state=pending`)).json().deliveries;
    expect(pending).toMatchObject({ delivery_id: ids[4], attempts: 1 });
    expect((await browser.ask('POST', `${path}/redeliver`, { state: 'delivered' })).json()).toEqual({
      count: 4,
    });
    expect((await browser.ask('GET', `${path}/deliveries?state=pending`)).json().count).toBe(5);
    const limited = [];
    for (let n = 0; n < 97; n++)
      limited.push(await browser.ask('POST', `${path}/deliveries/${ids[4]}/redeliver`));
    expect(limited.map(({ statusCode }) => statusCode)).toEqual([...Array(95).fill(202), 429, 429]);
    expect([limited[96]?.headers['retry-after'], limited[96]?.json()]).toEqual([
      '60',
      { detail: 'At most 100 deliveries a minute are sent again; retry in 60 s' },
    ]);
    await clock.advance(60_000);
    const none = await browser.ask('POST', `${path}/deliveries/dl_none/redeliver`);
    expect([none.statusCode, none.json()]).toEqual([404, { detail: 'Delivery not found' }]);
    const backwards = await browser.ask('POST', `${path}/redeliver`, {
      start: '2026-01-02',
      end: '2026-01-01',
    });
    expect(backwards.json()).toEqual({ detail: 'start must not be after end' });
  });
});
