/** Entry of the receive thread: reads all venue connections, so that busy service code cannot delay receive times. */
import { workerData } from 'node:worker_threads';
import { systemClock } from '../runtime/clock.ts';
import {
  type ReceiveThreadSettings,
  type SocketCommand,
  SocketEventBatcher,
  WaitingBytes,
} from './handover.ts';
import { DirectSocket, type VenueSocketOptions } from './venueSocket.ts';

const { port, shared, waitingBytesMax, proxyUrl } = workerData as ReceiveThreadSettings;
const sockets = new Map<number, DirectSocket>();
let isPaused = false;
const waiting = new WaitingBytes(waitingBytesMax, shared);
const sender = new SocketEventBatcher({ port, waiting, onFull: pause });

port.on('message', (command: SocketCommand) => {
  if (command.do === 'connect') connect(command.id, command.options);
  else if (command.do === 'resume') resume();
  else {
    const socket = sockets.get(command.id);
    if (command.do === 'send') socket?.send(command.text);
    else if (command.do === 'close') socket?.close();
    else {
      socket?.terminate();
      sockets.delete(command.id);
    }
  }
});

function connect(id: number, options: VenueSocketOptions): void {
  const events = {
    onOpen: () => sender.add(['open', id, systemClock.now()], 0),
    onFrame: (text: string, timeMs: number, bytes: number) =>
      sender.add(['frame', id, timeMs, text, bytes], bytes),
    onClosed: (cause: string, timeMs: number, retryAfter: string | null) => {
      sockets.delete(id);
      sender.add(['closed', id, timeMs, cause, retryAfter], 0);
    },
  };
  const socket = new DirectSocket(options, events, { clock: systemClock, proxyUrl });
  if (isPaused) socket.pause();
  sockets.set(id, socket);
}

function pause(): void {
  isPaused = true;
  for (const socket of sockets.values()) socket.pause();
}

function resume(): void {
  isPaused = false;
  for (const socket of sockets.values()) socket.resume();
}
