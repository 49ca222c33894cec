import { expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { Phases } from './phases.ts';

function rig() {
  const [clock, lines] = [new FakeClock(), [] as string[]];
  return { clock, lines, phases: new Phases(clock, (line) => void lines.push(line)) };
}

it('a phase shorter than two seconds is not announced', async () => {
  const { clock, lines, phases } = rig();
  const opening = async () => {
    await clock.advance(1_999);
    return 'opened';
  };
  expect(await phases.during('opening', opening)).toBe('opened');
  await clock.advance(10_000);
  expect(lines).toEqual([]);
});

it('a longer phase is announced after two seconds, and its duration when it ends or fails', async () => {
  const { clock, lines, phases } = rig();
  const failing = phases.during('opening', async () => {
    await clock.advance(2_000);
    expect(lines).toEqual(['opening...\n']);
    await clock.advance(1_460);
    throw new Error('no disk');
  });
  await expect(failing).rejects.toThrow('no disk');
  expect(lines).toEqual(['opening...\n', 'opening: 3.5 s\n']);
});

it('returns the current phase, and null after it', async () => {
  const { phases } = rig();
  const seen = phases.during('opening', async () => phases.current);
  expect([await seen, phases.current]).toEqual(['opening', null]);
});
