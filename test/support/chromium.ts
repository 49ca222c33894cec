import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);

export const isChromiumInstalled = INSTALLED !== undefined;

/** Path of the installed Chromium; where none is found, the name that its absence is reported by. */
export const CHROMIUM = INSTALLED ?? 'chromium';

export function openBrowser(): Promise<Browser> {
  // Chromium refuses to run its sandbox as root, the usual user in containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: CHROMIUM, args });
}
