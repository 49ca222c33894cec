import fc from 'fast-check';
import { expect, it } from 'vitest';
import { escapeHead } from '../../src/webhooks/delivery/responseHead.ts';
import { replyText } from '../../web/src/pages/webhooks/replyText.ts';

it('a reply is unescaped exactly once', () => {
  expect(replyText('&lt;b&gt;&quot;it&#39;s&quot; R&amp;D&lt;/b&gt; &amp;lt; &copy;')).toBe(
    `<b>"it's" R&D</b> &lt; &copy;`,
  );
});

it('unescaping restores every text that the log escapes', () => {
  const part = fc.constantFrom('&', '<', '>', '"', "'", 'amp;', 'lt;', '#39;', 'quot;', 'a', ' ', '\n');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 80 }), (parts) => {
      const sent = parts.join('');
      expect(replyText(escapeHead(Buffer.from(sent)))).toBe(sent);
    }),
  );
});
