/** `npm run crash -- webhooks|paper [kills]`: kills processes of ours for real and reports what was lost. Exit 1 if anything was. */
import { join } from 'node:path';
import { crashPaper } from './paper.ts';
import { crashWebhooks } from './webhooks.ts';

/** What each part runs, how often it is killed unless told, and what of its result must be 0. */
const PARTS = {
  webhooks: { script: 'crashingSender.js', kills: 1_000, run: crashWebhooks },
  paper: { script: 'tradingPaper.js', kills: 200, run: crashPaper },
} as const;
const BAD = ['lost', 'mixedUp', 'pending', 'differing', 'unbalanced'];

const [name = '', count] = process.argv.slice(2);
const part = name in PARTS ? PARTS[name as keyof typeof PARTS] : null;
const kills = Number(count ?? part?.kills);
if (part === null || !Number.isInteger(kills) || kills < 1) {
  console.error('usage: npm run crash -- webhooks|paper [kills]');
  process.exit(2);
}
const started = performance.now();
const result: object = await part.run({
  kills,
  script: join(import.meta.dirname, part.script),
  random: Math.random,
  progress: (done) => {
    if (done % 50 === 0) console.error(`${done} of ${kills} kills`);
  },
});
console.log(JSON.stringify({ ...result, seconds: Math.round((performance.now() - started) / 1000) }));
const bad = Object.entries(result).filter(([member, value]) => BAD.includes(member) && value > 0);
process.exit(bad.length === 0 ? 0 : 1);
