import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { LocalVenue } from '../support/localVenue.ts';
import { eventually, setupTokenOf, startCommand } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

/** Every file below a directory, as raw bytes. */
function* filesBelow(directory: string): Generator<[string, Buffer]> {
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    yield [path, readFileSync(path)];
  }
}

describe.skipIf(commandAbsent)('secrets (needs `npm run build`)', () => {
  it('keys, passwords and sessions appear in no log, file, metric or refusal of a running service', async () => {
    const dataDir = temporaryDirectory();
    const venue = await LocalVenue.start();
    onTestFinished(() => venue.stop());
    const credentials = ['API_KEY', 'API_SECRET', 'API_PASSPHRASE'].map(
      (name) => [`UNDERROUND_POLYMARKET_${name}`, `canary-venue-${name.toLowerCase()}`] as const,
    );
    const environment = {
      ...{ UNDERROUND_DATA_DIR: dataDir, UNDERROUND_LOG_LEVEL: 'trace', ...VENUES_OFF },
      ...{ ...Object.fromEntries(credentials), UNDERROUND_POLYBOLT_URL: venue.wsUrl },
    };
    const service = await startCommand(['serve'], environment);
    const refusals: string[] = [];
    const printed: string[] = [];
    let cookie = '';
    const ask = async (
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) => {
      const answer = await fetch(service.url + path, {
        method,
        headers: { origin: service.url, cookie, ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      const set = answer.headers.get('set-cookie');
      if (set) cookie = set.split(';', 1)[0] ?? '';
      if (answer.status >= 400) refusals.push(text);
      return { status: answer.status, text, set };
    };

    // Collects the secrets as they are created.
    const password = 'canary-password-7Qx2';
    const secondPassword = 'canary-password-8Ry3';
    const wrongPassword = 'canary-password-wrong';
    const commandPassword = 'canary-password-command';
    const canaries = [password, secondPassword, wrongPassword, commandPassword];
    canaries.push(...credentials.map(([, text]) => text));
    await eventually('the credentials at the venue', async () => venue.connections[0]?.received[0]);
    const auth = venue.latest.received[0] as string;
    for (const [, text] of credentials) expect(auth).toContain(text);
    // A venue that repeats them, in an answer and in a text that is not understood, and refuses them.
    venue.latest.socket.send(JSON.stringify({ op: 'error', code: 'bad_op', detail: auth }));
    venue.latest.socket.send(auth.slice(1));
    venue.latest.socket.close(4001, 'auth failed');
    await eventually('the refusal in the log', async () => service.log().includes('polybolt.refused'));
    const token = () => cookie.split('=')[1] as string;

    const signIn = { email: 'op@example.com', password };
    const setup = await setupTokenOf(service);
    canaries.push(setup);
    expect((await ask('POST', '/app/sign-up', { ...signIn, setup })).status).toBe(200);
    canaries.push(token());
    expect((await ask('POST', '/app/sign-up', { ...signIn, setup })).status).toBe(403);
    expect((await ask('POST', '/app/sign-up', signIn)).status).toBe(409);
    const made = JSON.parse((await ask('POST', '/app/keys', { label: 'canary' })).text);
    canaries.push(made.key);
    const bearer = { authorization: `Bearer ${made.key}` };
    expect((await ask('GET', '/v1/markets', undefined, bearer)).status).toBe(200);

    // Every place in which a secret could be sent by mistake.
    for (const broken of [
      { email: 'op@example.com', password: wrongPassword },
      { email: password, password },
      { password },
      { email: 'op@example.com', password: [password] },
      { email: 'op@example.com', pasword: password },
      `{"email":"op@example.com","password":"${password}"`,
      JSON.stringify(password),
    ]) {
      expect((await ask('POST', '/app/sign-in', broken)).status).toBeGreaterThanOrEqual(401);
    }
    await ask('GET', `/v1/markets?api_key=${made.key}&limit=-1`, undefined, bearer);
    await ask('GET', `/v1/markets?api_key=${made.key}`);
    await ask('GET', `/nowhere/${made.key}?password=${password}`);
    await ask('DELETE', `/app/keys/${made.key}`);
    for (const header of [
      `Bearer ${made.key}x`,
      `Basic ${made.key}`,
      made.key,
      `Bearer ${made.key.slice(0, -1)}!`,
    ]) {
      expect((await ask('GET', '/v1/markets', undefined, { authorization: header })).status).toBe(401);
    }

    const changed = { current_password: password, new_password: secondPassword };
    expect((await ask('POST', '/app/password', { ...changed, current_password: wrongPassword })).status).toBe(
      403,
    );
    expect((await ask('POST', '/app/password', changed)).status).toBe(200);
    canaries.push(token());
    expect((await ask('DELETE', `/app/keys/${made.key_id}`)).status).toBe(204);
    expect((await ask('GET', '/v1/markets', undefined, bearer)).status).toBe(401);

    const run = async (words: string[], input?: string) => {
      const out = await underround(words, environment, input);
      printed.push(out);
      return out;
    };
    const issued = JSON.parse(
      await underround(['keys', 'create', '--email', 'c@example.com', '--json'], environment),
    );
    canaries.push(issued.key);
    await run(['users', 'set-password', '--email', 'c@example.com'], `${commandPassword}\n`);
    expect(
      (await ask('POST', '/app/sign-in', { email: 'c@example.com', password: commandPassword })).status,
    ).toBe(200);
    canaries.push(token());
    await run(['users', 'suspend', '--email', 'c@example.com']);
    const suspended = { authorization: `Bearer ${issued.key}` };
    expect((await ask('GET', '/v1/markets', undefined, suspended)).status).toBe(401);
    expect(
      (await ask('POST', '/app/sign-in', { email: 'c@example.com', password: commandPassword })).status,
    ).toBe(403);
    const refused = await underround(['keys', 'revoke', issued.key], environment).catch((error) => error);
    printed.push(String(refused.stderr), await run(['keys', 'list']), await run(['users', 'list', '--json']));

    const metrics = (await ask('GET', '/metrics')).text;
    const places = new Map<string, string | Buffer>([
      ['standard error', service.log()],
      // The setup link is printed there once.
      ['standard output', service.out().replace(`?setup=${setup}`, '')],
      ['refusals', refusals.join('\n')],
      ['metrics', metrics],
      ['commands', printed.join('\n')],
      ...filesBelow(dataDir),
    ]);
    expect(await service.stop()).toBe(0);
    places.set('standard error after the end', service.log());
    for (const [path, bytes] of filesBelow(dataDir)) places.set(`${path} after the end`, bytes);

    // Proves that the search works: the email address is found, in the database.
    expect([...places.values()].some((place) => place.includes('op@example.com'))).toBe(true);
    expect(service.log()).toContain('http.request');
    expect(refusals.length).toBeGreaterThan(15);
    expect(new Set(canaries).size).toBe(13);
    for (const canary of canaries) {
      expect(canary.length).toBeGreaterThan(15);
      // A partial secret counts too: for a key, the part after its public prefix.
      const core = canary.startsWith('svc_') ? canary.slice(13) : canary;
      const found = [...places].filter(([, place]) => place.includes(core)).map(([place]) => place);
      expect(found, canary).toEqual([]);
    }
  });
});
