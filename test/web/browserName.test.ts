import { expect, it } from 'vitest';
import { browserName } from '../../web/src/pages/account/browserName.ts';

const MOZILLA = 'Mozilla/5.0';
const KIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const MOBILE_KIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

it.each([
  [`${MOZILLA} (X11; Linux x86_64) ${KIT} Chrome/131.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [`${MOZILLA} (X11; Linux x86_64) ${KIT} HeadlessChrome/131.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [
    `${MOZILLA} (Windows NT 10.0; Win64; x64) ${KIT} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0`,
    'Edge on Windows',
  ],
  [
    `${MOZILLA} (Windows NT 10.0; Win64; x64) ${KIT} Chrome/131.0.0.0 Safari/537.36 OPR/116.0.0.0`,
    'Opera on Windows',
  ],
  [`${MOZILLA} (Macintosh; Intel Mac OS X 10.15; rv:133.0) Gecko/20100101 Firefox/133.0`, 'Firefox on macOS'],
  [
    `${MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) ${MOBILE_KIT} Version/18.1 Safari/605.1.15`,
    'Safari on macOS',
  ],
  [
    `${MOZILLA} (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${MOBILE_KIT} Version/18.1 Mobile/15E148 Safari/604.1`,
    'Safari on iPhone',
  ],
  [
    `${MOZILLA} (iPad; CPU OS 18_1 like Mac OS X) ${MOBILE_KIT} CriOS/131.0.0.0 Mobile/15E148 Safari/604.1`,
    'Chrome on iPad',
  ],
  [`${MOZILLA} (Linux; Android 10; K) ${KIT} Chrome/131.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
  [`${MOZILLA} (X11; CrOS x86_64 14541.0.0) ${KIT} Chrome/131.0.0.0 Safari/537.36`, 'Chrome on ChromeOS'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['Firefox/133.0', 'Firefox/133.0'],
  ['', ''],
])('%s is shown as %s', (userAgent, shown) => expect(browserName(userAgent)).toBe(shown));
