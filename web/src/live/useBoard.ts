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
        onText: (text) => {
          const board = boardIn(text);
          setState((known) =>
            board === null
              ? { ...known, connection: 'lost', reason: 'its last message cannot be read' }
              : { connection: 'live', reason: null, board },
          );
        },
        onState: (connection, reason) => setState((known) => ({ ...known, connection, reason })),
      }),
    [],
  );
  return state;
}

/** The stream has no other kind of message. Null for a message that is not one of the service. */
function boardIn(text: string): BoardState['board'] {
  try {
    const board = JSON.parse(text) as BoardState['board'];
    return Array.isArray(board?.opportunities) ? board : null;
  } catch {
    return null;
  }
}
