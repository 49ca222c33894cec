import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { unaskedStore, uncheckedApi } from '../../../test/support/api.ts';
import { PROJECT_ROOT } from '../../../test/support/sourceFiles.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { silentLogger } from '../../runtime/log.ts';
import { handleErrors } from '../errors.ts';
import { serveDocuments } from './documents.ts';

function served() {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'design'));
  writeFileSync(
    join(directory, 'PAGE.md'),
    '# A page\n\nThis page has [a link](OTHER.md) and\ntwo lines. And more.\n',
  );
  writeFileSync(join(directory, 'design/WHY.md'), '# Why\n\n| a | table |\n');
  writeFileSync(join(directory, 'openapi.json'), '{}');
  const app = Fastify();
  handleErrors(app, { log: silentLogger, admission: { refused: () => null } });
  serveDocuments(app, { directory });
  return app;
}

describe('documents', () => {
  it('are served as Markdown, compressed', async () => {
    const { headers, rawPayload, statusCode } = await served().inject({
      url: '/docs/PAGE.md?x=1',
      headers: { 'accept-encoding': 'br' },
    });
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=3600',
    });
    expect(brotliDecompressSync(rawPayload).toString()).toContain('# A page');
    expect((await served().inject('/docs/design/WHY.md')).body).toContain('# Why');
  });

  it('are listed with titles and first sentences', async () => {
    const { body, headers } = await served().inject('/llms.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(body).toContain('\n- [A page](/docs/PAGE.md): This page has a link and two lines.\n');
    expect(body).toContain('\n- [Why](/docs/design/WHY.md)\n');
  });

  it.each([
    '/docs/openapi.json',
    '/docs/OTHER.md',
    '/docs/..%2fpackage.json',
    '/docs/design/..%2f..%2fREADME.md',
  ])('do not include %s', async (url) => expect((await served().inject(url)).statusCode).toBe(404));

  it('are all of the project, beside the reference and its style', async () => {
    const app = uncheckedApi({ store: unaskedStore });
    const list = (await app.inject('/llms.txt')).body;
    for (const name of readdirSync(join(PROJECT_ROOT, 'docs')).filter((file) => file.endsWith('.md'))) {
      expect(list).toContain(`](/docs/${name})`);
      const { body } = await app.inject(`/docs/${name}`);
      expect(body).toBe(readFileSync(join(PROJECT_ROOT, 'docs', name), 'utf8'));
    }
    expect((await app.inject('/docs')).headers['content-type']).toBe('text/html; charset=utf-8');
    expect((await app.inject('/docs/style.css')).headers['content-type']).toBe('text/css; charset=utf-8');
    const post = await app.inject({ method: 'POST', url: '/docs/API.md' });
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});
