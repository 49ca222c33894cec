import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { giveBack } from '../print/slabs.ts';

/**
 * Sends a body no faster than its client reads it; a disconnect destroys the body. An error before the first byte
 * becomes an error response; a later one cuts the connection. Unlike a pipe, this learns when a piece has been sent,
 * and releases its memory.
 */
export function sendStream(reply: FastifyReply, body: Readable): void {
  const { raw } = reply;
  if (raw.destroyed) return void body.destroy();
  let hasBegun = false;
  const begin = () => {
    if (hasBegun) return;
    hasBegun = true;
    reply.hijack();
    raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
  };
  body.on('data', (bytes: Buffer) => {
    begin();
    const isTaken = raw.write(bytes, (error) => {
      if (!error) giveBack(bytes);
    });
    if (!isTaken) body.pause();
  });
  raw.on('drain', () => body.resume());
  raw.once('close', () => body.destroy());
  body.once('end', () => {
    begin();
    raw.end();
  });
  body.once('error', (error) => {
    if (hasBegun) raw.destroy();
    else reply.send(error);
  });
}
