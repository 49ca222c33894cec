import { describe, expect, it } from 'vitest';
import { crashWebhooks } from '../crash/webhooks.ts';
import { bundle } from '../support/store.ts';
import { opensslAbsent } from '../support/webhookReceiver.ts';

describe.skipIf(opensslAbsent)(
  `a sender that is killed ${opensslAbsent ? '(skipped: no openssl)' : ''}`,
  () => {
    it('ten times loses no accepted delivery, and copies share their id', async () => {
      const script = await bundle('test/crash/crashingSender.ts');
      const result = await crashWebhooks({ kills: 10, script, random: Math.random });
      expect(result).toMatchObject({ kills: 10, lost: 0, mixedUp: 0, pending: 0 });
      expect(result.accepted).toBeGreaterThan(10);
      expect(result.received + result.skipped).toBe(result.accepted);
    });
  },
);
