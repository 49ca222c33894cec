import { describe, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import {
  PRIVATE_IPV4,
  PRIVATE_IPV6,
  type Spelling,
  spellingsOfIpv4,
  spellingsOfIpv6,
} from '../../../test/support/privateNetworks.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { WebhookSender } from '../delivery/sender.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import { AddressPolicy } from './addresses.ts';
import { parseTarget, TargetGuard } from './target.ts';

const DELIVERY: Delivery = {
  ...{ deliveryId: 'dl_1', webhookId: 'wh_1', event: 'opportunity', tier: 'logical', ticker: 'BTC' },
  body: Buffer.from('{}'),
  ...{ expiresMs: Number.MAX_SAFE_INTEGER, attempts: 0, step: 0, dueMs: 0, log: [] },
};
const SECRETS = { current: `whsec_${'A'.repeat(32)}`, previous: [] };
const webhook = (url: string) =>
  ({ webhookId: 'wh_1', target: url, chat: null, secrets: SECRETS }) as unknown as SigningWebhook;

const guardOf = ({ addresses }: Spelling) => {
  const resolve = async () => addresses;
  return new TargetGuard(new AddressPolicy([]), resolve, resolve);
};

/** Null: it may be registered. */
async function atRegistration(spelling: Spelling): Promise<string | null> {
  try {
    await guardOf(spelling).checkRegistration(parseTarget(spelling.url), 'usr_1');
    return null;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return error.message;
  }
}

/** The outcome of an attempt as if the URL had been registered. */
async function atConnection(spelling: Spelling): Promise<{ outcome: string; error: string | null }> {
  const sender = new WebhookSender({ clock: new FakeClock(), guard: guardOf(spelling) });
  onTestFinished(() => sender.close());
  const { outcome, error } = await sender.attempt(webhook(spelling.url), DELIVERY);
  return { outcome, error };
}

const TABLE = [
  ...PRIVATE_IPV4.map(([network, address]) => [network, address, spellingsOfIpv4(address)] as const),
  ...PRIVATE_IPV6.map(([network, address]) => [network, address, spellingsOfIpv6(address)] as const),
];

describe('private networks', () => {
  test('the table has at least 25 networks with 33 spellings each', () => {
    expect(TABLE.length).toBeGreaterThanOrEqual(25);
    for (const [network, , spellings] of TABLE) {
      expect([network, new Set(spellings.map(({ how }) => how)).size]).toEqual([network, 33]);
    }
  });

  test.each(TABLE)('%s is refused at registration in every spelling of %s', async (_, address, spellings) => {
    for (const spelling of spellings) {
      const refusal = await atRegistration(spelling);
      expect([spelling.how, refusal]).toEqual([spelling.how, expect.any(String)]);
      // The addresses of a name are not shown.
      if (spelling.how.startsWith('a name')) expect(refusal).not.toContain(address);
    }
  });

  test.each(TABLE)('%s is refused at connection in every spelling of %s', async (_, __, spellings) => {
    for (const spelling of spellings) {
      const { outcome, error } = await atConnection(spelling);
      const isUrl = URL.canParse(spelling.url);
      const expected = isUrl ? ['target_refused', expect.any(String)] : ['transport', 'ERR_INVALID_URL'];
      expect([spelling.how, outcome, error]).toEqual([spelling.how, ...expected]);
    }
  });

  test('a public address passes in the same spellings', async () => {
    const refused: (readonly [string, string | null])[] = [];
    for (const spelling of spellingsOfIpv4('8.8.8.8')) {
      const refusal = await atRegistration(spelling);
      if (refusal !== null) refused.push([spelling.how, refusal]);
    }
    // The network itself is private, whatever address it embeds.
    expect(refused).toEqual([['local NAT64', expect.stringContaining('is private')]]);
  });
});
