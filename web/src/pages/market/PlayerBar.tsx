import { ActionIcon, Group, Select, Slider, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { momentText } from '../../charts/timeZone.ts';
import { useTimeZone } from '../../charts/useTimeZone.ts';
import { type Playback, SPEEDS } from './playback.ts';

const ICONS = {
  play: 'M8 5v14l11-7z',
  pause: 'M6 5h4v14H6zm8 0h4v14h-4z',
  back: 'M6 5h2v14H6zm12 0v14L9 12z',
  forward: 'M16 5h2v14h-2zM6 5l9 7-9 7z',
} as const;

/** Plays, pauses and steps through a recorded window; the slider chooses a time. */
export function PlayerBar({
  playback,
  timeMs,
  range: [fromMs, toMs],
  onMove,
  onChosen,
  onStep,
}: {
  playback: Playback;
  timeMs: number;
  range: readonly [fromMs: number, toMs: number];
  onMove: (timeMs: number) => void;
  /** The reader has let go of the slider. */
  onChosen: (timeMs: number) => void;
  onStep: (way: 1 | -1) => void;
}): ReactNode {
  const [zone] = useTimeZone();
  const { isPlaying, speed, setSpeed, toggle } = playback;
  return (
    <Group gap="xs" role="group" aria-label="Playback">
      <Group gap={4} wrap="nowrap">
        <Control icon="back" label="Previous change (←)" onClick={() => onStep(-1)} />
        <Control
          icon={isPlaying ? 'pause' : 'play'}
          label={isPlaying ? 'Pause (space)' : 'Play (space)'}
          onClick={toggle}
        />
        <Control icon="forward" label="Next change (→)" onClick={() => onStep(1)} />
      </Group>
      <Select
        aria-label="Playback speed"
        size="xs"
        w={84}
        allowDeselect={false}
        data={SPEEDS.map((value) => ({ value: String(value), label: `${value}×` }))}
        value={String(speed)}
        onChange={(value) => setSpeed(Number(value))}
      />
      <Text size="sm" fw={600} className="nowrap">
        {momentText(timeMs, zone)}
      </Text>
      <Slider
        style={{ flex: 1, minWidth: 200 }}
        min={fromMs}
        max={toMs}
        step={1000}
        value={timeMs}
        onChange={onMove}
        onChangeEnd={onChosen}
        label={(value) => momentText(value, zone)}
        thumbLabel="Moment of the book"
      />
    </Group>
  );
}

function Control({
  icon,
  label,
  onClick,
}: {
  icon: keyof typeof ICONS;
  label: string;
  onClick: () => void;
}): ReactNode {
  return (
    <ActionIcon variant="default" size="lg" aria-label={label} title={label} onClick={onClick}>
      <svg width="20" height="20" viewBox="0 0 24 24" aria-hidden="true" fill="currentColor">
        <path d={ICONS[icon]} />
      </svg>
    </ActionIcon>
  );
}
