import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedEncodings } from '../compress.ts';
import type { Asset, AssetEncoding } from './assets.ts';
import { ASSET_HEADERS, NAMED_HEADERS } from './headers.ts';

/** Sends a file that is in memory, compressed as the client accepts. */
export async function sendFile(
  asset: Asset,
  answer: { request: FastifyRequest; reply: FastifyReply; isNamedByContent: boolean },
): Promise<FastifyReply> {
  const { request, reply, isNamedByContent } = answer;
  reply.headers(isNamedByContent ? ASSET_HEADERS : NAMED_HEADERS);
  reply.header('vary', 'Accept-Encoding').type(asset.type);
  const encoding = encodingFor(asset, request);
  if (encoding === null) return reply.send(asset.bytes);
  return reply.header('content-encoding', encoding).send(await asset.packed(encoding));
}

function encodingFor(asset: Asset, { headers }: FastifyRequest): AssetEncoding | null {
  if (!asset.isPackable) return null;
  const accepted: readonly string[] = acceptedEncodings(headers['accept-encoding']);
  if (accepted.includes('br')) return 'br';
  return accepted.includes('gzip') ? 'gzip' : null;
}
