import { Alert, List } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../api/hooks.ts';
import { noticesOf } from './notices.ts';

const STATE_MS = 3_000;

/** Current problems of the service, the lag of stored data first, at the top of a page; nothing without problems. */
export function ServiceNotices({ meanwhile }: { meanwhile: string }): ReactNode {
  const state = useApi('GET /app/state', {}, { refetchMs: STATE_MS });
  const notices = noticesOf(state.data, { error: state.error, meanwhile });
  if (notices.length === 0) return null;
  return (
    <Alert
      color={notices.some(({ isSevere }) => isSevere) ? 'red' : 'orange'}
      role="region"
      aria-label="State of the service"
    >
      <List listStyleType="none" spacing={2}>
        {notices.map(({ text }) => (
          <List.Item key={text}>{text}</List.Item>
        ))}
      </List>
    </Alert>
  );
}
