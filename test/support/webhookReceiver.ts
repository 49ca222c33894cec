import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Why there can be no TLS receiver; null: there can be one. Tests are skipped with this reason; in CI they fail. */
export const opensslAbsent = (() => {
  try {
    execFileSync('openssl', ['version']);
    return null;
  } catch (error) {
    if (process.env.CI !== undefined) throw error;
    return 'no openssl';
  }
})();

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** A self-signed certificate for 127.0.0.1, ::1, localhost and rebind.test; it is its own authority. */
export function makeCertificate(): Certificate {
  const directory = mkdtempSync(join(tmpdir(), 'underround-tls-'));
  const [keyFile, certFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const names = 'subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost,DNS:rebind.test';
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=receiver -addext ${names}`;
  execFileSync('openssl', [...words.split(' '), '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' });
  const made = { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') };
  rmSync(directory, { recursive: true });
  return made;
}

interface Received {
  readonly url: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A customer's endpoint on loopback: keeps received requests and answers as configured. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** Number of connections, counted before any TLS. */
  connections = 0;
  respond: (response: ServerResponse, request: Received) => void = (response) => void response.end('ok');
  readonly #server: Server;

  constructor(certificate: Certificate) {
    this.#server = createServer(certificate, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const { url = '', method = '', headers } = request;
        const got = { url, method, headers, body: Buffer.concat(chunks) };
        this.received.push(got);
        this.respond(response, got);
      });
    });
    this.#server.on('connection', () => {
      this.connections++;
    });
  }

  async listen(host = '127.0.0.1', port = 0): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(port, host, resolve);
    });
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(host = '127.0.0.1'): string {
    return `https://${host}:${this.port}/hook?x=1`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
