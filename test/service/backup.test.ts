import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { slugOf, windowAt } from '../../src/venues/polymarket/lifecycle/windows.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { kindsInPlay } from '../support/inPlay.ts';
import { eventually, startCommand, startService, startVenues } from '../support/runningService.ts';
import { S3_VARIABLES, startS3 } from '../support/s3Server.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';
import { wordsOnPage } from '../support/wordsOnPage.ts';

/** The commands of docs/BACKUP.md, in their order. */
const page = readFileSync(join(PROJECT_ROOT, 'docs/BACKUP.md'), 'utf8');
const commands = [...page.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
);

interface Markets {
  readonly markets: readonly { readonly market_id: string; readonly slug: string }[];
}

interface Snapshots {
  readonly count: number;
}

it.skipIf(commandAbsent)('every command of docs/BACKUP.md does what the page says', async () => {
  const venues = await startVenues();
  onTestFinished(() => venues.stop());
  const s3 = await startS3('BUCKET');
  onTestFinished(() => s3.stop());
  const [root, dataDir] = [temporaryDirectory(), temporaryDirectory()];
  const service = await startService(dataDir, venues, { UNDERROUND_BACKUP_MAX_AGE: '7' });
  const [kind = '5m'] = await kindsInPlay(1);
  const slug = slugOf('BTC', kind, windowAt(kind, Date.now()));
  const marketId = await eventually('a market with recorded books', async () => {
    const { markets } = await service.get<Markets>(`/v1/markets?ticker=BTC&event_type=${kind}`);
    const id = markets.find((market) => market.slug === slug)?.market_id;
    if (id === undefined) return null;
    return (await service.get<Snapshots>(`/v1/snapshots?market_id=${id}`)).count > 20 ? id : null;
  });
  const ready = await fetch(`${service.url}/readyz`);
  expect(((await ready.json()) as { degraded: string[] }).degraded).toContain(
    'no backup has passed verify; UNDERROUND_BACKUP_MAX_AGE is 7; run `underround backup` with --verify',
  );
  const environment = { UNDERROUND_DISK_RESERVE: '16MiB', ...S3_VARIABLES };
  const answers = new Map<string, Record<string, unknown>>();
  let serving: Awaited<ReturnType<typeof startCommand>> | null = null;
  for (const command of commands) {
    const id = String(answers.get(commands[0] ?? '')?.id);
    const named = command
      .replace('https://s3.example.com', s3.url)
      .replace('eu-central-1', S3_VARIABLES.AWS_REGION)
      .replace('--at ID', `--at ${id}`);
    const words = wordsOnPage(named, { root, dataDir });
    expect(words.shift()).toBe('underround');
    if (words[0] === 'serve') {
      await service.stop();
      serving = await startCommand(words, { ...environment, ...VENUES_OFF, UNDERROUND_RATE_LIMITS: 'off' });
    } else answers.set(command, JSON.parse(await underround([...words, '--json'], environment)));
  }
  const results = [...answers.values()];
  expect(results[0]).toMatchObject({ verified: true, engine: 'embedded', control: 'sqlite' });
  expect(results[1]).toMatchObject({ restorable: true, id: results[0]?.id });
  expect(s3.objects.size).toBeGreaterThan(3);
  const answer = await fetch(`${serving?.url}/v1/snapshots?market_id=${marketId}`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  expect(answer.status).toBe(200);
  expect(((await answer.json()) as Snapshots).count).toBeGreaterThan(20);
});
