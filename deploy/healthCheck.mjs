// The image's health check: exit status 0 if the service in this container answers `/livez` with 200. It checks
// liveness, not readiness: a service that waits for space or for its store must not be replaced.
import { get as getByHttp } from 'node:http';
import { get as getByHttps } from 'node:https';

const ANSWER_MS_MAX = 4_000;
const { UNDERROUND_HOST = '', UNDERROUND_PORT = '', UNDERROUND_TLS_CERT = '' } = process.env;
const isEveryAddress = ['', '0.0.0.0', '::'].includes(UNDERROUND_HOST);
const options = {
  host: isEveryAddress ? '127.0.0.1' : UNDERROUND_HOST,
  port: UNDERROUND_PORT === '' ? 8080 : Number(UNDERROUND_PORT),
  path: '/livez',
  timeout: ANSWER_MS_MAX,
  // The certificate names the service's public address.
  rejectUnauthorized: false,
};

const get = UNDERROUND_TLS_CERT === '' ? getByHttp : getByHttps;
const request = get(options, ({ statusCode }) => end(statusCode === 200 ? null : `status ${statusCode}`));
request.once('timeout', () => end(`no answer within ${ANSWER_MS_MAX} ms`));
request.once('error', (error) => end(error.message));

function end(problem) {
  if (problem !== null) process.stderr.write(`not healthy: ${problem}\n`);
  process.exit(problem === null ? 0 : 1);
}
