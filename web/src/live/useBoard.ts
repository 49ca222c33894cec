import { useEffect, useState } from 'react';
import type { LiveBoard } from '../api/schema.ts';
import { keepConnected } from './keepConnected.ts';
import type { Connectedness } from './messages.ts';

interface BoardState {
  readonly connection: Connectedness;
  readonly reason: string | null;
  /** Open opportunities of any edge; null before the first message. */
  readonly board: Pick<LiveBoard, 'as_of' | 'opportunities'> | null;
}

/** The pushed live board; without a connection the last one stays. */
export function useBoard(): BoardState {
  const [state, setState] = useState<BoardState>({ connection: 'connecting', reason: null, board: null });
  useEffect(
    () =>
      keepConnected({
        address: new URL('/app/arb/board', window.location.href).href,
        // The stream has no other kind of message.
        onText: (text) => setState((known) => ({ ...known, board: JSON.parse(text) })),
        onState: (connection, reason) => setState((known) => ({ ...known, connection, reason })),
      }),
    [],
  );
  return state;
}
