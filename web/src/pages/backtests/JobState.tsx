import { Badge, Group, Progress, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { BacktestJob } from '../../api/schema.ts';
import { useServiceNow } from '../../live/useServiceClock.ts';
import { duration } from '../../ui/format.ts';

type State = Pick<BacktestJob, 'status' | 'progress' | 'started_at'>;

const COLOURS = {
  ...{ queued: 'gray.7', running: 'blue.9', complete: 'teal.9', failed: 'red.9', cancelled: 'gray.7' },
} as const;
/** Below this share the time left is a guess. */
const SHARE_MIN = 0.05;

/** The state of a job; while it runs, its progress in numbers with the time left. */
export function JobState({ job }: { job: State }): ReactNode {
  return job.status === 'running' ? (
    <RunningState job={job} />
  ) : (
    <Badge color={COLOURS[job.status]}>{job.status}</Badge>
  );
}

function RunningState({ job }: { job: State }): ReactNode {
  const now = useServiceNow();
  const percent = Math.floor(job.progress * 100);
  return (
    <Stack gap={2} miw={140}>
      <Progress value={percent} aria-label={`running, ${percent} % done`} />
      <Text size="xs" c="dimmed">
        {percent} %{leftText(job, now)}
      </Text>
    </Stack>
  );
}

/** E.g. `, about 12 s left`; empty while too little is done to estimate it. */
function leftText({ progress, started_at }: State, now: number): string {
  if (started_at === null || progress < SHARE_MIN || progress >= 1) return '';
  const passed = Math.max(0, now - Date.parse(started_at)) / 1000;
  return `, about ${duration((passed * (1 - progress)) / progress)} left`;
}

/** A job under way, large: markets done of those asked for, time passed and time left. */
export function JobProgress({ job }: { job: BacktestJob }): ReactNode {
  const now = useServiceNow();
  const { status, progress, started_at, request } = job;
  if (status === 'queued') {
    return (
      <Text>
        Queued. It starts when your earlier jobs and those of other users before it have ended; this page
        updates automatically.
      </Text>
    );
  }
  const passed = started_at === null ? 0 : Math.max(0, now - Date.parse(started_at)) / 1000;
  const percent = Math.floor(progress * 100);
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="baseline">
        <Text fw={650} size="xl">
          {percent} %
        </Text>
        <Text size="sm" c="dimmed">
          {duration(passed)} so far{leftText(job, now)}
        </Text>
      </Group>
      <Progress value={percent} size="lg" aria-label={`running, ${percent} % done`} />
      <Text size="sm" c="dimmed">
        About {Math.floor(progress * request.market_limit)} of at most {request.market_limit} markets are
        replayed{cellsText(request)}. This page updates automatically.
      </Text>
    </Stack>
  );
}

function cellsText({ x_axis, y_axis }: BacktestJob['request']): string {
  if (!x_axis) return '';
  return `, each for ${x_axis.steps * (y_axis?.steps ?? 1)} cells`;
}
